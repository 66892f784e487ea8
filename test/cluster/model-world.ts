/**
 * Three nodes of a model over a simulated clock: processes hang and end, links and disks fail,
 * stores hang or refuse one user, callers give up, and the log goes back. A seed draws all of it,
 * and the same seed comes to the same end.
 */

import { TesseraError } from '@tessera/errors';
import { entryBytes, type LogEntry } from '@tessera/log';
import {
  MemoryEntryStore,
  MemoryLogState,
  ModelDisk,
  ModelNode,
  type NodeClock,
  SimulatedClock,
  seededRandom,
} from '@tessera/testing';

const NAMES = ['a', 'b', 'c'] as const;
const LEASE_MS = 3000;
const STEPS = 40;
const STEP_MS = 1500;
/** Milliseconds for which calls wait at most. */
const CALL_MS = 9000;
/** Milliseconds after which everything that was held up has come to its end. */
const MENDED_MS = 120_000;
const STORES = ['behaviours', 'records', 'pool'] as const;

/** A node's disk, and the process over it. */
interface Seat {
  readonly name: string;
  readonly disk: ModelDisk;
  readonly store: MemoryEntryStore;
  clock: NodeClock;
  node: ModelNode | undefined;
  isHung: boolean;
}

/** A change that was asked for. */
interface Asked {
  readonly word: string;
  readonly begunMs: number;
  endedMs: number;
  outcome: string;
}

/** An older copy of the log. */
interface Copy {
  readonly entries: LogEntry[];
  readonly first: number;
}

export interface WorldOutcome {
  readonly seed: number;
  readonly faults: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
}

/** Runs the world of a seed to its end. */
export async function runWorld(seed: number): Promise<WorldOutcome> {
  const world = new World(seededRandom(seed));
  await world.run();
  return { seed, faults: [...world.faults], counts: Object.fromEntries(world.counts) };
}

class World {
  readonly faults = new Set<string>();
  readonly counts = new Map<string, number>();
  private readonly clock = new SimulatedClock();
  private readonly log = new MemoryLogState(this.clock);
  private readonly seats: Seat[];
  private readonly asked: Asked[] = [];
  private readonly erased = new Set<string>();
  private readonly refusals = new Map<string, string>();
  private copy: Copy | undefined;
  private newer: Copy | undefined;
  /** Entries that no node can apply, and that nobody has refused yet. */
  private readonly lost = new Set<number>();
  private made = 0;

  constructor(private readonly draw: () => number) {
    this.log.identity = 'log-1';
    const contents = new Map<string, Uint8Array>();
    this.seats = NAMES.map((name) => ({
      name,
      disk: new ModelDisk(),
      store: new MemoryEntryStore(contents),
      clock: this.clock.ofNode(),
      node: undefined,
      isHung: false,
    }));
  }

  async run(): Promise<void> {
    for (const seat of this.seats) await this.start(seat);
    await this.clock.pass(STEP_MS);
    for (let step = 0; step < STEPS; step += 1) {
      this.step();
      await this.clock.pass(this.below(STEP_MS));
      this.checkCurrent();
    }
    await this.mend();
    await this.checkEnd();
    for (const { node } of this.seats) if (node !== undefined) await this.clock.until(node.close());
  }

  private step(): void {
    const seat = this.seats[this.below(this.seats.length)] as Seat;
    const acts: readonly (() => void)[] = [
      ...Array.from({ length: 6 }, () => () => this.change(seat)),
      () => this.erase(seat),
      () => this.erase(seat),
      () => this.hang(seat),
      () => this.cut(seat),
      () => this.fill(seat),
      () => this.hangStore(seat),
      () => this.refuseUser(seat),
      () => this.restart(seat),
      () => this.loseBody(),
      () => this.goBack(),
    ];
    (acts[this.below(acts.length)] as () => void)();
  }

  private below(count: number): number {
    return Math.floor(this.draw() * count);
  }

  private count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  private async start(seat: Seat): Promise<void> {
    const { name: node, disk, store, clock } = seat;
    const own = { node, disk, store, clock, leaseMs: LEASE_MS };
    const started = await ModelNode.opened(this.log, own);
    seat.node = started;
    await this.clock.until(served(started));
  }

  private change({ node, isHung }: Seat): void {
    if (node === undefined || isHung) return;
    this.made += 1;
    const one: Asked = {
      word: `w${this.made}`,
      begunMs: this.clock.nowMs(),
      endedMs: Number.POSITIVE_INFINITY,
      outcome: '',
    };
    this.asked.push(one);
    const given = new AbortController();
    const act = { kind: 'add', body: { word: one.word } };
    const end = (outcome: string) => {
      if (one.outcome !== '') return;
      one.outcome = outcome;
      one.endedMs = this.clock.nowMs();
      this.count(outcome);
      this.checkCurrent();
    };
    const { submissions } = node;
    submissions.submit(act, { signal: given.signal }).then(
      () => end('acknowledged'),
      (thrown: unknown) => end(TesseraError.from(thrown).code),
    );
    // The caller's own clock: its node may hang.
    void this.clock.pause(this.below(CALL_MS)).then(() => {
      end('given up');
      given.abort();
    });
  }

  private erase(seat: Seat, user = `u${this.below(5)}`): void {
    const { node, isHung } = seat;
    if (node === undefined || isHung) return;
    const before = this.log.end;
    node.erase(user).then(
      () => this.checkErased(user, before),
      (thrown: unknown) => this.count(`erasure ${TesseraError.from(thrown).code}`),
    );
  }

  private hang(seat: Seat): void {
    if (seat.isHung) return;
    seat.isHung = true;
    seat.clock.hang();
    void this.clock.pause(this.below(12_000)).then(() => this.goOn(seat));
  }

  private goOn(seat: Seat): void {
    seat.isHung = false;
    seat.clock.goOn();
  }

  private cut({ node }: Seat): void {
    if (node === undefined) return;
    node.log.away = true;
    void this.clock.pause(this.below(12_000)).then(() => {
      node.log.away = false;
    });
  }

  private fill({ disk }: Seat): void {
    disk.failing = new TesseraError('STORE_FULL', 'the disk is full');
    void this.clock.pause(this.below(8000)).then(() => {
      disk.failing = undefined;
    });
  }

  private hangStore({ disk }: Seat): void {
    const store = STORES[this.below(STORES.length)] as string;
    const one = this.below(2) === 0 ? store : `${store} u${this.below(5)}`;
    disk.hanging.add(one);
    void this.clock.pause(this.below(40_000)).then(() => {
      disk.hanging.delete(one);
      const { release } = disk;
      disk.release = () => undefined;
      release();
    });
  }

  private refuseUser({ name, disk }: Seat): void {
    const one = `${STORES[this.below(STORES.length)]} u${this.below(5)}`;
    disk.refusing.add(one);
    this.refusals.set(`${name} ${one}`, one);
  }

  private restart(seat: Seat): void {
    const { node } = seat;
    if (node === undefined || seat.isHung) return;
    seat.node = undefined;
    void node.close().then(async () => {
      await this.clock.pause(this.below(6000));
      const { name, disk, store, clock } = seat;
      const own = { node: name, disk, store, clock, leaseMs: LEASE_MS };
      const next = await ModelNode.opened(this.log, own);
      seat.node = next;
      await served(next);
    });
  }

  /** An entry that no node can apply, until a person refuses it. */
  private loseBody(): void {
    if (this.newer !== undefined) return;
    const after = { offset: 0, chain: this.log.identity };
    const offset = this.log.end + 1;
    const head = { key: `lost ${offset}`, node: 'x', kind: 'add' };
    this.log.append(entryBytes(head, '', after, 'entries/gone'));
    this.lost.add(offset);
    void this.clock.pause(this.below(9000)).then(() => {
      if (this.newer === undefined) this.refuseLost();
    });
  }

  private refuseLost(): void {
    const after = { offset: 0, chain: this.log.identity };
    for (const offset of this.lost) {
      const refusal = { key: `refuse ${offset}`, node: 'x', kind: 'refuse' };
      this.log.append(entryBytes(refusal, JSON.stringify({ offset }), after));
    }
    this.lost.clear();
  }

  /** The log is put back to a copy, once; a person restores the newer one a while later. */
  private goBack(): void {
    const own = () => ({ entries: [...this.log.entries], first: this.log.first });
    if (this.copy === undefined) {
      this.copy = own();
      return;
    }
    const lost = this.log.entries
      .slice(this.copy.entries.length)
      .map(({ bytes }) => String(Buffer.from(bytes)));
    const isLost = ({ word, outcome }: Asked) =>
      outcome === 'acknowledged' && lost.some((text) => text.endsWith(`{"word":"${word}"}`));
    // Entries that nobody was told of are lost to nobody.
    if (this.newer !== undefined || !this.asked.some(isLost)) return;
    this.count('log went back');
    this.newer = own();
    this.put(this.copy);
  }

  private put({ entries, first }: Copy): void {
    this.log.entries = [...entries];
    this.log.first = first;
    this.log.digests.clear();
    this.log.wake();
  }

  /** A node that others wait for has all that was acknowledged. */
  private checkCurrent(): void {
    const acknowledged = this.asked.filter(({ outcome }) => outcome === 'acknowledged');
    for (const { name, node, disk, isHung } of this.seats) {
      if (node === undefined || isHung || node.life.state !== 'serving') continue;
      if (!node.publication.lease.holds(node.follower.offset)) continue;
      const lost = acknowledged.filter(({ word }) => !disk.words.includes(word));
      if (lost.length > 0) this.faults.add(`${name} is current without ${lost[0]?.word}`);
    }
  }

  private checkErased(user: string, before: number): void {
    this.count('erased');
    this.erased.add(user);
    for (const { name, node, isHung } of this.seats) {
      if (node === undefined || isHung || node.life.state !== 'serving') continue;
      if (!node.publication.lease.holds(node.follower.offset)) continue;
      if (node.follower.offset <= before) this.faults.add(`${name} has yet to hear of ${user}`);
    }
  }

  /** Everything is well again, and a person has done what nodes wait for. */
  private async mend(): Promise<void> {
    await this.clock.pass(20_000);
    if (this.newer !== undefined) {
      const lost = this.newer.entries.length - this.log.entries.length;
      const isSame =
        lost >= 0 &&
        this.log.entries.every((one, at) => one.chain === this.newer?.entries[at]?.chain);
      if (!isSame) this.faults.add('entries were appended to a log that went back');
      if (isSame) this.put(this.newer);
    }
    this.refuseLost();
    await this.clock.pass(20_000);
    for (const seat of this.seats) {
      this.goOn(seat);
      seat.disk.failing = undefined;
      seat.disk.hanging.clear();
      seat.disk.release();
      seat.disk.refusing.clear();
      if (seat.node !== undefined) seat.node.log.away = false;
    }
    await this.clock.pass(MENDED_MS);
    for (const seat of this.seats) {
      if (seat.node?.life.state === 'serving') continue;
      if (seat.node !== undefined) await this.clock.until(seat.node.close());
      await this.start(seat);
    }
    await this.clock.pass(MENDED_MS);
  }

  private async checkEnd(): Promise<void> {
    const [first] = this.seats as [Seat];
    const { words } = first.disk;
    for (const { name, node, disk } of this.seats) {
      if (node?.life.state !== 'serving')
        this.faults.add(`${name} is ${node?.life.state} at the end: ${node?.life.fault?.message}`);
      if (disk.words.join() !== words.join()) this.faults.add(`${name} differs from a`);
      if (node?.erasures.condition().state !== 'ok') this.faults.add(`${name}: erasures are left`);
    }
    this.checkOrder(words);
    const last = first.node?.submissions.submit({ kind: 'add', body: { word: 'last' } });
    const isTaken = await this.clock.until(
      Promise.resolve(last).then(
        () => true,
        () => false,
      ),
    );
    if (!isTaken) this.faults.add('no change is taken at the end');
    for (let user = 0; user < 5; user += 1) {
      const erased = first.node?.erase(`u${user}`) ?? Promise.reject(new Error());
      const isDone = await this.clock.until(
        erased.then(
          () => true,
          () => false,
        ),
      );
      if (!isDone) this.faults.add(`u${user} is not erased at the end`);
    }
  }

  private checkOrder(words: readonly string[]): void {
    const placeOf = new Map(words.map((word, at) => [word, at]));
    if (placeOf.size < words.length) this.faults.add('a word is there twice');
    const acknowledged = this.asked.filter(({ outcome }) => outcome === 'acknowledged');
    for (const { word, outcome, endedMs } of this.asked) {
      const place = placeOf.get(word);
      if (outcome === 'acknowledged' && place === undefined) this.faults.add(`${word} is lost`);
      if (outcome === 'OPERATION_BUSY' && place !== undefined)
        this.faults.add(`${word} was refused`);
      if (outcome === 'acknowledged' || place === undefined) continue;
      // Nothing that was asked for after a caller gave up, and was acknowledged, is before it.
      const undone = acknowledged.find(
        (one) => one.begunMs > endedMs && (placeOf.get(one.word) as number) < place,
      );
      if (undone !== undefined) this.faults.add(`${word}, given up, is behind ${undone.word}`);
    }
  }
}

/** Resolves when the process serves, or has found that it must not. */
async function served(node: ModelNode): Promise<void> {
  try {
    await node.catchUp();
    await node.serve();
  } catch {
    // Its fault is seen at the end, where it lasts.
  }
}
