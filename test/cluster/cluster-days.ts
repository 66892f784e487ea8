/**
 * Days of a cluster of real processes: nodes, gateways and the server of its log are killed and
 * held up, disks are emptied and rolled back, while callers change items, erase users and ask for
 * recalls. In the evening all run again, and what every node holds is compared with a model.
 */

import { join } from 'node:path';
import { withinMs } from '@tessera/turns';
import { Random } from '../../bench/models/random.js';
import { writeRandomAdapter } from '../e2e/random-adapter.js';
import { pace } from '../trial/pace.js';
import { appendIdle, beginningOf, entryText, withLog } from './appended-entries.js';
import { ClusterCallers, codeOf } from './cluster-callers.js';
import { ClusterModel } from './cluster-model.js';
import { cutLink, hungChild, lostBody, olderLogBesideHeld } from './day-faults.js';
import { count, type DayParts, erase, one, recallOn, Writer } from './day-writers.js';
import { RealCluster } from './real-cluster.js';

export interface ClusterDaysOptions {
  readonly seed: number;
  readonly days: number;
  /** Left out: three. */
  readonly nodes?: number;
  /** The log is longer than its kept part, from the first day on. */
  readonly isLong?: boolean;
  readonly say?: (line: string) => void;
}

export interface ClusterOutcome {
  readonly counts: Readonly<Record<string, number>>;
  readonly faults: readonly string[];
}

const NODES = 3;
const GATEWAYS = 2;
const WRITERS = 3;
const RECALLERS = 2;
const USERS_A_DAY = 4;
const EVENTS_A_DAY = 3;
/** Often: what snapshots and trimmed logs do happens on every day. */
const SNAPSHOT_ENTRIES = 50;
/** More than are kept behind a snapshot. */
const IDLE_ENTRIES = 4300;
const HELD_MS = { least: 1000, more: 5000 };
const AWAY_MS_MAX = 2500;
const CLOCK_MS = 3_600_000;
/** Maximum milliseconds of an event and of an evening; what takes longer hangs. */
const EVENT_MS_MAX = 80_000;
const ADAPTER = 'main';
/** Size of an adapter's factors: answers move a little. */
const FACTOR_SIZE = 0.05;

const EVENTS = [
  'kill node',
  'kill node',
  'kill gateway',
  'hold node',
  'hold log',
  'kill log',
  'empty disk',
  'roll disk back',
  'restore backup',
  'erase while a node is away',
  'adapter',
  'poison entry',
  'wrong clock',
  'log back to an older copy',
  'log back while a node is held',
  'link to the log cut',
  'hung child',
  'lost body',
] as const;

/** Runs so many days; the same seed draws the same events. */
export async function runClusterDays(options: ClusterDaysOptions): Promise<ClusterOutcome> {
  const { seed, days, nodes = NODES, isLong = false, say = () => undefined } = options;
  const variables = { TESSERA_CLUSTER_LOG_SNAPSHOT_ENTRIES: String(SNAPSHOT_ENTRIES) };
  const cluster = await RealCluster.start({ nodes, gateways: GATEWAYS, variables });
  const run = new ClusterDays(cluster, new Random(seed), say);
  try {
    if (isLong) await appendIdle(cluster, IDLE_ENTRIES);
    await cluster.untilTogether();
    await run.begin();
    for (let day = 1; day <= days; day += 1) await run.live(day);
    return { counts: Object.fromEntries(run.parts.counts), faults: run.parts.faults };
  } finally {
    run.parts.callers.close();
    await cluster.close();
  }
}

class ClusterDays {
  readonly parts: DayParts;
  private users = 0;
  private pushes = 0;
  /** Copies of disks, by node. */
  private readonly copies = new Map<string, string[]>();
  private readonly backups = new Map<string, string[]>();

  constructor(
    private readonly cluster: RealCluster,
    private readonly random: Random,
    private readonly say: (line: string) => void,
  ) {
    const { gateways, nodes } = cluster;
    const model = new ClusterModel();
    const callers = new ClusterCallers(cluster);
    const endpoints = [...gateways, ...nodes];
    const [faults, counts] = [[], new Map<string, number>()];
    this.parts = { model, callers, random, endpoints, gateways, faults, counts };
  }

  async begin(): Promise<void> {
    const { model, callers } = this.parts;
    for (const [itemId, state] of await callers.items('node-1')) {
      model.items.set(itemId, { state, doubt: undefined });
    }
  }

  async live(day: number): Promise<void> {
    const { parts, random, cluster } = this;
    const faultsBefore = parts.faults.length;
    await this.morning(day);
    let isOver = false;
    const over = () => isOver;
    const working = [
      ...Array.from({ length: WRITERS }, (_, n) => new Writer(parts, `writer ${n}`).write(over)),
      ...Array.from({ length: RECALLERS }, () => recallOn(parts, over)),
    ];
    const drawn = Array.from({ length: EVENTS_A_DAY }, () => one(random, EVENTS));
    this.say(`day ${day}: ${drawn.join(', ')}`);
    for (const event of drawn) {
      count(parts.counts, event);
      try {
        await withinMs(EVENT_MS_MAX, this.happen(event, over));
      } catch (thrown) {
        parts.faults.push(`day ${day}, ${event}: ${(thrown as Error).message}`);
      }
    }
    isOver = true;
    try {
      await withinMs(EVENT_MS_MAX, Promise.all(working));
      await cluster.untilTogether();
      await withinMs(EVENT_MS_MAX, this.evening(day));
      const { first } = await withLog(cluster, (log) => log.bounds());
      parts.counts.set('entries trimmed', first - 1);
    } catch (thrown) {
      parts.faults.push(`day ${day}, evening: ${(thrown as Error).message}`);
    }
    for (const fault of parts.faults.slice(faultsBefore)) this.say(`  FAULT ${fault}`);
  }

  /** Users come, and disks are copied. */
  private async morning(day: number): Promise<void> {
    const { random, cluster } = this;
    const { model, callers, gateways } = this.parts;
    for (let n = 0; n < USERS_A_DAY; n += 1) {
      this.users += 1;
      const userId = `user ${this.users}`;
      await callers.begin(one(random, gateways), userId, this.users);
      model.users.push({ userId, isGoing: false, isErased: false });
      for (const node of cluster.nodes) await callers.recall(node, userId);
    }
    const node = one(random, cluster.nodes);
    const into = day % 2 === 0 ? this.backups : this.copies;
    const made = day % 2 === 0 ? cluster.backUp(node) : cluster.copyDisk(node);
    into.set(node, [...(into.get(node) ?? []), made]);
  }

  private async happen(event: (typeof EVENTS)[number], isOver: () => boolean): Promise<void> {
    const { random, cluster } = this;
    const node = one(random, cluster.nodes);
    switch (event) {
      case 'kill node':
        return this.away(node, 'SIGKILL', async () => pace(random.below(AWAY_MS_MAX)));
      case 'kill gateway':
        return this.away(one(random, cluster.gateways), 'SIGKILL', async () => undefined);
      case 'hold node':
        cluster.hold(node);
        await pace(HELD_MS.least + random.below(HELD_MS.more));
        return cluster.goOn(node);
      case 'hold log':
        cluster.log.signal('SIGSTOP');
        await pace(HELD_MS.least + random.below(HELD_MS.more));
        return cluster.log.signal('SIGCONT');
      case 'kill log':
        await cluster.log.kill();
        await pace(random.below(AWAY_MS_MAX));
        return cluster.log.start();
      case 'empty disk':
        return this.away(node, 'SIGKILL', async () => cluster.emptyDisk(node));
      case 'roll disk back':
        return this.onOlderDisk(this.copies, (name, copy) => cluster.rollBack(name, copy));
      case 'restore backup':
        return this.onOlderDisk(this.backups, (name, copy) => cluster.restore(name, copy));
      case 'erase while a node is away':
        return this.eraseBeside(node, isOver);
      case 'adapter':
        return this.adapter();
      case 'poison entry':
        return this.poison();
      case 'wrong clock':
        return this.wrongClock(node);
      case 'log back to an older copy':
        return this.olderLog();
      case 'log back while a node is held':
        return olderLogBesideHeld(cluster, node);
      case 'link to the log cut':
        return cutLink(cluster, node, this.parts);
      case 'hung child':
        return hungChild(cluster, node, this.parts, isOver);
      case 'lost body':
        return lostBody(cluster, this.parts);
    }
  }

  /** Entries that no release wrote; every node passes over them. */
  private async poison(): Promise<void> {
    this.pushes += 1;
    const entries = [
      Buffer.from('no entry'),
      entryText({ key: `poison ${this.pushes}`, kind: 'erase', body: { userId: '' } }),
      entryText({ key: `cut ${this.pushes}`, kind: 'changes', body: null }).subarray(0, -2),
    ];
    await withLog(this.cluster, async (log) => {
      const after = await beginningOf(log);
      for (const bytes of entries) await log.append(bytes, after);
    });
  }

  /** For an hour or two of the day the node's clock is wrong. */
  private async wrongClock(node: string): Promise<void> {
    const aheadMs = one(this.random, [-CLOCK_MS, CLOCK_MS]);
    const code = `const now=Date.now;Date.now=()=>now()+${aheadMs}`;
    const words = `--import=data:text/javascript,${encodeURIComponent(code)}`;
    await this.cluster.end(node, 'SIGTERM');
    await this.cluster.begin(node, { NODE_OPTIONS: words });
  }

  /**
   * The log is lost behind a copy of it: nodes stop, and go on when the log is what it was. Changes
   * that were acknowledged before are there then.
   */
  private async olderLog(): Promise<void> {
    const { cluster, random } = this;
    const older = await cluster.copyLog();
    await pace(random.below(AWAY_MS_MAX));
    const newer = await cluster.swapLog(older);
    await pace(random.below(AWAY_MS_MAX));
    await cluster.swapLog(newer);
    for (const name of cluster.nodes) await this.away(name, 'SIGTERM', async () => undefined);
  }

  private async away(
    name: string,
    how: 'SIGTERM' | 'SIGKILL',
    meanwhile: () => Promise<void>,
  ): Promise<void> {
    await this.cluster.end(name, how);
    await meanwhile();
    await this.cluster.begin(name);
  }

  private async onOlderDisk(
    from: ReadonlyMap<string, readonly string[]>,
    put: (name: string, copy: string) => void,
  ): Promise<void> {
    if (from.size === 0) return;
    const [name, copies] = one(this.random, [...from]);
    const copy = one(this.random, copies);
    const how = one(this.random, ['SIGTERM', 'SIGKILL'] as const);
    await this.away(name, how, async () => put(name, copy));
  }

  /** Held up or gone, and back on the disk that it had or on an older one. */
  private async eraseBeside(node: string, isOver: () => boolean): Promise<void> {
    const { random, cluster, parts } = this;
    const known = parts.model.users.filter(({ isGoing }) => !isGoing);
    if (known.length === 0) return;
    const user = one(random, known);
    const others = parts.endpoints.filter((name) => name !== node);
    const copies = this.copies.get(node) ?? [];
    if (random.below(2) === 0) {
      cluster.hold(node);
      await erase(parts, user, others, isOver);
      return cluster.goOn(node);
    }
    await this.away(node, 'SIGKILL', async () => {
      await erase(parts, user, others, isOver);
      if (copies.length > 0) cluster.rollBack(node, one(random, copies));
    });
  }

  /** Activations that have not ended show in what all nodes have in the evening. */
  private async adapter(): Promise<void> {
    const { random, cluster } = this;
    const { callers, endpoints, counts } = this.parts;
    this.pushes += 1;
    const folder = join(cluster.folder, `peft-${this.pushes}`);
    writeRandomAdapter(folder, { seed: this.pushes, size: FACTOR_SIZE });
    try {
      const digest = await callers.push(one(random, endpoints), folder, ADAPTER);
      await callers.adapter(one(random, endpoints), 'Activate', { name: ADAPTER, digest });
      if (random.below(3) === 0) {
        await callers.adapter(one(random, endpoints), 'Rollback', { name: ADAPTER });
      }
      count(counts, 'adapters activated');
    } catch (thrown) {
      count(counts, `adapter ${codeOf(thrown).slice(0, 24)}`);
    }
  }

  private async evening(day: number): Promise<void> {
    const { cluster, parts } = this;
    const { model, callers, faults } = parts;
    // Connections of the day may still wait to be tried again, though all processes are up.
    callers.close();
    for (const user of model.users) {
      if (user.isGoing && !user.isErased) await erase(parts, user, parts.gateways, () => false);
    }
    const [first = '', ...others] = cluster.nodes;
    const found = await callers.items(first);
    for (const name of others) {
      const here = JSON.stringify([...(await callers.items(name))].sort());
      if (here !== JSON.stringify([...found].sort())) {
        faults.push(`day ${day}: ${name} and ${first} hold other items`);
      }
    }
    faults.push(...model.settle(found).map((fault) => `day ${day}: ${fault}`));
    for (const { userId } of model.users.filter(({ isErased }) => isErased)) {
      for (const node of cluster.nodes) {
        for (const kept of await callers.kept(node, userId)) {
          faults.push(`day ${day}: kept of an erased user: ${kept}`);
        }
      }
    }
  }
}
