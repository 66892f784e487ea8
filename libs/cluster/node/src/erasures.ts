import type { PendingErasure, PendingErasures } from '@tessera/erasure';
import { TesseraError } from '@tessera/errors';
import type { ConditionReading, Readiness } from '@tessera/lifecycle';
import type { NodePosition } from '@tessera/log';
import { Lane, Limit, unless } from '@tessera/turns';
import { ERASE, erasureOf, GIVE_UP } from './domain/erasure.js';
import { mayPass, type StatePart } from './domain/replicated-state.js';
import type { Running, Work } from './work.js';

/** Result of an erasure on one node. */
export interface Erased {
  /** Behaviours or a profile were there, or may have been. */
  readonly known: boolean;
  /** Recorded recalls that went. */
  readonly recalls: number;
}

/** A store that keeps something of users, and answers when it can. */
export interface EventualPart {
  readonly name: string;
  /** Rejects where it is to be tried again. */
  erase(erasure: PendingErasure): Promise<Partial<Erased>>;
}

/** Stores of a node that keep something of users. */
export interface EventualParts {
  readonly behaviours: EventualPart;
  readonly records: EventualPart;
  /** Prompts, keys and values, in this process and in the store that nodes share. */
  readonly pool: EventualPart;
}

export type PartName = keyof EventualParts;

/** Members of a pending erasure that say which parts are left to be done. */
const LEFT = { behaviours: 'withBehaviours', records: 'withRecords', pool: 'withPool' } as const;
export const PART_NAMES = Object.keys(LEFT) as readonly PartName[];

/** Milliseconds of one attempt in one store. */
const PART_MS = 10_000;
/** Erasures that have failed and are tried again at once; the others wait. */
const RETRIES_AT_ONCE = 8;
/** Offsets that are published one by one; with more than these all later ones count as open. */
const OPEN_MAX = 64;
const OUTCOMES_KEPT = 1024;
/** Milliseconds after which an erasure that is under way is worth a word. */
const LONG_MS = 5000;
/** Milliseconds for which a store may fail before the one who asked is told. */
const TOLD_MS = 1000;

export interface NodeErasuresParts {
  readonly pending: Pick<PendingErasures, 'list' | 'has' | 'put' | 'remove'>;
  readonly stores: EventualParts;
  readonly work: Work;
  /** Takes the erasures that a snapshot names, for disks that have not read of them. */
  readonly first?: readonly Omit<PendingErasure, 'withPool'>[];
  /** They are durable elsewhere until then. */
  readonly firstDone?: () => Promise<void>;
  /**
   * Behaviours go before all that is made of them: needed where processes that do not know this
   * list make it anew from what they read.
   */
  readonly isBehavioursFirst?: boolean;
}

/** An erasure under way. */
interface Open {
  erasure: PendingErasure;
  readonly isFirst: boolean;
  /** When it was asked for last. */
  sinceMs: number;
  running: Running | undefined;
  /** Attempts that did not end in time, and may yet. */
  readonly attempts: Map<PartName, Promise<Partial<Erased>>>;
  readonly faults: Map<PartName, TesseraError>;
  hasBeenTried: boolean;
}

/**
 * The erasures that this node has read from the log and has yet to do. The log does not wait for
 * them: an entry is applied once it is in this list, durably. Users are erased beside each other,
 * and each store of a user for itself: one that does not answer holds nothing else. Until a user
 * is gone everywhere on this node, nothing of them is read here, and the one who asked for the
 * erasure is not answered.
 */
export class NodeErasures {
  private readonly outcomes = new Map<number, Erased>();
  private readonly open = new Map<string, Open>();
  /** Erasures of a user that a snapshot names. */
  private readonly firstUsers = new Map<string, number>();
  private readonly retries = new Lane(RETRIES_AT_ONCE);
  private readonly changes = new EventTarget();
  private readonly closing = new AbortController();
  private isStarted = false;
  /** Told when one is done. */
  onDone: () => void = () => undefined;

  constructor(private readonly parts: NodeErasuresParts) {
    for (const one of parts.first ?? []) this.add(Object.assign({ withPool: true }, one), true);
    for (const one of parts.pending.list()) this.add(one, false);
  }

  /** True: nothing that this node keeps of the user may be read or added to. */
  isPending(userId: string): boolean {
    return this.parts.pending.has(userId) || (this.firstUsers.get(userId) ?? 0) > 0;
  }

  /** For the others, where all entries up to `offset` are applied. */
  done(offset: number): Pick<NodePosition, 'erased' | 'open'> {
    const all = [...this.open.values()].map(({ erasure }) => erasure.offset);
    const open = all.filter((one) => one <= offset).sort((a, b) => a - b);
    const next = open[OPEN_MAX];
    return { erased: next === undefined ? offset : next - 1, open: open.slice(0, OPEN_MAX) };
  }

  /** Offset up to which all erasures are done, where all entries up to `offset` are applied. */
  upTo(offset: number): number {
    return Math.min(offset, ...[...this.open.values()].map(({ erasure }) => erasure.offset - 1));
  }

  /** The entries: applied when the list has them. */
  readonly part: StatePart = {
    name: 'erasures',
    kinds: [ERASE, GIVE_UP],
    apply: async ({ kind, body }, { offset, atMs }) => {
      if (kind === GIVE_UP) await this.giveUp(body);
      else {
        const { userId, withBehaviours, withRecords } = erasureOf(body);
        await this.put({ userId, withBehaviours, withRecords, withPool: true, offset, atMs });
      }
      return { value: undefined, isMarked: false };
    },
    digest: async () => '',
  };

  /** Number of an erasure of the user that is not done; undefined: there is none. */
  openOf(userId: string): number | undefined {
    const own = [...this.open.values()].find((one) => one.erasure.userId === userId);
    return own?.erasure.offset;
  }

  /** Durable when it resolves. One of the same user and offset is done again from its beginning. */
  async put(erasure: PendingErasure): Promise<void> {
    await this.parts.pending.put(erasure);
    const before = this.open.get(keyOf(erasure));
    if (before === undefined) {
      this.add(erasure, false);
      return;
    }
    before.erasure = erasure;
    before.sinceMs = this.parts.work.clock.nowMs();
    before.attempts.clear();
    before.running?.wake();
  }

  /** Goes on with what an earlier process left. */
  start(): void {
    this.isStarted = true;
    for (const one of this.open.values()) this.begin(one);
  }

  /**
   * Resolves when the erasure of the offset is done here. Rejects with STORE_UNAVAILABLE where a
   * store fails for a second, and with DEADLINE_EXCEEDED where the signal is aborted; it goes on.
   */
  async outcome(offset: number, signal: AbortSignal): Promise<Erased> {
    const own = () => [...this.open.values()].find((one) => isOf(one, offset));
    await this.until(signal, () => {
      const one = own();
      return one === undefined || this.hasFailed(one);
    });
    const left = own();
    if (left !== undefined) throw late(left, signal);
    // The process that knew has ended: something may have been there.
    return this.outcomes.get(offset) ?? { known: true, recalls: 0 };
  }

  /** Resolves when each that is in the list has been tried, or the time is over. */
  async tried(withinMs: number): Promise<void> {
    const limit = new Limit(this.parts.work.clock, withinMs);
    const all = [...this.open.values()];
    await this.until(limit.signal, () =>
      all.every((one) => one.hasBeenTried || !this.open.has(keyOf(one.erasure))),
    );
    limit.end();
  }

  showIn({ conditions }: Readiness): void {
    const of = (name: string, read: () => ConditionReading) =>
      conditions.add({ name, kind: 'dependency', isNeeded: false, read });
    of('erasures', () => this.condition());
    of('erasures-refused', () => this.lasting());
  }

  /** Condition of the process: a store that is away delays erasures and nothing else. */
  condition(): ConditionReading {
    const nowMs = this.parts.work.clock.nowMs();
    const all = [...this.open.values()];
    const failed = all.find(({ faults }) => faults.size > 0);
    const oldest = Math.max(0, ...all.map(({ sinceMs }) => nowMs - sinceMs));
    if (failed === undefined && oldest < LONG_MS) return { state: 'ok', reason: '' };
    const [fault] = failed?.faults.values() ?? [];
    const age = `the oldest for ${Math.round(oldest / 1000)} s`;
    const why = fault === undefined ? 'a store has yet to answer' : fault.message;
    return { state: 'degraded', reason: `${all.length} to be done, ${age}: ${why}` };
  }

  /** Errors that do not pass by themselves: a person may give these up. */
  lasting(): ConditionReading {
    for (const { erasure, faults, sinceMs } of this.open.values()) {
      for (const [name, fault] of faults) {
        if (mayPass(fault)) continue;
        const seconds = Math.round((this.parts.work.clock.nowMs() - sinceMs) / 1000);
        const remedy = `npm run log -- give-up ${erasure.offset} ${name}`;
        const what = `erasure ${erasure.offset}, for ${seconds} s: ${fault.message}`;
        return { state: 'degraded', reason: `${what}; to give this store up: ${remedy}` };
      }
    }
    return { state: 'ok', reason: '' };
  }

  async close(): Promise<void> {
    this.closing.abort();
    const running = [...this.open.values()].map((one) => one.running);
    await Promise.all(running.map((one) => this.parts.work.end(one)));
  }

  private add(erasure: PendingErasure, isFirst: boolean): void {
    const { clock } = this.parts.work;
    const one: Open = {
      erasure,
      isFirst,
      sinceMs: clock.nowMs(),
      running: undefined,
      attempts: new Map(),
      faults: new Map(),
      hasBeenTried: false,
    };
    this.open.set(keyOf(erasure), one);
    if (isFirst) this.count(erasure, 1);
    if (this.isStarted) this.begin(one);
  }

  private begin(one: Open): void {
    one.running = this.parts.work.begin({
      name: `the erasure of entry ${one.erasure.offset}`,
      lane: this.retries,
      run: () => this.attempt(one),
    });
  }

  /** Every store is tried, whatever fails. */
  private async attempt(one: Open): Promise<boolean> {
    const left = () => PART_NAMES.filter((name) => one.erasure[LEFT[name]]);
    const isAlone = this.parts.isBehavioursFirst === true && one.erasure.withBehaviours;
    if (isAlone) await this.attemptIn(one, 'behaviours');
    if (!isAlone || !one.erasure.withBehaviours) {
      await Promise.all(left().map((name) => this.attemptIn(one, name)));
    }
    one.hasBeenTried = true;
    this.tell();
    const [fault] = one.faults.values();
    if (fault !== undefined) throw fault;
    const isDone = left().length === 0 && (await this.finish(one));
    // It was asked for once more meanwhile.
    return isDone || this.attempt(one);
  }

  private async attemptIn(one: Open, name: PartName): Promise<void> {
    const { stores, work } = this.parts;
    const limit = new Limit(work.clock, PART_MS);
    // A store that has not answered yet is not asked beside itself.
    const attempt = one.attempts.get(name) ?? stores[name].erase(one.erasure);
    const isCurrent = () => one.attempts.get(name) === attempt && one.erasure[LEFT[name]];
    one.attempts.set(name, attempt);
    attempt.catch(() => undefined);
    try {
      const erased = await unless(limit.signal, attempt);
      if (!isCurrent()) return;
      one.attempts.delete(name);
      this.note(one.erasure.offset, name, erased);
      // Again would take away what the user has done since.
      await this.keep(one, name);
      one.faults.delete(name);
    } catch (thrown) {
      if (isCurrent() || one.erasure[LEFT[name]]) one.faults.set(name, faultOf(name, thrown));
      if (isCurrent() && !limit.signal.aborted) one.attempts.delete(name);
    } finally {
      limit.end();
    }
  }

  /** Nothing is left to do in this store. */
  private async keep(one: Open, name: PartName): Promise<void> {
    const left = withoutStore(one.erasure, name);
    one.erasure = left ?? Object.assign({}, one.erasure, { [LEFT[name]]: false });
    if (!one.isFirst && left !== undefined) await this.parts.pending.put(left);
  }

  /** False where it was asked for once more meanwhile. */
  private async finish(one: Open): Promise<boolean> {
    const { pending, firstDone } = this.parts;
    const { erasure } = one;
    const others = [...this.open.values()].filter((other) => other.isFirst && other !== one);
    if (!one.isFirst) await pending.remove(erasure);
    else if (others.length === 0) await firstDone?.();
    if (one.erasure !== erasure) return false;
    this.open.delete(keyOf(one.erasure));
    if (one.isFirst) this.count(one.erasure, -1);
    this.tell();
    this.onDone();
    return true;
  }

  /** An act of a person: the erasure counts without this store. */
  private async giveUp(body: unknown): Promise<void> {
    const { offset, part } = (body ?? {}) as { readonly offset?: unknown; readonly part?: unknown };
    const name = PART_NAMES.find((known) => known === part);
    if (name === undefined) throw new TesseraError('REQUEST_INVALID', 'expected a store of users');
    for (const one of this.open.values()) {
      if (!isOf(one, offset) || !one.erasure[LEFT[name]]) continue;
      await this.keep(one, name);
      one.faults.delete(name);
      one.attempts.delete(name);
      one.running?.wake();
    }
  }

  private count({ userId }: PendingErasure, more: number): void {
    const left = (this.firstUsers.get(userId) ?? 0) + more;
    if (left > 0) this.firstUsers.set(userId, left);
    else this.firstUsers.delete(userId);
  }

  private note(offset: number, name: PartName, erased: Partial<Erased>): void {
    const { known, recalls } = this.outcomes.get(offset) ?? { known: false, recalls: 0 };
    this.outcomes.set(offset, {
      known: name === 'behaviours' ? (erased.known ?? false) : known,
      recalls: name === 'records' ? (erased.recalls ?? 0) : recalls,
    });
    const [oldest] = this.outcomes.keys();
    if (this.outcomes.size > OUTCOMES_KEPT && oldest !== undefined) this.outcomes.delete(oldest);
  }

  private hasFailed({ faults, sinceMs }: Open): boolean {
    return faults.size > 0 && this.parts.work.clock.nowMs() - sinceMs >= TOLD_MS;
  }

  private tell(): void {
    this.changes.dispatchEvent(new Event('change'));
  }

  /** Resolves when it holds, or the signal is aborted. */
  private async until(given: AbortSignal, holds: () => boolean): Promise<void> {
    const signal = AbortSignal.any([given, this.closing.signal]);
    while (!holds() && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const go = () => {
          this.changes.removeEventListener('change', go);
          signal.removeEventListener('abort', go);
          resolve();
        };
        this.changes.addEventListener('change', go);
        signal.addEventListener('abort', go);
      });
    }
  }
}

/** The erasure without one store; undefined: all stores are done. */
export function withoutStore(erasure: PendingErasure, name: PartName): PendingErasure | undefined {
  const left = Object.assign({}, erasure, { [LEFT[name]]: false });
  return PART_NAMES.some((part) => left[LEFT[part]]) ? left : undefined;
}

const keyOf = ({ offset, userId }: PendingErasure) => `${offset} ${userId}`;
const isOf = ({ erasure }: Open, offset: unknown) => erasure.offset === offset;

function late({ faults }: Open, { aborted, reason }: AbortSignal): TesseraError {
  const all = [...faults.values()];
  const why = all.length === 0 ? '' : `: ${all.map(({ message }) => message).join('; ')}`;
  const message = `erase: noted, not yet done here, and tried again${why}`;
  const code = aborted ? 'DEADLINE_EXCEEDED' : 'STORE_UNAVAILABLE';
  return new TesseraError(code, message, { cause: all[0] ?? reason });
}

function faultOf(name: PartName, thrown: unknown): TesseraError {
  if (thrown instanceof DOMException) {
    return new TesseraError('STORE_UNAVAILABLE', `${name}: ${thrown.message}`, { cause: thrown });
  }
  const { code, message } = TesseraError.from(thrown);
  return new TesseraError(code, `${name}: ${message}`, { cause: thrown });
}
