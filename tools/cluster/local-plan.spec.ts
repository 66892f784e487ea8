import { loadConfig } from '@tessera/config';
import { expect, it } from 'vitest';
import { type LocalClusterOptions, localPlan } from './local-plan.js';

const PORTS = { httpPort: 8080, grpcPort: 50_051 };
const NO_SERVERS = { etcd: '', kafka: '', redis: '' };
const ALONE = Object.assign({ folder: '/f', isShared: true }, PORTS, NO_SERVERS);
const { config } = loadConfig({ environment: {} });
const planOf = (counts: Pick<LocalClusterOptions, 'nodes' | 'append'>) =>
  localPlan(Object.assign({}, ALONE, counts), config);
const rolesOf = (counts: Parameters<typeof planOf>[0]) =>
  planOf(counts)
    .filter(({ main }) => main.includes('standalone'))
    .map(({ name, httpPort, variables }) => [name, httpPort, variables.TESSERA_CLUSTER_ROLE]);

it('starts nodes for every call where none only appends', () => {
  expect(rolesOf({ nodes: 2 })).toEqual([
    ['node-1', 8081, 'both'],
    ['node-2', 8082, 'both'],
  ]);
  const gateway = planOf({ nodes: 1, append: 0 }).at(-1);
  const members = 'node-1=127.0.0.1:50061/127.0.0.1:8081';
  expect(gateway?.variables.TESSERA_CLUSTER_NODES).toBe(members);
});

it('starts nodes that only append behind those that only answer', () => {
  expect(rolesOf({ nodes: 2, append: 1 })).toEqual([
    ['node-1', 8081, 'answer'],
    ['node-2', 8082, 'answer'],
    ['append-1', 8083, 'append'],
  ]);
  const gateway = planOf({ nodes: 1, append: 1 }).at(-1);
  expect(gateway?.variables.TESSERA_CLUSTER_NODES).toBe(
    'node-1=127.0.0.1:50061/127.0.0.1:8081@answer,append-1=127.0.0.1:50062/127.0.0.1:8082@append',
  );
  const folders = planOf({ nodes: 2, append: 2 }).map(({ folder }) => folder);
  expect(new Set(folders).size).toBe(folders.length);
});
