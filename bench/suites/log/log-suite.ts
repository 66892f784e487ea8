/** Cost of a change through the log of a cluster, and time until a new node serves. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { missingFor, temporaryFolder, until } from '@tessera/testing';
import { ClusterCallers } from '../../../test/cluster/cluster-callers.js';
import { RealCluster } from '../../../test/cluster/real-cluster.js';
import { type Measurement, quantile } from '../../result.js';
import { type Stages, type SuiteContext, staged } from '../suite.js';

const NODES = 3;
const CHANGES = 200;
/** Milliseconds of the median and of the 99th percentile. */
const BARS = [15, 60] as const;
const WRITERS = 4;
const BATCH = 100;
const BATCHES = { quick: 40, full: 200 };
const CHANGES_A_SECOND = 5000;
const ITEMS = 200_000;
const NEW_NODE_CHANGES = 20_000;
const NEW_NODE_SECONDS = 20;
const SNAPSHOT_ENTRIES = 100;
const WARM_UP = 20;

const priorities = (from: number, count: number, priority: number) =>
  Array.from({ length: count }, (_, n) => ({
    setPriority: { itemId: String(1 + ((from + n) % 700)), priority },
  }));

async function within<T>(
  act: (cluster: RealCluster, callers: ClusterCallers) => Promise<T>,
): Promise<T> {
  const cluster = await RealCluster.start({ nodes: NODES, gateways: 0 });
  const callers = new ClusterCallers(cluster);
  try {
    return await act(cluster, callers);
  } finally {
    callers.close();
    await cluster.close();
  }
}

/** One change after another through a node, each until every node has applied it. */
async function latency({ say }: SuiteContext): Promise<Measurement[]> {
  const missing = missingFor(['etcd']);
  if (missing.length > 0) throw new Error(`${missing.join(', ')}: not installed`);
  say(`${CHANGES} changes over etcd, applied everywhere`);
  const taken = await within(async (_, callers) => {
    const times: number[] = [];
    for (let n = 0; n < WARM_UP + CHANGES; n += 1) {
      const began = performance.now();
      await callers.apply('node-2', priorities(n, 1, n));
      if (n >= WARM_UP) times.push(performance.now() - began);
    }
    return times;
  });
  const row = (name: string, share: number, bar: number): Measurement => ({
    name: `a change applied everywhere, etcd, ${name}`,
    value: quantile(taken, share),
    unit: 'ms',
    bar,
    bound: 'at-most',
  });
  const [median, most] = BARS;
  return [row('median', 0.5, median), row('p99', 0.99, most)];
}

async function throughput({ quick, say }: SuiteContext): Promise<Measurement[]> {
  const batches = quick ? BATCHES.quick : BATCHES.full;
  say(`${WRITERS} writers of ${batches} batches of ${BATCH} changes, applied at their node`);
  const seconds = await within(async (cluster, callers) => {
    const write = async (writer: number) => {
      const at = cluster.nodes[writer % NODES] as string;
      for (let n = 0; n < batches; n += 1) {
        const changes = priorities(writer * BATCH, BATCH, n);
        await callers.apply(at, changes, '', 'applied-here');
      }
    };
    const began = performance.now();
    await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
    const took = (performance.now() - began) / 1000;
    await cluster.untilTogether();
    return took;
  });
  const value = (WRITERS * batches * BATCH) / seconds;
  const name = `changes in batches of ${BATCH}, etcd`;
  return [{ name, value, unit: '/s', bar: CHANGES_A_SECOND, bound: 'at-least' }];
}

/** The demo's items again and again, each time under other IDs. */
function writeCatalogue(path: string): void {
  const lines = readFileSync('models/demo/catalogue.jsonl', 'utf8').trim().split('\n');
  const items = Array.from({ length: ITEMS }, (_, n) => {
    const item = JSON.parse(lines[n % lines.length] as string);
    item.item_id = String(n + 1);
    return JSON.stringify(item);
  });
  writeFileSync(path, `${items.join('\n')}\n`);
}

async function newNode({ say }: SuiteContext): Promise<Measurement[]> {
  const folder = temporaryFolder({});
  const path = join(folder.path, 'catalogue.jsonl');
  writeCatalogue(path);
  const variables = {
    TESSERA_CATALOGUE_PATH: path,
    TESSERA_CLUSTER_LOG_SNAPSHOT_ENTRIES: String(SNAPSHOT_ENTRIES),
  };
  const options = { nodes: 2, gateways: 0, variables } as const;
  const cluster = await RealCluster.prepare(options);
  const callers = new ClusterCallers(cluster);
  try {
    say(`${ITEMS} items, ${NEW_NODE_CHANGES} changes`);
    await cluster.begin('node-1');
    const entries = NEW_NODE_CHANGES / BATCH;
    for (let n = 0; n < entries; n += 1) {
      await callers.apply('node-1', priorities(n * BATCH, BATCH, n), '', 'applied-here');
      // The rest of the log comes behind the snapshot.
      if (n === SNAPSHOT_ENTRIES) await until('a snapshot is there', () => hasSnapshot(cluster));
    }
    const began = performance.now();
    await cluster.begin('node-2');
    await until('it is ready', async () => (await cluster.health('node-2'))?.ready === true);
    const value = (performance.now() - began) / 1000;
    const name = `a new node of ${ITEMS} items, until it is ready`;
    return [{ name, value, unit: 's', bar: NEW_NODE_SECONDS, bound: 'at-most' }];
  } finally {
    callers.close();
    await cluster.close();
    folder.remove();
  }
}

function hasSnapshot(cluster: RealCluster): boolean {
  const store = cluster.planOf('node-1').variables.TESSERA_CLUSTER_LOG_STORE ?? '';
  return existsSync(join(store, 'snapshots'));
}

const STAGES: Stages = {
  etcd: latency,
  throughput,
  'new-node': newNode,
};

export const LOG_STAGES = Object.keys(STAGES);
export const logSuite = staged(STAGES);
