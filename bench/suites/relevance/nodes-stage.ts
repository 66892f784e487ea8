import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClusterState } from '@tessera/client';
import { freePort, missingFor, temporaryFolder, until } from '@tessera/testing';
import { type Measurement, quantile } from '../../result.js';
import type { BenchCluster } from '../cluster/bench-cluster.js';
import { closedLoop, openLoop } from '../engine/in-flight.js';
import type { SuiteContext } from '../suite.js';
import { rerank, startScoring, textsOf } from './scoring-cluster.js';

const HOST = '127.0.0.1';
const DOCUMENTS = 32;
const CALLS = { quick: 8, full: 40 };
/** Of the calls under load: ten to sixteen documents. */
const LEAST = 10;
const SPREAD = 7;
const LOAD = 0.7;
const LOADED_MS = { quick: 7000, full: 20_000 };
const CAPACITY_MS = { quick: 6000, full: 15_000 };
const ROUNDS = { quick: 3, full: 9 };
const KILL_AFTER_MS = 50;
const BARS = { finish: 1.1, longest: 1.1, roundRobin: 0.7, leastConn: 0.9 };

type Form = keyof typeof CALLS;

const callOf = (seed: number) => textsOf(LEAST + (seed % SPREAD), seed);

/** Two nodes of one thread behind a gateway, HAProxy before the same, and one of two threads. */
export async function nodesStage({ quick, say }: SuiteContext): Promise<Measurement[]> {
  const form = quick ? 'quick' : 'full';
  say('two nodes that score, of one thread each');
  const cluster = await startScoring(2, 1, say);
  let measurements: Measurement[];
  let two: number;
  try {
    const gateway = new URL(cluster.httpUrl).host;
    for (let seed = 0; seed < 4; seed += 1) await rerank(gateway, callOf(seed));
    measurements = await finishes(cluster, gateway, form);
    two = await closedLoop(4, CAPACITY_MS[form], (at) => rerank(gateway, callOf(at)));
    measurements.push(...(await underLoad(cluster, gateway, LOAD * two, { form, say })));
    measurements.push(await killed(cluster, gateway));
  } finally {
    await cluster.end();
  }
  say('one node of two threads');
  const single = await startScoring(1, 2, say);
  try {
    const [node = ''] = single.nodeAddresses;
    for (let seed = 0; seed < 4; seed += 1) await rerank(node, callOf(seed));
    const one = await closedLoop(4, CAPACITY_MS[form], (at) => rerank(node, callOf(at)));
    const row = { unit: 'calls/s', bar: null };
    measurements.push(
      { name: 'calls, one node of two threads', value: one, ...row },
      {
        name: 'calls, two nodes of one thread',
        value: two,
        ...row,
        ratio: { value: two / one, to: 'one node of two threads' },
      },
    );
  } finally {
    await single.end();
  }
  return measurements;
}

const timed = async (act: () => Promise<unknown>): Promise<number> => {
  const from = performance.now();
  await act();
  return performance.now() - from;
};

/**
 * One call at a time: whole on a node, whole on both at once, by number and by length on both. The
 * lower bound of a split is half of what both take for the whole at once: nodes of one machine
 * share its memory, and their threads beside the engine's share its cores.
 */
async function finishes(
  { nodeAddresses }: BenchCluster,
  gateway: string,
  form: Form,
): Promise<Measurement[]> {
  const [first = '', second = ''] = nodeAddresses;
  const ratios = {
    split: [] as number[],
    alone: [] as number[],
    count: [] as number[],
    longest: [] as number[],
  };
  for (let seed = 100; seed < 100 + CALLS[form]; seed += 1) {
    const documents = textsOf(DOCUMENTS, seed);
    const half = DOCUMENTS / 2;
    await idle(gateway);
    // In turns: a node that alone has the machine to itself would publish a rate that it has not
    // beside the other, and be given more than its part.
    const alone = await timed(() => rerank(seed % 2 === 0 ? first : second, documents));
    // The gateway learns twice a second of calls that it has not sent itself.
    await idle(gateway);
    const before = await spreadMs(gateway);
    const split = await timed(() => rerank(gateway, documents));
    const spread = (await spreadMs(gateway)) - before;
    const counted = await timed(() =>
      Promise.all([rerank(first, documents.slice(0, half)), rerank(second, documents.slice(half))]),
    );
    await idle(gateway);
    const both = await timed(() =>
      Promise.all([rerank(first, documents), rerank(second, documents)]),
    );
    ratios.split.push(split / (both / 2));
    ratios.alone.push(split / (alone / 2));
    ratios.count.push(counted / (both / 2));
    ratios.longest.push(split / (split - spread / 2));
  }
  const row = (name: string, values: readonly number[], bar: number | null): Measurement => ({
    name: `${DOCUMENTS} documents on 2 nodes: ${name}, median`,
    value: quantile(values, 0.5),
    unit: 'x',
    bar,
    bound: 'at-most',
  });
  return [
    row('finish over half of what each takes for all at once', ratios.split, BARS.finish),
    row('the same, split by count, without a gateway', ratios.count, null),
    row('finish over half of what one takes while the other rests', ratios.alone, BARS.finish),
    row('longest over mean part', ratios.longest, BARS.longest),
  ];
}

/** The gateway knows that no node has anything to score. */
function idle(gateway: string): Promise<void> {
  return until('no node has anything to score', async () => {
    const state = (await (await fetch(`http://${gateway}/v1/cluster`)).json()) as ClusterState;
    return state.nodes.every(({ relevance }) => relevance?.backlogUs === 0);
  });
}

/** Between the first and the last parts of all calls. */
async function spreadMs(gateway: string): Promise<number> {
  const text = await (await fetch(`http://${gateway}/metrics`)).text();
  const found = /^tessera_split_spread_seconds_total (\S+)$/m.exec(text);
  return 1000 * Number(found?.[1] ?? 0);
}

interface How {
  readonly form: Form;
  readonly say: (line: string) => void;
}

/** The same arrivals over the gateway and over HAProxy, in turns. */
async function underLoad(
  { nodeAddresses }: BenchCluster,
  gateway: string,
  perSecond: number,
  { form, say }: How,
): Promise<Measurement[]> {
  const missing = missingFor(['haproxy']);
  if (missing.length > 0) say(`no peer: ${missing.join()} is missing`);
  const peer = missing.length > 0 ? undefined : await startHaproxy(nodeAddresses);
  const ways = [{ name: 'gateway', address: gateway, ms: [] as number[] }];
  for (const { name, address } of peer?.ways ?? []) ways.push({ name, address, ms: [] });
  try {
    for (let round = 0; round < ROUNDS[form]; round += 1) {
      for (const { name, address, ms } of ways) {
        say(`${perSecond.toFixed(1)} calls a second over ${name}, round ${round + 1}`);
        const ask = (at: number) => rerank(address, callOf(1000 * round + at));
        const { latencies } = await openLoop(perSecond, LOADED_MS[form], 40 + round, ask);
        ms.push(...latencies);
      }
    }
  } finally {
    await peer?.stop();
  }
  const own = ways[0]?.ms ?? [];
  const p99 = quantile(own, 0.99);
  const name = `${own.length} calls of 10 to 16 documents at 70 % load, p99`;
  const rows = ways.slice(1).map((way, at): Measurement => {
    const ratio = { value: p99 / quantile(way.ms, 0.99), to: way.name };
    const bar = at === 0 ? BARS.roundRobin : BARS.leastConn;
    return { name, value: p99, unit: 'ms', ratio, bar, bound: 'at-most' };
  });
  const medians = ways.map((way): Measurement => {
    const value = quantile(way.ms, 0.5);
    return { name: `the same, p50 over ${way.name}`, value, unit: 'ms', bar: null };
  });
  return [...rows, ...medians];
}

/** HAProxy over HTTP: a port that takes nodes in turn, and one that takes the least busy. */
async function startHaproxy(nodes: readonly string[]) {
  const folder = temporaryFolder({});
  const ways = [
    { name: 'round robin', balance: 'roundrobin', port: await freePort() },
    { name: 'HAProxy leastconn', balance: 'leastconn', port: await freePort() },
  ];
  const lines = ways.flatMap(({ balance, port }) => [
    `listen ${balance}`,
    `    bind ${HOST}:${port}`,
    `    balance ${balance}`,
    ...nodes.map((address, at) => `    server node-${at + 1} ${address}`),
  ]);
  const defaults = ['connect 1s', 'client 70s', 'server 70s'].map((of) => `    timeout ${of}`);
  const path = join(folder.path, 'haproxy.cfg');
  writeFileSync(path, `${['defaults', '    mode http', ...defaults, ...lines].join('\n')}\n`);
  const child: ChildProcess = spawn('haproxy', ['-db', '-q', '-f', path], { stdio: 'ignore' });
  const addressed = ways.map(({ name, port }) => ({ name, address: `${HOST}:${port}` }));
  for (const { address } of addressed) {
    await until('HAProxy serves', async () => {
      const reply = await fetch(`http://${address}/health/live`).catch(() => undefined);
      return reply?.ok === true;
    });
  }
  return {
    ways: addressed,
    stop: async () => {
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      folder.remove();
    },
  };
}

/** kill -9 of a node in the middle of a call: documents that have no score, or more than one. */
async function killed(cluster: BenchCluster, gateway: string): Promise<Measurement> {
  const documents = textsOf(100, 7);
  const answer = rerank(gateway, documents, 30_000);
  await new Promise((resolve) => setTimeout(resolve, KILL_AFTER_MS));
  cluster.kill('node-2');
  const { results, failures } = await answer;
  const seen = [...results, ...failures].map(({ index }) => index);
  const wrong = documents.filter((_, at) => seen.filter((index) => index === at).length !== 1);
  return {
    name: `100 documents, kill -9 of a node meanwhile, ${results.length} scored: not answered once`,
    value: wrong.length,
    unit: 'documents',
    bar: 0,
    bound: 'at-most',
  };
}
