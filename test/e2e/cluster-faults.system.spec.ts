/**
 * Faults of a cluster that its nodes once did not come back from, or hid: each is made with real
 * processes, and what every node holds afterwards is compared.
 */

import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { type EtcdServer, missingFor, until } from '@tessera/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  appendIdle,
  beginningOf,
  entryText,
  newerEntry,
  withLog,
} from '../cluster/appended-entries.js';
import { ClusterCallers } from '../cluster/cluster-callers.js';
import { RealCluster, type RealClusterOptions } from '../cluster/real-cluster.js';

const missing = missingFor(['etcd', 'redis']);
const SNAPSHOT_ENTRIES = 50;
/** More than are kept behind a snapshot. */
const TRIMMING_ENTRIES = 4300;
const VARIABLES = {
  TESSERA_CLUSTER_LOG_SNAPSHOT_ENTRIES: String(SNAPSHOT_ENTRIES),
};

let cluster: RealCluster;
let callers: ClusterCallers;
let made = 0;

async function startCluster(options: Pick<RealClusterOptions, 'nodes' | 'gateways'>) {
  cluster = await RealCluster.start({ ...options, variables: VARIABLES });
  callers = new ClusterCallers(cluster);
}

async function endCluster(): Promise<void> {
  callers?.close();
  await cluster?.close();
}

/** A new item for each call. */
const newItem = () => {
  made += 1;
  const itemId = `made ${made}`;
  return { itemId, wire: { upsert: { itemId, sid: [0, 0, 0], title: itemId, attributes: '{}' } } };
};

/** Applies new items one by one; those that were acknowledged. */
async function written(at: string, count: number): Promise<string[]> {
  const acknowledged: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const { itemId, wire } = newItem();
    await callers.apply(at, [wire]);
    acknowledged.push(itemId);
  }
  return acknowledged;
}

/** All nodes are up by themselves and hold the same items, these among them. */
async function expectSame(itemIds: readonly string[] = []): Promise<void> {
  await cluster.untilTogether();
  const held = await Promise.all(cluster.nodes.map((name) => callers.items(name)));
  const texts = held.map((items) => JSON.stringify([...items].sort()));
  expect(new Set(texts).size).toBe(1);
  expect(itemIds.filter((itemId) => held[0]?.has(itemId) !== true)).toEqual([]);
}

async function expectNothingOf(userId: string): Promise<void> {
  for (const name of cluster.nodes) expect(await callers.kept(name, userId)).toEqual([]);
}

/** A user whose keys and values every node has. */
async function servedUser(userId: string): Promise<void> {
  await callers.begin('gateway-1', userId, 1);
  for (const name of cluster.nodes) await callers.recall(name, userId);
  for (const name of cluster.nodes) expect(await callers.kept(name, userId)).not.toEqual([]);
}

/** Minutes in all; `npm run test:long` runs them. */
const long = it.skipIf(process.env.LONG_FAULTS === undefined);

/** Of a whole test, on a machine that others use as well. */
const TEST_MS = 300_000;
vi.setConfig({ testTimeout: TEST_MS, hookTimeout: TEST_MS });

describe.skipIf(missing.length > 0)(`three nodes and two gateways ${missing}`, () => {
  beforeAll(() => startCluster({ nodes: 3, gateways: 2 }));
  afterAll(endCluster);

  it('are the same after one was repaired behind a damaged byte (D1a)', async () => {
    const acknowledged = await written('gateway-1', 40);
    await cluster.end('node-3', 'SIGKILL');
    const folder = cluster.planOf('node-3').variables.TESSERA_CATALOGUE_CHANGES_PATH ?? '';
    const [path = ''] = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.changes'))
      .map((name) => join(folder, name))
      .sort((a, b) => statSync(b).size - statSync(a).size);
    const bytes = readFileSync(path);
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
    writeFileSync(path, bytes);
    const printed = cluster.command('node-3', 'repair', '--only', 'catalogue-changes', '--apply');
    expect(printed).toMatch(/are lost/);
    const meanwhile = await written('gateway-2', 5);
    await cluster.begin('node-3');
    await expectSame([...acknowledged, ...meanwhile]);
  });

  long('hold every acknowledged change while they are killed in turn (D1c)', async () => {
    const acknowledged: string[] = [];
    for (const name of cluster.nodes) {
      const { itemId, wire } = newItem();
      const applied = callers.apply('gateway-1', [wire]).then(
        () => acknowledged.push(itemId),
        () => undefined,
      );
      await cluster.end(name, 'SIGKILL');
      await applied;
      acknowledged.push(...(await written('gateway-1', 3)));
      await cluster.begin(name);
    }
    await expectSame(acknowledged);
  });

  it('have one order of changes through two gateways at once (D1d)', async () => {
    const { itemId, wire } = newItem();
    await callers.apply('gateway-1', [wire]);
    const add = (at: string) => async () => {
      for (let n = 0; n < 30; n += 1) {
        const patchAttributes = { itemId, delta: [{ attribute: 'count', delta: 1 }] };
        await callers.apply(at, [{ patchAttributes }, newItem().wire]);
      }
    };
    await Promise.all([add('gateway-1')(), add('gateway-2')(), add('node-2')()]);
    await expectSame([itemId]);
    expect((await callers.items('node-1')).get(itemId)?.count).toBe(90);
  });

  long('take back one that was killed while changes were written, three times (D2)', async () => {
    const acknowledged: string[] = [];
    let isOver = false;
    const writing = (async () => {
      while (!isOver) {
        const { itemId, wire } = newItem();
        await callers.apply('gateway-2', [wire]).then(
          () => acknowledged.push(itemId),
          () => undefined,
        );
      }
    })();
    for (let time = 0; time < 3; time += 1) {
      await cluster.end('node-3', 'SIGKILL');
      await cluster.begin('node-3');
    }
    isOver = true;
    await writing;
    expect(acknowledged.length).toBeGreaterThan(10);
    await expectSame(acknowledged);
  });

  it('erase a user on one that was away, and on an older disk (D5)', async () => {
    await servedUser('gone');
    const older = cluster.copyDisk('node-3');
    await cluster.end('gateway-2', 'SIGTERM');
    await cluster.end('node-3', 'SIGKILL');
    // It has never seen that node.
    await cluster.begin('gateway-2');
    await callers.erase('gateway-2', 'gone', 30_000);
    await cluster.begin('node-3');
    await cluster.untilTogether();
    await expectNothingOf('gone');
    await cluster.end('node-3', 'SIGTERM');
    cluster.rollBack('node-3', older);
    await cluster.begin('node-3');
    // From its first answer on.
    expect(await callers.kept('node-3', 'gone')).toEqual([]);
    await expectSame();
    await expectNothingOf('gone');
  });

  it('use nothing of a user who was erased while one of them was held up (D5)', async () => {
    await servedUser('held');
    cluster.hold('node-2');
    await callers.erase('gateway-1', 'held', 30_000);
    cluster.goOn('node-2');
    // The behaviours are a new user's; what was kept of the old one must not answer for them.
    await callers.begin('gateway-1', 'held', 1, Date.now());
    // While its own erasure is not done, the user is refused there.
    let answer: Awaited<ReturnType<typeof callers.recall>> | undefined;
    await until('it is done there', async () => {
      answer = await callers.recall('node-2', 'held').catch(() => undefined);
      return answer !== undefined;
    });
    const { kv } = answer as NonNullable<typeof answer>;
    const byTier = Object.values(kv?.tokensByTier ?? {});
    const found = byTier.reduce((sum, tokens) => sum + tokens, 0);
    const fresh = await callers.recall('node-2', 'nobody', { requireHistory: false });
    const shared = fresh.kv?.tokensByTier.device ?? 0;
    expect(found).toBeLessThanOrEqual(shared);
    await cluster.untilTogether();
  });

  long('give one with an old disk a snapshot where the log was trimmed', async () => {
    const older = cluster.copyDisk('node-3');
    await cluster.end('node-3', 'SIGTERM');
    await appendIdle(cluster, TRIMMING_ENTRIES);
    const { end } = await withLog(cluster, (log) => log.bounds());
    await until('the others have them', async () => {
      const found = await Promise.all(['node-1', 'node-2'].map((name) => cluster.health(name)));
      return found.every((health) => (health?.clusterLog?.offset ?? 0) >= end);
    });
    const acknowledged = await written('gateway-1', 2);
    const isTrimmed = async () => (await withLog(cluster, (log) => log.bounds())).first > 1;
    await until('the log is trimmed', isTrimmed);
    await cluster.begin('node-3');
    await expectSame(acknowledged);
    await cluster.end('node-3', 'SIGKILL');
    cluster.rollBack('node-3', older);
    await cluster.begin('node-3');
    await expectSame(acknowledged);
  });

  it('pass over what nobody can read, all alike', async () => {
    const poison = [
      Buffer.from('no entry'),
      entryText({ key: 'p1', kind: 'changes', body: { catalogue: '', changes: 'no changes' } }),
      entryText({ key: 'p2', kind: 'changes', body: null }),
      entryText({ key: 'p3', kind: 'changes', body: { catalogue: 'another', changes: {} } }),
      entryText({ key: 'p4', kind: 'erase', body: { userId: 7 } }),
      entryText({ key: 'p5', kind: 'adapters', body: { act: 'no act' } }),
      entryText({ key: 'p6', kind: 'weights', body: { name: 'no weights' } }),
      entryText({ key: 'p7', kind: 'snapshot', body: { snapshot: 'snapshots/none.json' } }),
    ];
    await withLog(cluster, async (log) => {
      const after = await beginningOf(log);
      for (const bytes of poison) await log.append(bytes, after);
    });
    await expectSame(await written('gateway-1', 2));
    for (const name of cluster.nodes) {
      expect(await cluster.condition(name, 'log')).toMatchObject({ state: 'ok' });
    }
    // Behind a snapshot of all that.
    const { end } = await withLog(cluster, (log) => log.bounds());
    await appendIdle(cluster, 2 * SNAPSHOT_ENTRIES);
    const store = cluster.planOf('node-1').variables.TESSERA_CLUSTER_LOG_STORE ?? '';
    const snapshots = join(store, 'snapshots');
    await until('a snapshot is made', () => {
      const names = existsSync(snapshots)
        ? readdirSync(snapshots, { recursive: true, encoding: 'utf8' })
        : [];
      return names.some((name) => Number.parseInt(basename(name), 10) > end);
    });
    await cluster.end('node-1', 'SIGKILL');
    cluster.emptyDisk('node-1');
    await cluster.begin('node-1');
    await expectSame();
  });

  long('say that the log was lost or is an older copy, and serve on (D9)', async () => {
    await callers.begin('gateway-1', 'kept', 1);
    const data = (cluster.log as EtcdServer).folder;
    const [older, newer] = [join(cluster.folder, 'older'), join(cluster.folder, 'newer')];
    await cluster.log.kill();
    cpSync(data, older, { recursive: true });
    await cluster.log.start();
    const acknowledged = await written('gateway-1', 3);
    await cluster.untilTogether();
    await cluster.log.kill();
    cpSync(data, newer, { recursive: true });
    const putBack = async (copy: string | undefined) => {
      rmSync(data, { recursive: true });
      if (copy !== undefined) cpSync(copy, data, { recursive: true });
      await cluster.log.start();
    };
    await putBack(older);
    const said = async (pattern: RegExp) => {
      for (const name of cluster.nodes) {
        await until(`${name} says so`, async () => {
          const { state, reason = '' } = (await cluster.condition(name, 'log')) ?? {};
          return state === 'degraded' && pattern.test(reason);
        });
        await callers.recall(name, 'kept');
      }
      await expect(callers.apply('node-1', [newItem().wire])).rejects.toThrow();
    };
    await said(/expected entries up to \d+.*an older copy of the log/);
    await cluster.log.kill();
    await putBack(newer);
    for (const name of cluster.nodes) {
      await cluster.end(name, 'SIGTERM');
      await cluster.begin(name);
    }
    await expectSame(acknowledged);
    await cluster.log.kill();
    // A snapshot that was made meanwhile is an entry of its own.
    cpSync(data, newer, { recursive: true });
    await putBack(undefined);
    await said(/expected log [\w-]+, got one that nobody has begun/);
    await cluster.log.kill();
    await putBack(newer);
    for (const name of cluster.nodes) {
      await cluster.end(name, 'SIGTERM');
      await cluster.begin(name);
    }
    await expectSame(acknowledged);
  });

  it('serve on at an entry of a newer release, and say so', async () => {
    await callers.begin('gateway-1', 'newer', 1);
    const entry = newerEntry('newer');
    await withLog(cluster, async (log) => log.append(entry, await beginningOf(log)));
    for (const name of cluster.nodes) {
      await until(`${name} says so`, async () => {
        const { state, reason = '' } = (await cluster.condition(name, 'log')) ?? {};
        return state === 'degraded' && /got 99, which a newer release wrote/.test(reason);
      });
      expect((await cluster.health(name))?.ready).toBe(true);
      await callers.recall(name, 'newer');
    }
    await callers.recall('gateway-1', 'newer');
  });
});

describe.skipIf(missing.length > 0)(`two nodes ${missing}`, () => {
  beforeAll(() => startCluster({ nodes: 2, gateways: 1 }));
  afterAll(endCluster);

  it('are the same where one comes with no changes, or with older ones (D1b)', async () => {
    const first = await written('gateway-1', 4);
    const older = cluster.copyDisk('node-2');
    const pauses = Array.from({ length: 10 }, (_, n) => ({ pauseItemId: String(n + 1) }));
    for (const change of pauses) await callers.apply('gateway-1', [change]);
    await cluster.end('node-2', 'SIGKILL');
    const folder = cluster.planOf('node-2').variables.TESSERA_CATALOGUE_CHANGES_PATH ?? '';
    rmSync(folder, { recursive: true });
    await cluster.begin('node-2');
    await expectSame(first);
    expect((await callers.items('node-2')).get('10')?.isPaused).toBe(true);
    await cluster.end('node-2', 'SIGKILL');
    cluster.rollBack('node-2', older);
    await cluster.begin('node-2');
    await expectSame(first);
    expect((await callers.items('node-2')).get('10')?.isPaused).toBe(true);
  });

  it('refuse a third whose catalogue began otherwise', async () => {
    await cluster.end('node-2', 'SIGTERM');
    cluster.emptyDisk('node-2');
    const lines = readFileSync('models/demo/catalogue.jsonl', 'utf8').split('\n');
    const other = join(cluster.folder, 'other.jsonl');
    writeFileSync(other, lines.slice(1).join('\n'));
    const running = cluster.launch('node-2', { TESSERA_CATALOGUE_PATH: other });
    expect(await running.ended).not.toBe('0');
    expect(cluster.printed('node-2')).toMatch(
      /LOG_DIFFERENT.*expected the sources that the log began with/,
    );
    cluster.emptyDisk('node-2');
    await cluster.begin('node-2');
    await expectSame();
  });
});
