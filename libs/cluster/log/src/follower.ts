import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { markOf, type Position } from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';
import type { ConditionReading } from '@tessera/lifecycle';
import type { Log } from '@tessera/telemetry';
import {
  type ClusterLog,
  type LogEntry,
  NO_OFFSET,
  type NodePosition,
} from './domain/cluster-log.js';
import { type Act, bodyOf, digestOfBytes, type ReadEntry, readEntry } from './domain/entries.js';
import type { EntryStore } from './domain/entry-store.js';
import { ERASE, erasedUser } from './domain/erasure.js';
import { KEYS_KEPT, KeyWindow, type Outcome } from './domain/key-window.js';
import { withMember } from './domain/position.js';
import { mayPass, type ReplicatedState } from './domain/replicated-state.js';
import { Lease } from './lease.js';

export interface FollowerParts {
  readonly log: ClusterLog;
  readonly store: EntryStore;
  readonly node: string;
  readonly state: ReplicatedState;
  /** Where the state stands: of this log. */
  readonly position: Position;
  /** Milliseconds for which others count on this node's word. */
  readonly leaseMs: number;
  /** Entries and milliseconds that a node may be behind and is ready. */
  readonly behindEntries: number;
  readonly behindMs: number;
  readonly nodeLog: Pick<Log, 'info' | 'warn' | 'error'>;
}

/** Distance from the end of the log within which a node is ready to serve. */
export const BEHIND_MAX = {
  behindEntries: 1000,
  /** Milliseconds for which a node may be further behind, as after a burst of changes. */
  behindMs: 5000,
} as const;

/** Faults that reading again does not mend. */
const LASTING: ReadonlySet<string> = new Set(['LOG_TRIMMED', 'LOG_DIFFERENT', 'STORE_NEWER']);
/** Entries between two comparisons of digests under load. */
const COMPARED_EVERY = 64;
const RETRY_MS = 250;
const OLDER =
  'an older copy of it; restore the newer, or go on with what it has: remove cluster-log.json ' +
  'from the folder of the changes of each node (with what a node has: empty the log as well)';
const BEATS_PER_LEASE = 3;

/**
 * Applies the entries of a log in their order, and says how far this node is. Owner: Node's main
 * thread; one entry at a time.
 */
export class Follower {
  readonly process = randomUUID();
  readonly lease: Lease;
  private position: Position;
  /** Last position that this node has published. */
  private word: NodePosition | undefined;
  private comparedOffset = NO_OFFSET;
  private readonly keys = new KeyWindow();
  private readonly expected = new Map<string, ((outcome: Outcome) => void)[]>();
  private readonly closing = new AbortController();
  private running: Promise<void> | undefined;
  private turn: Promise<unknown> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;
  private fault: TesseraError | undefined;
  /** The state of this node is not what the log says; else it is the log that has changed. */
  private isOwnFault = false;
  private away: TesseraError | undefined;
  private stuck: { readonly error: TesseraError; readonly offset: number } | undefined;
  private end = 0;
  private behindSinceMs: number | undefined;
  private isServing = false;
  private caughtUp: () => void = () => undefined;
  /** Told when the state of this node is not, and cannot become, what the log says. */
  onUnfit: () => void = () => undefined;

  constructor(readonly parts: FollowerParts) {
    this.position = parts.position;
    this.lease = new Lease(parts.log, parts.leaseMs);
  }

  get identity(): string {
    return this.position.log;
  }

  get offset(): number {
    return this.position.offset;
  }

  /** Newest entry that there is, as far as is known here. */
  get newest(): number {
    return Math.max(this.end, this.offset);
  }

  /** Of the state behind the newest entries; '' before they are applied. */
  get stateDigest(): string {
    return this.word?.digest ?? '';
  }

  /** True if data of users may be used: no erasure has been acknowledged without this node. */
  get isCurrent(): boolean {
    return this.isServing && this.fault === undefined && this.lease.holds(this.offset);
  }

  /** Resolves when all that the log has at the call is applied. Rejects with a lasting fault. */
  async catchUp(): Promise<void> {
    const reached = new Promise<void>((resolve) => {
      this.caughtUp = resolve;
    });
    this.running = this.run();
    await Promise.race([reached, this.running.then(() => Promise.reject(this.fault))]);
  }

  /** From now on others wait for this node. */
  async serve(): Promise<void> {
    this.isServing = true;
    const beat = () => void this.beat().catch(() => undefined);
    this.timer = setInterval(beat, this.parts.leaseMs / BEATS_PER_LEASE);
    await this.beat().catch(() => undefined);
  }

  /** Resolves with what the entry of the key comes to when it is applied here. */
  outcomeOf(key: string, signal: AbortSignal): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const waiting = this.expected.get(key) ?? [];
      this.expected.set(key, [...waiting, resolve]);
      signal.addEventListener('abort', () => {
        const left = this.expected.get(key)?.filter((one) => one !== resolve) ?? [];
        if (left.length > 0) this.expected.set(key, left);
        else this.expected.delete(key);
        reject(signal.reason);
      });
    });
  }

  /** Between two entries. */
  between<T>(act: (position: Position) => Promise<T>): Promise<T> {
    const own = this.turn.then(() => act(this.position));
    this.turn = own.catch(() => undefined);
    return own;
  }

  /** @throws TesseraError why it follows the log no longer: nothing would be applied here */
  checkFollowing(): void {
    if (this.fault !== undefined) throw this.fault;
  }

  /** It follows the log no longer, and not because its own state is at fault. */
  get isStopped(): boolean {
    return this.fault !== undefined && !this.isOwnFault;
  }

  /** As a condition of the process. */
  condition(): ConditionReading {
    const { fault, away, stuck, position, end } = this;
    const at = `at entry ${position.offset}`;
    if (fault !== undefined) {
      const state = this.isOwnFault ? 'down' : 'degraded';
      return { state, reason: `${at}: ${fault.message}` };
    }
    const isFar = end - position.offset > this.parts.behindEntries;
    const sinceMs = performance.now() - (this.behindSinceMs ?? performance.now());
    const got = `${at} of ${end}`;
    const why = stuck === undefined ? '' : `: ${stuck.error.message}`;
    if (isFar && sinceMs > this.parts.behindMs) return { state: 'down', reason: `${got}${why}` };
    if (stuck !== undefined) return { state: 'degraded', reason: `${got}${why}` };
    if (away !== undefined) return { state: 'degraded', reason: `${at}: ${away.message}` };
    return { state: 'ok', reason: '' };
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    this.closing.abort();
    this.lease.end();
    await this.running;
    const { word } = this;
    if (word !== undefined) await this.parts.log.leave(word).catch(() => undefined);
    await this.parts.log.close();
  }

  private async run(): Promise<void> {
    const { signal } = this.closing;
    while (!signal.aborted && this.fault === undefined) {
      try {
        await this.readOn(signal);
      } catch (thrown) {
        const error = TesseraError.from(thrown);
        if (signal.aborted) return;
        if (LASTING.has(error.code)) this.fail(error, error.code === 'LOG_TRIMMED');
        else {
          if (this.away === undefined) this.parts.nodeLog.warn({ err: error }, 'cluster log away');
          this.away = error;
          await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
        }
      }
    }
  }

  private fail(error: TesseraError, isOwn: boolean): void {
    this.fault = error;
    this.isOwnFault = isOwn;
    this.lease.end();
    clearInterval(this.timer);
    this.parts.nodeLog.error({ err: error }, 'the cluster log is no longer followed');
    if (isOwn) this.onUnfit();
  }

  private async readOn(signal: AbortSignal): Promise<void> {
    const { log } = this.parts;
    const { identity, first, end } = await log.bounds();
    this.check(identity, first, end);
    this.note(end);
    const from = Math.max(first, this.offset - KEYS_KEPT + 1);
    for await (const entries of log.read(from, signal)) {
      if (this.away !== undefined) this.parts.nodeLog.info({}, 'cluster log back');
      this.away = undefined;
      this.note(entries.at(-1)?.offset ?? NO_OFFSET);
      for (const entry of entries) await this.between(() => this.take(entry));
      if (signal.aborted) return;
      if (entries.length === 0 || this.offset >= end) this.caughtUp();
      if (entries.length > 0 || this.word === undefined) await this.told();
      else this.compareBeside(this.word);
    }
  }

  /** @throws TesseraError LOG_DIFFERENT, LOG_TRIMMED */
  private check(identity: string, first: number, end: number): void {
    const { log, offset } = this.position;
    const { place } = this.parts.log;
    if (identity !== log) {
      const got = identity === '' ? 'one that nobody has begun' : identity;
      throw new TesseraError('LOG_DIFFERENT', `${place}: expected log ${log}, got ${got}`);
    }
    if (end < offset) {
      const expected = `${place}: expected entries up to ${offset}, which are applied here`;
      throw new TesseraError('LOG_DIFFERENT', `${expected}, got up to ${end}: ${OLDER}`);
    }
    if (first <= offset + 1) return;
    const message = `${place}: expected entries from ${offset + 1} on, got from ${first} on`;
    throw new TesseraError('LOG_TRIMMED', message);
  }

  private note(end: number): void {
    this.end = Math.max(this.end, end);
    const isFar = this.end - this.offset > this.parts.behindEntries;
    this.behindSinceMs = isFar ? (this.behindSinceMs ?? performance.now()) : undefined;
  }

  /** One entry. Rejects with a lasting fault, or where the process closes. */
  private async take(entry: LogEntry): Promise<void> {
    const { offset, bytes } = entry;
    const digest = digestOfBytes(bytes);
    if (offset <= this.offset) {
      if (offset === this.offset && this.position.entry !== '' && this.position.entry !== digest) {
        const got = `entry ${offset} is another one than was applied here: a copy of the log`;
        throw new TesseraError(
          'LOG_DIFFERENT',
          `${this.parts.log.place}: ${got} that went on: ${OLDER}`,
        );
      }
      const before = readableEntry(bytes);
      if (before !== undefined) await this.recall(before, entry);
      return;
    }
    const read = readableEntry(bytes);
    const key = read?.key ?? `unreadable ${offset}`;
    const known = this.keys.of(key, offset);
    const next = { ...this.position, offset, entry: digest };
    const isOne = known === undefined && read !== undefined;
    const outcome = isOne ? await this.applied(read, entry, next) : await this.passed(next, known);
    if (known !== undefined && read !== undefined) await this.recall(read, entry);
    else this.keys.put(key, outcome);
    for (const tell of this.expected.get(key) ?? []) tell(outcome);
    this.expected.delete(key);
    if (offset % COMPARED_EVERY === 0) await this.told();
  }

  /** An entry that is not applied now, whose key and records count: it was, or it is repeated. */
  private async recall(read: ReadEntry, { offset, atMs }: LogEntry): Promise<void> {
    this.keys.put(read.key, this.keys.of(read.key, offset) ?? { offset }, offset);
    // A snapshot may have removed entries of the store since.
    const body = await this.bodyOf(read, offset).catch(() => undefined);
    if (body === undefined) return;
    try {
      this.parts.state.recall({ kind: read.kind, body }, { offset, atMs });
    } catch {
      // Refused here, as it was where it was applied.
    }
  }

  /** An entry that was there before, or that nobody can read. */
  private async passed(next: Position, known: Outcome | undefined): Promise<Outcome> {
    await this.untilDone(next.offset, () => this.parts.state.note(markOf(next)));
    this.position = next;
    return known === undefined ? { offset: next.offset } : { ...known, isRepeat: true };
  }

  private async applied(read: ReadEntry, entry: LogEntry, next: Position): Promise<Outcome> {
    const { offset, atMs } = entry;
    const act: Act = { kind: read.kind, body: await this.bodyOf(read, offset) };
    const erased =
      act.kind === ERASE
        ? withMember(next.erased, `${offset} ${erasedUser(act.body)}`)
        : next.erased;
    const position = { ...next, erased };
    const mark = markOf(position);
    const outcome = await this.untilDone(offset, async (): Promise<Outcome> => {
      try {
        return { offset, value: await this.parts.state.apply(act, { offset, atMs }, mark) };
      } catch (thrown) {
        const error = TesseraError.from(thrown);
        if (mayPass(error) || LASTING.has(error.code)) throw error;
        if (error.code === 'INTERNAL') this.parts.nodeLog.error({ err: thrown }, 'entry refused');
        await this.parts.state.note(mark);
        return { offset, error };
      }
    });
    this.position = position;
    return outcome;
  }

  private async bodyOf({ text, stored }: ReadEntry, offset: number): Promise<unknown> {
    if (stored === '') return bodyOf(text);
    const bytes = await this.untilDone(offset, () => this.parts.store.get(stored));
    return bodyOf(Buffer.from(bytes).toString());
  }

  /** Tries again what may pass, for as long as it takes: nothing behind it is applied before it. */
  private async untilDone<T>(offset: number, act: () => Promise<T>): Promise<T> {
    const { signal } = this.closing;
    for (;;) {
      try {
        const done = await act();
        this.stuck = undefined;
        return done;
      } catch (thrown) {
        const error = TesseraError.from(thrown);
        if (!mayPass(error) || signal.aborted) throw error;
        if (this.stuck?.offset !== offset) {
          this.parts.nodeLog.warn({ err: error, offset }, 'an entry cannot be applied yet');
        }
        this.stuck = { error, offset };
        await sleep(RETRY_MS, undefined, { signal });
      }
    }
  }

  /** Says where this node is. */
  private async told(): Promise<void> {
    const { offset, erased } = this.position;
    const digest = await this.parts.state.digest(erased);
    const word = { node: this.parts.node, process: this.process, offset, digest };
    this.word = word;
    if (!this.isServing) return;
    await this.lease.renew(word);
    if (offset % COMPARED_EVERY === 0) this.compareBeside(word);
  }

  /** Compares the state with what the log has of it, while entries go on. */
  private compareBeside(word: NodePosition): void {
    if (this.parts.state.scope === 'some') return;
    if (word.offset === this.comparedOffset || word.offset === NO_OFFSET) return;
    this.comparedOffset = word.offset;
    this.compare(word).catch((thrown: unknown) => {
      const error = TesseraError.from(thrown);
      if (error.code === 'LOG_DIFFERENT') this.fail(error, true);
    });
  }

  private async compare({ offset, digest }: NodePosition): Promise<void> {
    const expected = await this.parts.log.digestAt(offset, digest);
    if (expected === digest) return;
    const state = `state behind entry ${offset}`;
    const message = `${state}: expected digest ${expected}, which was said first, got ${digest}`;
    throw new TesseraError('LOG_DIFFERENT', message);
  }

  /** Also while an entry takes long: then nothing else says how far the log is. */
  private async beat(): Promise<void> {
    if (this.fault !== undefined || this.word === undefined) return;
    await this.lease.renew(this.word);
    this.note((await this.parts.log.bounds()).end);
  }
}

/** Undefined: no release can read it. @throws TesseraError STORE_NEWER */
function readableEntry(bytes: Uint8Array): ReadEntry | undefined {
  try {
    return readEntry(bytes);
  } catch (thrown) {
    if (TesseraError.from(thrown).code === 'STORE_NEWER') throw thrown;
    return undefined;
  }
}
