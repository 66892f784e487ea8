/** What may befall a cluster on a day. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeRandomAdapter } from '../e2e/random-adapter.js';
import { pace } from '../soak/pace.js';
import { beginningOf, entryText, storedEntry, withLog } from './appended-entries.js';
import { codeOf } from './cluster-callers.js';
import type { Cut } from './cut-proxy.js';
import { type DayParts, erase } from './day-writers.js';

/** Done when the fault is over, as far as it ends by itself. */
type Make = (node: string, isOver: () => boolean) => Promise<unknown>;

const HELD_MS = { least: 1000, more: 5000 };
const AWAY_MS_MAX = 2500;
const CLOCK_MS = 3_600_000;
const CUTS: readonly Cut[] = ['requests', 'answers', 'both'];
const CUT_MS = { least: 2000, more: 5000 };
const BEHIND_MS = 1500;
const OLDER_MS = 3000;
/** Milliseconds after which a cluster that notes nothing has nothing to note. */
const NOTED_MS_MAX = 10_000;
const NOTED_LOOK_MS = 100;
const RECALLS_BESIDE = 20;
const ADAPTER = 'main';
/** Size of an adapter's factors: answers move a little. */
const FACTOR_SIZE = 0.05;

/** Processes whose parent is `pid`. */
function childrenOf(pid: number): number[] {
  const parentOf = (one: string) => {
    try {
      // pid (name) state parent ...
      return Number(readFileSync(`/proc/${one}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[1]);
    } catch {
      return undefined;
    }
  };
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return all.filter((name) => parentOf(name) === pid).map(Number);
}

export class DayFaults {
  private made = 0;
  /** Copies of disks, by node. */
  private readonly copies = new Map<string, string[]>();
  private readonly backups = new Map<string, string[]>();

  constructor(private readonly parts: DayParts) {}

  /** Faults to draw from: a fault that stands twice is drawn twice as often. */
  get all(): readonly (readonly [name: string, make: Make])[] {
    const { cluster, soak } = this.parts;
    const { random } = soak;
    const killed: Make = (node) =>
      this.away(node, 'SIGKILL', async () => pace(random.below(AWAY_MS_MAX)));
    return [
      ['kill node', killed],
      ['kill node', killed],
      [
        'kill gateway',
        () => this.away(random.one(cluster.gateways), 'SIGKILL', async () => undefined),
      ],
      [
        'hold node',
        (node) =>
          this.held(
            () => cluster.hold(node),
            () => cluster.goOn(node),
          ),
      ],
      [
        'hold log',
        () =>
          this.held(
            () => cluster.log.signal('SIGSTOP'),
            () => cluster.log.signal('SIGCONT'),
          ),
      ],
      ['kill log', () => this.killLog()],
      ['empty disk', (node) => this.away(node, 'SIGKILL', async () => cluster.emptyDisk(node))],
      [
        'roll disk back',
        () => this.onOlderDisk(this.copies, (name, copy) => cluster.rollBack(name, copy)),
      ],
      [
        'restore backup',
        () => this.onOlderDisk(this.backups, (name, copy) => cluster.restore(name, copy)),
      ],
      ['erase while a node is away', (node, isOver) => this.eraseBeside(node, isOver)],
      ['adapter', () => this.adapter()],
      ['poison entry', () => this.poison()],
      ['wrong clock', (node) => this.wrongClock(node)],
      ['log back to an older copy', () => this.olderLog()],
      ['log back while a node is held', (node) => this.olderLogBesideHeld(node)],
      ['link to the log cut', (node) => this.cutLink(node)],
      ['hung child', (node, isOver) => this.hungChild(node, isOver)],
      ['lost body', () => this.lostBody()],
    ];
  }

  /** A node's disk as it is, for a later day; every other day by the command. */
  copy(node: string): void {
    const { cluster, soak } = this.parts;
    const isBackup = soak.round % 2 === 0;
    const into = isBackup ? this.backups : this.copies;
    const made = isBackup ? cluster.backUp(node) : cluster.copyDisk(node);
    into.set(node, [...(into.get(node) ?? []), made]);
  }

  private async away(
    name: string,
    how: 'SIGTERM' | 'SIGKILL',
    meanwhile: () => Promise<void>,
  ): Promise<void> {
    const { cluster } = this.parts;
    await cluster.end(name, how);
    await meanwhile();
    await cluster.begin(name);
  }

  private async held(hold: () => void, goOn: () => void): Promise<void> {
    hold();
    await pace(HELD_MS.least + this.parts.soak.random.below(HELD_MS.more));
    goOn();
  }

  private async killLog(): Promise<void> {
    const { cluster, soak } = this.parts;
    await cluster.log.kill();
    await pace(soak.random.below(AWAY_MS_MAX));
    await cluster.log.start();
  }

  private async onOlderDisk(
    from: ReadonlyMap<string, readonly string[]>,
    put: (name: string, copy: string) => void,
  ): Promise<void> {
    const { random } = this.parts.soak;
    if (from.size === 0) return;
    const [name, copies] = random.one([...from]);
    const copy = random.one(copies);
    const how = random.one(['SIGTERM', 'SIGKILL'] as const);
    await this.away(name, how, async () => put(name, copy));
  }

  /** Held up or gone, and back on the disk that it had or on an older one. */
  private async eraseBeside(node: string, isOver: () => boolean): Promise<void> {
    const { cluster, soak, model, endpoints } = this.parts;
    const { random } = soak;
    const known = model.users.filter(({ isGoing }) => !isGoing);
    if (known.length === 0) return;
    const user = random.one(known);
    const others = endpoints.filter((name) => name !== node);
    const copies = this.copies.get(node) ?? [];
    if (random.chance(2)) {
      cluster.hold(node);
      await erase(this.parts, user, others, isOver);
      return cluster.goOn(node);
    }
    await this.away(node, 'SIGKILL', async () => {
      await erase(this.parts, user, others, isOver);
      if (copies.length > 0) cluster.rollBack(node, random.one(copies));
    });
  }

  /** Activations that have not ended show in what all nodes have in the evening. */
  private async adapter(): Promise<void> {
    const { cluster, callers, endpoints, soak } = this.parts;
    const { random } = soak;
    this.made += 1;
    const folder = join(cluster.folder, `peft-${this.made}`);
    writeRandomAdapter(folder, { seed: this.made, size: FACTOR_SIZE });
    try {
      const digest = await callers.push(random.one(endpoints), folder, ADAPTER);
      await callers.adapter(random.one(endpoints), 'Activate', { name: ADAPTER, digest });
      if (random.chance(3)) {
        await callers.adapter(random.one(endpoints), 'Rollback', { name: ADAPTER });
      }
      soak.count('adapters activated');
    } catch (thrown) {
      soak.count(`adapter ${codeOf(thrown).slice(0, 24)}`);
    }
  }

  /** Entries that no release wrote; every node passes over them. */
  private async poison(): Promise<void> {
    this.made += 1;
    const entries = [
      Buffer.from('no entry'),
      entryText({ key: `poison ${this.made}`, kind: 'erase', body: { userId: '' } }),
      entryText({ key: `cut ${this.made}`, kind: 'changes', body: null }).subarray(0, -2),
    ];
    await withLog(this.parts.cluster, async (log) => {
      const after = await beginningOf(log);
      for (const bytes of entries) await log.append(bytes, after);
    });
  }

  /** For an hour or two of the day the node's clock is wrong. */
  private async wrongClock(node: string): Promise<void> {
    const { cluster, soak } = this.parts;
    const aheadMs = soak.random.one([-CLOCK_MS, CLOCK_MS]);
    const code = `const now=Date.now;Date.now=()=>now()+${aheadMs}`;
    const words = `--import=data:text/javascript,${encodeURIComponent(code)}`;
    await cluster.end(node, 'SIGTERM');
    await cluster.begin(node, { NODE_OPTIONS: words });
  }

  /**
   * The log is lost behind a copy of it: nodes stop, and go on when the log is what it was. Changes
   * that were acknowledged before are there then.
   */
  private async olderLog(): Promise<void> {
    const { cluster, soak } = this.parts;
    const older = await cluster.copyLog();
    if (!(await this.notesMore(soak.random.below(AWAY_MS_MAX)))) return;
    const newer = await cluster.swapLog(older);
    await pace(soak.random.below(AWAY_MS_MAX));
    await this.newerLog(newer);
  }

  /**
   * True once a node has noted more than the log has now. Without it an older copy lacks nothing:
   * nodes go on in it, and it is the newer one that would lose their changes.
   */
  private async notesMore(leastMs: number): Promise<boolean> {
    const { cluster, soak } = this.parts;
    const { end } = await withLog(cluster, (log) => log.bounds());
    await pace(leastMs);
    for (let ms = leastMs; ms < NOTED_MS_MAX; ms += NOTED_LOOK_MS) {
      if (cluster.noted > end) return true;
      await pace(NOTED_LOOK_MS);
    }
    soak.count('older logs that lacked nothing');
    return false;
  }

  /**
   * The log is an older copy for a while in which a node goes on that was held up meanwhile, and
   * has not seen the lost entries. Nothing may be acknowledged then: the newer log comes back.
   */
  private async olderLogBesideHeld(node: string): Promise<void> {
    const { cluster } = this.parts;
    const older = await cluster.copyLog();
    cluster.hold(node);
    const newer = (await this.notesMore(BEHIND_MS)) ? await cluster.swapLog(older) : undefined;
    cluster.goOn(node);
    if (newer === undefined) return;
    await pace(OLDER_MS);
    await this.newerLog(newer);
  }

  private async newerLog(newer: string): Promise<void> {
    const { cluster } = this.parts;
    await cluster.swapLog(newer);
    for (const name of cluster.nodes) await this.away(name, 'SIGTERM', async () => undefined);
  }

  /** Between a node and the server of the log. */
  private async cutLink(node: string): Promise<void> {
    const { cluster, soak } = this.parts;
    const link = cluster.linkOf(node);
    link.set(soak.random.one(CUTS));
    await pace(CUT_MS.least + soak.random.below(CUT_MS.more));
    link.set('none');
  }

  /** A child of a node does not answer any more, while a user is erased: the node ends it. */
  private async hungChild(node: string, isOver: () => boolean): Promise<void> {
    const { cluster, soak, model, endpoints } = this.parts;
    const children = childrenOf(cluster.pidOf(node));
    if (children.length === 0) throw new Error(`${node}: expected children, got none`);
    cluster.hang(soak.random.one(children));
    const known = model.users.filter(({ isGoing }) => !isGoing);
    if (known.length > 0) await erase(this.parts, soak.random.one(known), endpoints, isOver);
  }

  /**
   * An entry whose body nobody has: recalls go on at every node while changes wait, until a person
   * refuses it.
   */
  private async lostBody(): Promise<void> {
    const { cluster, callers, soak } = this.parts;
    const offset = await withLog(cluster, async (log) =>
      log.append(storedEntry(`entries/lost-${soak.random.bits()}`), await beginningOf(log)),
    );
    await pace(BEHIND_MS);
    for (let at = 0; at < RECALLS_BESIDE; at += 1) {
      const node = soak.random.one(cluster.nodes);
      const history = { itemIds: ['1', '2', '3'] };
      await callers
        .recall(node, undefined, { history, requireHistory: false })
        .catch((thrown: unknown) => {
          soak.fault(`recall at ${node} beside a lost body: ${codeOf(thrown)}`);
        });
    }
    const said = await cluster.commandBeside('node-1', 'log', 'refuse', String(offset));
    if (!said.includes('refuses')) soak.fault(`log refuse: ${said}`);
  }
}
