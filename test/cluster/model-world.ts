/**
 * Three nodes of a model over a simulated clock: processes hang and end, links and disks fail,
 * stores hang, are full or lose files, callers give up, and the log goes back. A seed draws all of
 * it, and the same seed comes to the same end.
 */

import { WAIT_FOR, type WaitFor } from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';
import { MemoryLogState, SimulatedClock, seededRandom } from '@tessera/testing';
import type { Kind } from '../soak/soak.js';
import { type Change, Ledger } from './world-ledger.js';
import { LogFaults } from './world-log.js';
import { KEYS_KEPT, Seat, SNAPSHOT_ENTRIES } from './world-seat.js';
import { STORES } from './world-store.js';

const NAMES = ['a', 'b', 'c'] as const;
const USERS = ['u0', 'u1', 'u2', 'u3', 'u4'] as const;
const STEPS = 40;
const STEP_MS = 1500;
/** Milliseconds for which calls wait at most. */
const CALL_MS = 9000;
/** Milliseconds after which nobody waits for an erasure. */
const ERASE_MS = 35_000;
const HEARTBEAT_MS = 800;
/** Milliseconds for which a node hangs, its lease being longer. */
const BESIDE_MS = 1200;
/** Milliseconds after which everything that was held up has come to its end. */
const MENDED_MS = 180_000;
const LOOK_MS = 1500;
/** Changes at the end, for which snapshots are made and entries go. */
const LAST_CHANGES = 3 * SNAPSHOT_ENTRIES;
/** Entries that are there at most when all is well: two snapshots, late ones, and the window. */
const ENTRIES_MAX = KEYS_KEPT + 5 * SNAPSHOT_ENTRIES;

export const worlds: Kind = {
  usage: `
  A world of three nodes of a model over a simulated clock, by a seed of its own: processes hang
  and end, links, disks and stores fail, callers give up, the log goes back. Faults: an
  acknowledged change is lost, a refused one applied, an erasure not done, two nodes differ, or
  the log is not trimmed.`,
  rounds: 1000,
  start: async (soak) => ({
    async round() {
      const seed = soak.seed + soak.round - 1;
      const { faults, counts } = await runWorld(seed);
      for (const [what, by] of counts) soak.count(what, by);
      for (const fault of faults) soak.fault(`seed ${seed}: ${fault}`);
    },
    async close() {},
  }),
};

/** Runs the world of a seed to its end. */
export function runWorld(seed: number): Promise<Ledger> {
  return new ModelWorld(seededRandom(seed)).run();
}

class ModelWorld {
  private readonly clock = new SimulatedClock();
  private readonly log = new MemoryLogState(this.clock, HEARTBEAT_MS);
  private readonly contents = new Map<string, Uint8Array>();
  private readonly seats: readonly Seat[];
  private readonly ledger: Ledger;
  private readonly faults: LogFaults;
  /** When stores that had failed were well again. */
  private readonly wellMs = new Map<Seat['store'], number>();
  private made = 0;
  /** Links and callers are as they should be: before the first fault, and behind the last one. */
  private isCalm = true;

  constructor(private readonly draw: () => number) {
    const { clock, log, contents } = this;
    const count = (what: string) => this.ledger.count(what);
    const onStart = (code: string) => this.ledger.noteCode('no start', code);
    const shared = { clock, log, contents, count, onStart, onItsWay: () => this.onItsWay() };
    this.seats = NAMES.map((name) => new Seat(name, shared));
    this.ledger = new Ledger(this.seats);
    const later = (belowMs: number, act: () => void) => this.later(belowMs, act);
    const below = (count: number) => this.below(count);
    this.faults = new LogFaults({
      clock,
      log,
      contents,
      seats: this.seats,
      ledger: this.ledger,
      later,
      below,
    });
  }

  async run(): Promise<Ledger> {
    for (const seat of this.seats) {
      seat.start();
      await this.clock.pass(STEP_MS);
    }
    this.isCalm = false;
    for (let step = 0; step < STEPS; step += 1) {
      this.step();
      await this.clock.pass(this.below(STEP_MS));
      this.ledger.checkCurrent();
    }
    await this.mend();
    await this.end();
    for (const seat of this.seats) seat.kill();
    return this.ledger;
  }

  private step(): void {
    const seat = this.seats[this.below(this.seats.length)] as Seat;
    const acts: readonly (() => void)[] = [
      ...Array.from({ length: 8 }, () => () => this.change(seat)),
      () => this.erase(seat),
      () => this.erase(seat),
      () => this.feed(seat),
      () => this.feed(seat),
      () => this.hang(seat),
      () => this.cut(seat),
      () => this.fill(seat),
      () => this.hangUsers(seat),
      () => this.refuseUser(seat),
      () => this.restart(seat),
      () => this.leave(seat),
      () => this.failStore(seat),
      () => this.refuseSnapshots(seat),
      () => this.loseFile(),
      () => this.faults.loseBody(),
      () => this.faults.goBack(),
      () => this.goBackBesideHeld(seat),
    ];
    (acts[this.below(acts.length)] as () => void)();
  }

  private below(count: number): number {
    return Math.floor(this.draw() * count);
  }

  private get user(): string {
    return USERS[this.below(USERS.length)] as string;
  }

  /** After a while of less than so many milliseconds. */
  private later(belowMs: number, act: () => void): void {
    void this.clock.pause(this.below(belowMs)).then(act);
  }

  /** Most appends are there at once; some come late, and some answers are lost. */
  private async onItsWay(): Promise<boolean> {
    if (this.isCalm || this.below(4) > 0) return true;
    await this.clock.pause(this.below(CALL_MS));
    return this.below(2) > 0;
  }

  private change(seat: Seat, waitFor = WAIT_FOR[this.below(WAIT_FOR.length)] as WaitFor): void {
    if (seat.serving === undefined) return;
    this.made += 1;
    const begunMs = this.clock.nowMs();
    const word = `w${this.made}`;
    const endedMs = Number.POSITIVE_INFINITY;
    const one: Change = { word, waitFor, begunMs, endedMs, outcome: '' };
    this.ledger.asked.push(one);
    void this.ask(one, seat, this.log.end);
  }

  /** Asks a node, and once more where the answer leaves the caller in doubt. */
  private async ask(one: Change, first: Seat, end: number): Promise<void> {
    const outcome = await this.asked(one, first);
    const next = this.seats[this.below(this.seats.length)] as Seat;
    // A key is known for so many entries.
    const isKnown = this.log.end - end < KEYS_KEPT / 2;
    const isAgain = outcome !== 'acknowledged' && isKnown && this.below(2) === 0;
    const last = isAgain ? await this.asked(one, next) : outcome;
    this.ledger.noteEnd(one, last, this.clock.nowMs());
  }

  /** Resolves with what a caller is told within their own time: the node may hang. */
  private asked(
    { word, waitFor }: Pick<Change, 'word' | 'waitFor'>,
    { serving }: Seat,
    waitMs = this.below(CALL_MS),
  ): Promise<string> {
    if (serving === undefined) return Promise.resolve('nobody there');
    const given = new AbortController();
    const act = { kind: 'add', body: { word } };
    const answer = serving.submit(act, { signal: given.signal, key: word, waitFor }).then(
      () => 'acknowledged',
      (thrown: unknown) => TesseraError.from(thrown).code as string,
    );
    const over = this.clock.pause(waitMs).then(() => {
      given.abort();
      return 'given up';
    });
    return Promise.race([answer, over]);
  }

  private erase({ serving }: Seat, user = this.user): void {
    if (serving === undefined) return;
    const begunMs = this.clock.nowMs();
    let isOver = false;
    const end = (act: () => void) => {
      if (!isOver) act();
      isOver = true;
    };
    const erasure = { userId: user, withBehaviours: true, withRecords: true };
    serving.erase(erasure).then(
      () => end(() => this.ledger.noteErased(user, begunMs)),
      (thrown: unknown) =>
        end(() => this.ledger.noteCode('erasure', TesseraError.from(thrown).code)),
    );
    void this.clock.pause(ERASE_MS).then(() => end(() => this.ledger.count('erasure given up')));
  }

  /** Something of a user comes to a node. */
  private feed({ serving, disk }: Seat): void {
    const { user } = this;
    if (!serving?.isCurrent || serving.erasures.isPending(user)) return;
    for (const store of STORES) disk.users.set(`${store} ${user}`, this.clock.nowMs());
  }

  private hang(seat: Seat): void {
    if (seat.isHung) return;
    seat.hang();
    this.later(12_000, () => seat.goOn());
  }

  private cut(seat: Seat): void {
    seat.cut(true);
    this.later(12_000, () => seat.cut(false));
  }

  private fill({ disk }: Seat): void {
    disk.failing = new TesseraError('STORE_FULL', 'the disk is full');
    this.later(8000, () => {
      disk.failing = undefined;
    });
  }

  private hangUsers({ disk }: Seat): void {
    const store = STORES[this.below(STORES.length)] as string;
    const one = this.below(2) === 0 ? store : `${store} ${this.user}`;
    disk.hanging.add(one);
    this.later(40_000, () => {
      disk.hanging.delete(one);
      disk.release();
    });
  }

  private refuseUser({ disk }: Seat): void {
    disk.refusing.add(`${STORES[this.below(STORES.length)]} ${this.user}`);
  }

  /** Ends a node that has erasures to do, where there is one, and starts it again. */
  private restart(any: Seat): void {
    const isBusy = ({ serving }: Seat) =>
      USERS.some((user) => serving?.erasures.isPending(user) === true);
    const seat = this.seats.find(isBusy) ?? any;
    if (this.below(2) === 0) seat.kill();
    void seat.stop().then(() => this.later(6000, () => seat.start()));
  }

  /** Away until the others have made snapshots. */
  private leave(seat: Seat): void {
    seat.kill();
    this.later(60_000, () => seat.start());
  }

  private failStore({ store }: Seat): void {
    if (this.below(2) === 0) store.isAway = true;
    else store.isHung = true;
    this.later(12_000, () => {
      store.isAway = false;
      store.isHung = false;
      store.release();
      this.wellMs.set(store, this.clock.nowMs());
    });
  }

  /** True if the node knows that its store answers. */
  private hasStore({ store }: Seat): boolean {
    const wellMs = this.clock.nowMs() - (this.wellMs.get(store) ?? Number.NEGATIVE_INFINITY);
    return !store.isAway && !store.isHung && wellMs > 2 * HEARTBEAT_MS;
  }

  /** One node makes no snapshots any more: another one has to. */
  private refuseSnapshots({ store }: Seat): void {
    if (this.seats.some((seat) => seat.store.snapshots !== '')) return;
    store.snapshots = this.below(2) === 0 ? 'full' : 'hung';
  }

  private loseFile(): void {
    const names = [...this.contents.keys()].filter((name) => /^(files|snapshots)\//.test(name));
    const name = names[this.below(names.length)];
    if (name !== undefined) this.contents.delete(name);
  }

  /**
   * The log goes back over a change that a node has not seen, as it hung for less than its lease,
   * and the nodes that have seen it cannot say so: only the store beside the log can.
   */
  private goBackBesideHeld(late: Seat): void {
    if (this.faults.hasGoneBack || late.serving === undefined || !this.hasStore(late)) return;
    const others = this.seats.filter((seat) => seat !== late);
    this.faults.copy();
    late.hang();
    this.change(others[this.below(others.length)] as Seat, 'applied-here');
    void this.clock.pause(BESIDE_MS).then(() => {
      if (this.hasStore(late)) this.faults.goBack();
      for (const seat of others) this.cut(seat);
      late.goOn();
      this.change(late, 'applied-here');
    });
  }

  /** Everything is well again, and a person has done what nodes wait for. */
  private async mend(): Promise<void> {
    this.isCalm = true;
    await this.clock.pass(STEP_MS);
    this.faults.mend();
    for (const seat of this.seats) {
      const { disk, store } = seat;
      seat.goOn();
      seat.cut(false);
      disk.failing = undefined;
      disk.hanging.clear();
      disk.refusing.clear();
      disk.release();
      Object.assign(store, { isAway: false, isHung: false });
      store.release();
    }
    await this.clock.pass(CALL_MS);
    this.faults.refuseLost();
    await this.untilWell();
  }

  /** A person restarts nodes that do not come back by themselves. */
  private async untilWell(): Promise<void> {
    const endMs = this.clock.nowMs() + MENDED_MS;
    for (let look = 1; this.clock.nowMs() < endMs && !this.isWell(); look += 1) {
      await this.clock.pass(LOOK_MS);
      if (look % 8 > 0) continue;
      for (const seat of this.seats) {
        const { node } = seat;
        if (node?.state === 'serving' && !node.said.isStopped) continue;
        // It may need the snapshot of the one node that has what it lacks.
        for (const { store } of this.seats) store.takeSnapshots();
        await seat.stop();
        seat.start();
      }
    }
  }

  private isWell(): boolean {
    return this.seats.every(
      ({ node }) =>
        node?.isCurrent === true &&
        node.progress.offset === this.log.end &&
        node.erasures.condition().state === 'ok',
    );
  }

  /** Changes and erasures are taken, and the log does not grow. */
  private async end(): Promise<void> {
    const [first] = this.seats as [Seat];
    // Later erasures of the same users would hide one that was missed.
    this.ledger.checkUsers();
    for (let change = 0; change < LAST_CHANGES; change += 1) {
      const last = { word: `last ${change}`, waitFor: 'applied-everywhere' } as const;
      const given = await this.clock.until(this.asked(last, first, CALL_MS));
      if (given !== 'acknowledged') this.ledger.faults.add(`a change at the end: ${given}`);
      await this.clock.pass(LOOK_MS / 2);
    }
    for (const user of USERS) this.erase(first, user);
    await this.clock.pass(LOOK_MS);
    await this.untilWell();
    this.ledger.checkEnd();
    const { first: oldest, end } = this.log;
    if (oldest > 1) this.ledger.count('log trimmed');
    if (end - oldest + 1 > ENTRIES_MAX)
      this.ledger.faults.add(`the log has entries ${oldest} to ${end}`);
    for (const user of USERS) {
      const isGone = STORES.every((store) => !first.disk.users.has(`${store} ${user}`));
      if (!isGone) this.ledger.faults.add(`${user} is not erased at the end`);
    }
  }
}
