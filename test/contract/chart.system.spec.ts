/** Kubernetes' schemas and the service take the objects that the chart makes of each form. */

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { loadConfig } from '@tessera/config';
import { parseMembers } from '@tessera/routing';
import { METRICS } from '@tessera/telemetry';
import { temporaryFolder } from '@tessera/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';

interface Container {
  readonly name: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly ports: readonly { readonly name: string }[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  readonly securityContext: object;
}

interface PodSpec {
  readonly containers: readonly [Container];
  readonly initContainers?: readonly Container[];
  readonly volumes: readonly { readonly name: string }[];
  readonly securityContext: object;
  readonly terminationGracePeriodSeconds: number;
}

interface Item {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly data: Readonly<Record<string, string>>;
  // Each kind's own; read by the tests of that kind.
  // biome-ignore lint/suspicious/noExplicitAny: the schemas of Kubernetes check them
  readonly spec: any;
}

const CHART = join('deploy', 'chart');
const FORMS = readdirSync(join(CHART, 'examples')).map((file) => file.replace('.yaml', ''));
const folder = temporaryFolder({});
afterAll(() => folder.remove());

const fetched = (cache: string, name: string) => {
  const path = resolve('.cache', cache, name);
  return existsSync(path) ? path : name;
};
const runs = (command: string, words: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(command, words, { encoding: 'utf8' });
  return { isThere: status !== null, ok: status === 0, out: stdout, said: `${stdout}${stderr}` };
};
const helm = fetched('helm', 'helm');
const isThere = runs(helm, ['version']).isThere;
if (!isThere) console.log('the chart is not made here: there is no helm (npm run pretest:chart)');

const template = (...words: string[]) =>
  runs(helm, ['template', 'tessera', CHART, '-n', 'ads', '--kube-version', '1.33.0', ...words]);

function itemsOf(form: string, ...words: string[]): Item[] {
  const { ok, out, said } = template('-f', join(CHART, 'examples', `${form}.yaml`), ...words);
  expect(ok, said).toBe(true);
  const items = parseAllDocuments(out).map((document) => document.toJS() as Item | null);
  return items.filter((item) => item !== null);
}

const of = (items: readonly Item[], kind: string) => items.filter((item) => item.kind === kind);
const componentOf = ({ metadata }: Item) => metadata.labels['app.kubernetes.io/component'] ?? '';
const podOf = (set: Item) => set.spec.template.spec as PodSpec;

describe.skipIf(!isThere).each(FORMS)('the form %s', (form) => {
  const items = isThere ? itemsOf(form) : [];
  const sets = of(items, 'StatefulSet');

  it('is taken by the schemas of Kubernetes, and not with a field that they do not know', () => {
    const command = fetched('deploy-checkers', join('bin', 'kubernetes-validate'));
    if (!runs(command, ['--version']).isThere) {
      console.log('schemas are not asked here: there is no kubernetes-validate (PyPI)');
      return;
    }
    const own = items.filter(
      ({ apiVersion }) => !/monitoring\.coreos|keda|gateway\.networking/.test(apiVersion),
    );
    const write = (item: object, at: number) => {
      const file = join(folder.path, `${form}-${at}.json`);
      writeFileSync(file, JSON.stringify(item));
      return file;
    };
    const taken = runs(command, ['--strict', ...own.map(write)]);
    expect(taken.ok, taken.said).toBe(true);
    const wrong = JSON.parse(JSON.stringify(sets[0]).replace('readinessProbe', 'readyProbe'));
    const refused = runs(command, ['--strict', write(wrong, own.length)]);
    expect([refused.ok, refused.said]).toEqual([false, expect.stringContaining('readyProbe')]);
  });

  it('gives each process a configuration that it takes, and listens to all', () => {
    const [files] = of(items, 'ConfigMap');
    for (const set of sets) {
      const [{ env }] = podOf(set).containers;
      const file = join(folder.path, `${form}-config.json`);
      const named = env.find(({ name }) => name === 'TESSERA_CONFIG_FILE')?.value ?? '';
      writeFileSync(file, files?.data[named.replace('/etc/tessera/config/', '')] ?? '');
      const { config } = loadConfig({ file, environment: { TESSERA_NODE_NAME: 'one' } });
      expect([config.http.host, config.http.port]).toEqual(['0.0.0.0', 8080]);
      expect(config.access.tokensPath).toBe('/etc/tessera/access/tokens.json');
      const { delayMs, drainMs } = config.shutdown;
      const graceMs = 1000 * podOf(set).terminationGracePeriodSeconds;
      expect(delayMs).toBeGreaterThan(0);
      expect(graceMs).toBeGreaterThan(delayMs + drainMs);
    }
  });

  it('mounts what it names, writes to its disk alone, and may do nothing else', () => {
    for (const set of sets) {
      const pod = podOf(set);
      const claims: Item[] = set.spec.volumeClaimTemplates;
      const volumes = [...pod.volumes, ...claims.map(({ metadata }) => metadata)];
      for (const container of [...pod.containers, ...(pod.initContainers ?? [])]) {
        for (const { name } of container.volumeMounts) {
          expect(volumes.map((volume) => volume.name)).toContain(name);
        }
      }
      expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 10_001 });
      const [{ securityContext, volumeMounts }] = pod.containers;
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      const written = volumeMounts.filter((mount) => !('readOnly' in mount));
      expect(written.map(({ mountPath }) => mountPath)).toEqual(['/app/data']);
    }
  });

  it('has services, budgets and policies that select its pods', () => {
    const labelled = sets.map((set) => set.spec.template.metadata.labels);
    const matches = (selector: Readonly<Record<string, string>>) =>
      labelled.filter((labels) => Object.entries(selector).every(([k, v]) => labels[k] === v));
    for (const set of sets) {
      expect(matches(set.spec.selector.matchLabels)).toHaveLength(1);
      const own = of(items, 'Service').find(
        ({ metadata }) => metadata.name === set.spec.serviceName,
      );
      expect(own?.spec.clusterIP).toBe('None');
      const ports = podOf(set).containers[0].ports.map(({ name }) => name);
      expect(own?.spec.ports.map(({ name }: { name: string }) => name)).toEqual(ports);
    }
    for (const { spec } of of(items, 'Service')) expect(matches(spec.selector)).toHaveLength(1);
    for (const { spec } of of(items, 'NetworkPolicy')) {
      expect(matches(spec.podSelector.matchLabels).length).toBeGreaterThan(0);
    }
    const budgets = of(items, 'PodDisruptionBudget');
    for (const { spec } of budgets) expect(matches(spec.selector.matchLabels)).toHaveLength(1);
    const several = sets.filter(({ spec }) => (spec.replicas ?? 2) > 1);
    expect(budgets.map(componentOf).sort()).toEqual(several.map(componentOf).sort());
  });

  it.skipIf(form === 'embedded')('stands behind two gateways that know every node', () => {
    const gateway = sets.find((set) => componentOf(set) === 'gateway');
    expect(gateway?.spec.replicas).toBeGreaterThanOrEqual(2);
    const [files] = of(items, 'ConfigMap');
    const { dns = '', nodes = '' } = JSON.parse(files?.data['gateway.json'] ?? '').cluster;
    const served = sets.filter((set) => /^(nodes|append)$/.test(componentOf(set)));
    if (nodes === '') {
      // Names are asked for as they stand: a resolver's search list does not apply to SRV.
      expect(served.map(({ spec }) => `${spec.serviceName}.ads.svc.cluster.local`)).toEqual([dns]);
      return;
    }
    const pods = served.flatMap(({ metadata, spec }) =>
      Array.from({ length: spec.replicas }, (_, at) => {
        const host = `${metadata.name}-${at}.${spec.serviceName}.ads.svc.cluster.local`;
        const role = metadata.name.endsWith('append') ? 'append' : 'answer';
        return [`${metadata.name}-${at}`, `${host}:50051`, `${host}:8080`, role];
      }),
    );
    const members = parseMembers(nodes).map(({ name, grpc, http, role }) => [
      name,
      grpc,
      http,
      role,
    ]);
    expect(members.sort()).toEqual(pods.sort());
  });
});

describe.skipIf(!isThere)('the chart', () => {
  it('watches by the rules of deploy/prometheus, with links to a runbook elsewhere', () => {
    const [made] = of(itemsOf('clustered'), 'PrometheusRule');
    const text = readFileSync('deploy/prometheus/rules.yaml', 'utf8');
    const url = 'https://docs.example.org/tessera/runbook';
    const { groups } = parse(text.replaceAll('docs/operate/runbook.md', url));
    expect(made?.spec.groups).toEqual(groups);
  });

  it('scrapes each pod once, with a token and TLS', () => {
    const items = itemsOf('clustered');
    const [monitor] = of(items, 'ServiceMonitor');
    const { selector, endpoints } = (monitor as Item).spec;
    const { matchLabels, matchExpressions } = selector;
    const [{ key, operator, values }] = matchExpressions;
    expect([operator, values]).toEqual(['NotIn', ['entry']]);
    const scraped = of(items, 'Service').filter(
      ({ metadata: { labels } }) =>
        Object.entries(matchLabels).every(([name, value]) => labels[name] === value) &&
        !values.includes(labels[key]),
    );
    expect(scraped.map(componentOf).sort()).toEqual(['feature', 'gateway', 'nodes']);
    const [endpoint] = endpoints;
    expect(endpoint).toMatchObject({ port: 'http', path: '/metrics', scheme: 'https' });
    expect(endpoint.authorization.credentials).toEqual({ name: 'tessera-metrics', key: 'token' });
  });

  it.each(['keda', 'hpa'])(
    'scales nodes by outstanding seconds with %s, and sets no number',
    (kind) => {
      const items = itemsOf('clustered', '--set', `autoscaling.kind=${kind}`);
      const nodes = of(items, 'StatefulSet').find((set) => componentOf(set) === 'nodes');
      const [scaler] = of(items, kind === 'keda' ? 'ScaledObject' : 'HorizontalPodAutoscaler');
      expect(scaler?.spec.scaleTargetRef.name).toBe(nodes?.metadata.name);
      expect(nodes?.spec).not.toHaveProperty('replicas');
      expect(JSON.stringify(scaler?.spec)).toContain(METRICS.clusterOutstanding.name);
    },
  );

  it.each([
    ['no tokens', ['form=embedded'], 'access.secretName: expected a Secret with tokens.json'],
    ['another form', ['form=many'], "'/form'"],
    ['a value that it does not know', ['node.replicas=3'], "'node'"],
    ['a volume without a name', ['model.source=claim'], "'/model/claim/name'"],
    ['a bucket without an address', ['model.source=s3'], "'/model/s3/uri'"],
    ['no container that brings the model', ['model.source=init'], "'/model/init/containers'"],
    ['many nodes without a log', ['form=clustered'], "'/cluster/log/store'"],
    ['no shared store', ['form=shared-kv'], "'/sharedKv/stores'"],
    ['a store of another kind', ['sharedKv.stores={file:///kv}'], "'/sharedKv/stores/0'"],
  ])('refuses %s, and names the value', (_, set, named) => {
    const { ok, said } = template(...set.flatMap((value) => ['--set', value]));
    expect([ok, said]).toEqual([false, expect.stringContaining(named)]);
  });

  it('refuses nodes with roles whose number changes', () => {
    const example = join(CHART, 'examples', 'shared-kv.yaml');
    const { ok, said } = template('-f', example, '--set', 'autoscaling.kind=hpa');
    expect([ok, said]).toEqual([false, expect.stringContaining('sharedKv.appendReplicas')]);
  });

  it('takes what operators add to pods, and what they call things', () => {
    const values = {
      fullnameOverride: 'mine',
      serviceAccount: { create: false, name: 'theirs' },
      nodes: {
        podLabels: { team: 'ads' },
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } },
        minReadySeconds: 10,
        probes: { startup: { failureThreshold: 7 }, liveness: { timeoutSeconds: 30 } },
        extraContainers: [{ name: 'side', image: 'side' }],
        extraInitContainers: [{ name: 'before', image: 'before' }],
        dnsConfig: { options: [{ name: 'ndots', value: '1' }] },
        hostAliases: [{ ip: '10.0.0.1', hostnames: ['log'] }],
        persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete' },
      },
      ingress: { enabled: true, hosts: ['ads.example.org'] },
      httpRoute: { enabled: true, parentRefs: [{ name: 'edge' }] },
    };
    const file = join(folder.path, 'values.json');
    writeFileSync(file, JSON.stringify(values));
    const items = itemsOf('clustered', '-f', file);
    const set = of(items, 'StatefulSet').find((one) => componentOf(one) === 'nodes') as Item;
    const { updateStrategy, minReadySeconds, persistentVolumeClaimRetentionPolicy } = set.spec;
    const { nodes } = values;
    expect({ updateStrategy, minReadySeconds, persistentVolumeClaimRetentionPolicy }).toEqual({
      updateStrategy: nodes.updateStrategy,
      minReadySeconds: nodes.minReadySeconds,
      persistentVolumeClaimRetentionPolicy: nodes.persistentVolumeClaimRetentionPolicy,
    });
    const pod = set.spec.template.spec;
    expect(pod).toMatchObject({ serviceAccountName: 'theirs', hostAliases: nodes.hostAliases });
    expect(pod.dnsConfig).toEqual(nodes.dnsConfig);
    expect(pod.initContainers.map(({ name }: Container) => name)).toEqual(['before', 'model']);
    const [own, side] = pod.containers;
    expect([set.metadata.name, side.name, own.name]).toEqual(['mine-nodes', 'side', 'tessera']);
    expect(own.startupProbe).toMatchObject({ failureThreshold: 7, periodSeconds: 1 });
    expect(own.livenessProbe).toMatchObject({ timeoutSeconds: 30, periodSeconds: 5 });
    expect(set.spec.template.metadata.labels.team).toBe('ads');
    expect(of(items, 'ServiceAccount')).toEqual([]);
    const [ingress] = of(items, 'Ingress');
    const [{ host, http }] = (ingress as Item).spec.rules;
    expect([host, http.paths[0].backend.service]).toEqual([
      'ads.example.org',
      { name: 'mine', port: { name: 'http' } },
    ]);
    const [route] = of(items, 'HTTPRoute');
    expect(route?.spec.rules[0].backendRefs).toEqual([{ name: 'mine', port: 8080 }]);
    const query = JSON.stringify(of(items, 'ScaledObject')[0]?.spec);
    expect(query).toContain('service=\\"mine-gateway\\"');
  });

  it('says how many nodes there should be, and lists those that are not ready', () => {
    const wanted = (items: readonly Item[]) =>
      JSON.parse(of(items, 'ConfigMap')[0]?.data['gateway.json'] ?? '').cluster.nodesWanted;
    expect(wanted(itemsOf('clustered', '--set', 'autoscaling.minReplicas=4'))).toBe(4);
    const fixed = itemsOf('clustered', '--set', 'autoscaling.kind=none,nodes.replicas=5');
    expect(wanted(fixed)).toBe(5);
    const listed = of(fixed, 'Service').filter(({ spec }) => spec.publishNotReadyAddresses);
    expect(listed.map(componentOf)).toEqual(['nodes']);
  });

  it('asks for room for a fetched model, and says what a lint without values lacks', () => {
    const [set] = of(itemsOf('clustered'), 'StatefulSet');
    const pod = set?.spec.template.spec;
    for (const { resources } of [pod.initContainers[0], pod.containers[0]]) {
      expect(resources.requests['ephemeral-storage']).toBe('20Gi');
      expect(resources.requests.memory).toBeDefined();
    }
    const { ok, said } = runs(helm, ['lint', CHART]);
    expect([ok, said]).toEqual([true, expect.stringContaining('access.secretName: expected')]);
  });

  it('takes keys of the configuration, and these win', () => {
    const items = itemsOf('embedded', '--set', 'config.grpc.port=7,config.kv.diskBytes=1');
    const { grpc, kv } = JSON.parse(of(items, 'ConfigMap')[0]?.data['nodes.json'] ?? '');
    expect([grpc, kv]).toEqual([{ host: '0.0.0.0', port: 7 }, { diskBytes: 1 }]);
  });
});

it('README of the chart has a row for each value that must be set somewhere', () => {
  const text = readFileSync(join(CHART, 'README.md'), 'utf8');
  const values = parse(readFileSync(join(CHART, 'values.yaml'), 'utf8'));
  const rows = text.split('\n').filter((line) => line.startsWith('| `'));
  const firsts = rows.map((row) => row.split('|')[1]).join();
  for (const area of Object.keys(values)) expect(firsts).toMatch(new RegExp(`\`${area}\\b`));
});

it('the numbers of the chart are those of the service', () => {
  const { version, appVersion } = parse(readFileSync(join(CHART, 'Chart.yaml'), 'utf8'));
  const { version: service } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect([version, appVersion]).toEqual([service, service]);
});
