/** Ledger of a simulated world: requests, their answers, and the invariants over both. */

import type { WaitFor } from '@tessera/contracts';
import { KEYS_KEPT, type Seat } from './world-seat.js';
import { STORES } from './world-store.js';

/** A change that was asked for, under one key. */
export interface Change {
  readonly word: string;
  readonly waitFor: WaitFor;
  readonly begunMs: number;
  /** When its caller heard the last of it. */
  endedMs: number;
  /** '': its caller waits. */
  outcome: string;
}

/** An erasure that was acknowledged. */
interface Erased {
  readonly user: string;
  readonly begunMs: number;
}

/** Codes that say that the product is at fault, whatever happens around it. */
const NEVER: ReadonlySet<string> = new Set(['INTERNAL', 'REQUEST_INVALID']);

const wordOf = (kept: string) => kept.slice(0, kept.indexOf('@'));
const wordsOf = ({ disk }: Seat) => disk.words.map(wordOf);

export class Ledger {
  readonly faults = new Set<string>();
  readonly counts = new Map<string, number>();
  readonly asked: Change[] = [];
  readonly erased: Erased[] = [];
  private anewMs = 0;

  constructor(private readonly seats: readonly Seat[]) {}

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  get acknowledged(): readonly Change[] {
    return this.asked.filter(({ outcome }) => outcome === 'acknowledged');
  }

  acknowledgedAt(seat: Seat): readonly Change[] {
    const own = new Set(wordsOf(seat));
    return this.acknowledged.filter(({ word }) => own.has(word));
  }

  /** The caller of a change has heard its result, or has gone. */
  noteEnd(one: Change, outcome: string, nowMs: number): void {
    one.outcome = outcome;
    one.endedMs = nowMs;
    this.noteCode('change', outcome);
    if (outcome === 'acknowledged') this.checkCurrent();
  }

  noteCode(what: string, code: string): void {
    this.count(`${what} ${code}`);
    if (NEVER.has(code)) this.faults.add(`${what}: ${code}`);
  }

  noteErased(user: string, begunMs: number): void {
    this.count('erased');
    if (begunMs < this.anewMs) return;
    this.erased.push({ user, begunMs });
    for (const seat of this.seats) {
      if (!seat.serving?.isCurrent) continue;
      this.checkErased(seat);
      // Acknowledged: gone, also where it is still noted as open.
      const isKept = STORES.some((store) => {
        const atMs = seat.disk.users.get(`${store} ${user}`);
        return atMs !== undefined && atMs < begunMs;
      });
      if (isKept) this.faults.add(`${seat.name} has ${user} when told to have nothing`);
    }
  }

  /** A node that others wait for has all that is said to be everywhere; an offset has one state. */
  checkCurrent(): void {
    const everywhere = this.acknowledged.filter(({ waitFor }) => waitFor === 'applied-everywhere');
    const states = new Map<string, string>();
    for (const seat of this.seats) {
      const { name, serving, position, disk } = seat;
      if (serving === undefined) continue;
      const place = `${position?.log} ${position?.offset}`;
      const words = disk.words.join();
      const isOther = (states.get(place) ?? words) !== words;
      if (isOther && !this.mayDiffer) this.faults.add(`two states up at ${place}`);
      states.set(place, words);
      if (!serving.isCurrent) continue;
      const own = new Set(wordsOf(seat));
      const lost = everywhere.find(({ word }) => !own.has(word));
      if (lost !== undefined) this.faults.add(`${name} is current without ${lost.word}`);
    }
  }

  /** A log that is begun anew names nobody who was erased before: a person erases them again. */
  noteBegunAnew(nowMs: number): void {
    this.count('log begun anew');
    this.anewMs = nowMs;
    this.erased.length = 0;
  }

  /** Users whose erasure was acknowledged are gone, or not read. */
  checkUsers(): void {
    for (const seat of this.seats) this.checkErased(seat);
  }

  /** At the end: nothing acknowledged is lost, and erased users are gone. */
  checkEnd(): void {
    const [first] = this.seats as [Seat];
    for (const seat of this.seats) {
      const { name, node, disk } = seat;
      if (node?.state !== 'serving') this.faults.add(`${name} is ${node?.state} at the end`);
      if (disk.words.join() !== first.disk.words.join()) this.faults.add(`${name} differs from a`);
      if (node?.erasures.condition().state !== 'ok') this.faults.add(`${name}: erasures are left`);
    }
    const isSplit = [...this.counts.keys()].some((what) => what.endsWith('STATE_DIFFERENT'));
    if (isSplit && !this.mayDiffer) this.faults.add('a state is another one');
    this.checkUsers();
    this.checkOrder(first.disk.words);
  }

  /** A node with a body in its memory applies an entry that others refuse, and begins anew. */
  private get mayDiffer(): boolean {
    return this.counts.has('entry refused');
  }

  private checkErased({ name, disk, node }: Seat): void {
    for (const { user, begunMs } of this.erased) {
      // Nothing of them is read while their erasure is to be done.
      if (node?.erasures.isPending(user)) continue;
      for (const store of STORES) {
        const atMs = disk.users.get(`${store} ${user}`) ?? begunMs;
        if (atMs < begunMs) this.faults.add(`${name} has ${user} in ${store}, erased since`);
      }
    }
  }

  private checkOrder(kept: readonly string[]): void {
    const words = kept.map(wordOf);
    const placeOf = new Map(words.map((word, at) => [word, at]));
    const lastOf = new Map<string, number>();
    for (const one of kept) {
      const [word, offset] = [wordOf(one), Number(one.slice(one.indexOf('@') + 1))];
      // A key is known for so many entries; an append that was late may come behind them.
      const before = lastOf.get(word) ?? Number.NEGATIVE_INFINITY;
      if (offset - before <= KEYS_KEPT) this.faults.add(`${word} is there twice`);
      lastOf.set(word, offset);
    }
    const { acknowledged } = this;
    for (const { word, waitFor, begunMs, outcome, endedMs } of this.asked) {
      const place = placeOf.get(word);
      // A log that is begun anew has what nodes have applied.
      const mayBeLost = waitFor === 'appended' && begunMs < this.anewMs;
      const isLost = outcome === 'acknowledged' && place === undefined;
      if (isLost && !mayBeLost) this.faults.add(`${word} is lost`);
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
