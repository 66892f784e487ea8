import { markOf, type Position } from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';
import type { ConditionReading } from '@tessera/lifecycle';
import {
  type EntryStore,
  LEASE_MS,
  type LogEntry,
  NO_OFFSET,
  type NodeStanding,
  type ReadEntry,
  readEntry,
} from '@tessera/log';
import type { Log } from '@tessera/telemetry';
import { BodyReader } from './body-reader.js';
import { ERASE, erasedUser } from './domain/erasure.js';
import { HOLDING, LASTING } from './domain/faults.js';
import type { History } from './domain/history.js';
import { KeyWindow, type Outcome } from './domain/key-window.js';
import type { Life } from './domain/life.js';
import { withMember } from './domain/position.js';
import { mayPass, type ReplicatedState } from './domain/replicated-state.js';
import { COMPARED_EVERY, isServing, type Publication } from './publication.js';
import { newestSnapshot } from './snapshots-there.js';
import type { WatchedLog } from './watched-log.js';
import type { Running, Work } from './work.js';

export interface FollowerParts {
  readonly log: WatchedLog;
  readonly store: EntryStore;
  readonly state: ReplicatedState;
  readonly history: History;
  readonly life: Life;
  readonly publication: Publication;
  readonly work: Work;
  readonly nodeLog: Pick<Log, 'info' | 'warn' | 'error'>;
}

/** Entries behind the end of the log from which on a node says so. */
const BEHIND_SAID = 1000;

/** An entry that cannot be applied, and why. */
interface Stuck {
  readonly error: TesseraError;
  readonly offset: number;
  /** Others do not wait: nothing can be done about it here, or they have applied the entry. */
  readonly isHeld: boolean;
}

/**
 * Reads the entries of a log and applies them in their order. Owner: Node's main thread; one entry
 * at a time.
 */
export class Follower {
  private readonly keys: KeyWindow;
  private readonly expected = new Map<string, ((outcome: Outcome) => void)[]>();
  private readonly closing = new AbortController();
  private readonly bodies: BodyReader;
  private readonly caughtUp = Promise.withResolvers<void>();
  private running: Running | undefined;
  private turn: Promise<unknown> = Promise.resolve();
  private stuck: Stuck | undefined;
  private end = 0;
  /** Keys and links of the newest entries are known. */
  private hasWindow = false;
  /** Others may count on this node: it begins with no other state any more. */
  private hasCaughtUp = false;

  constructor(readonly parts: FollowerParts) {
    this.bodies = new BodyReader(parts.log, parts.store);
    this.keys = new KeyWindow(parts.history.keysKept);
  }

  get offset(): number {
    return this.parts.history.position.offset;
  }

  /** Newest entry that there is, as far as is known here. */
  get newest(): number {
    return Math.max(this.end, this.offset);
  }

  /** Resolves when all that the log has at the call is applied. Rejects with a lasting fault. */
  async catchUp(): Promise<void> {
    const { life, work } = this.parts;
    this.caughtUp.promise.catch(() => undefined);
    life.onFault((fault) => this.caughtUp.reject(fault));
    this.running = work.begin({
      name: 'the cluster log',
      run: () => this.readOn(),
      onFailed: (error) => {
        if (LASTING.has(error.code)) this.fail(error);
        return life.fault !== undefined;
      },
    });
    await this.caughtUp.promise;
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
    const own = this.turn.then(() => act(this.parts.history.position));
    this.turn = own.catch(() => undefined);
    return own;
  }

  /** Notes the end of the log, as far as anybody has seen it. */
  noteEnd(end: number): void {
    this.end = Math.max(this.end, end);
  }

  /** A fault that lasts: the log is followed no longer. */
  fail(error: TesseraError): void {
    if (this.parts.life.fault !== undefined) return;
    this.parts.life.fail(error);
    this.parts.nodeLog.error({ err: error }, 'the cluster log is no longer followed');
  }

  /** Why nothing is taken from the log now; undefined: entries are. */
  get held(): TesseraError | undefined {
    const { stuck } = this;
    return stuck?.isHeld ? stuck.error : undefined;
  }

  /** Condition of the process. A node that is behind says how far, and serves. */
  condition(): ConditionReading {
    const { stuck, offset, newest } = this;
    const { life, log } = this.parts;
    const { fault, state } = life;
    const at = `at entry ${offset}`;
    if (fault !== undefined) {
      // Somebody has had more than this node: what it has is not what was acknowledged.
      const isShort = state === 'unfit' || log.isBeyond(offset);
      return { state: isShort ? 'down' : 'degraded', reason: `${at}: ${fault.message}` };
    }
    const got = `${at} of ${newest}`;
    if (stuck !== undefined) {
      const reason = `${got}: entry ${stuck.offset}: ${stuck.error.message}`;
      return { state: 'degraded', reason };
    }
    const away = this.running?.failure;
    if (away !== undefined) return { state: 'degraded', reason: `${at}: ${away.error.message}` };
    return newest - offset > BEHIND_SAID
      ? { state: 'degraded', reason: got }
      : { state: 'ok', reason: '' };
  }

  async close(): Promise<void> {
    this.closing.abort();
    this.caughtUp.reject(new TesseraError('CANCELLED', 'the node is closed'));
    await this.parts.work.end(this.running);
    await this.turn;
  }

  /** Entries from where it is, until the process closes. */
  private async readOn(): Promise<boolean> {
    try {
      return await this.takeAll();
    } catch (thrown) {
      const error = TesseraError.from(thrown);
      // The comparison with the entries applied here names those that are lost.
      if (error.code === 'LOG_DIFFERENT') await this.parts.log.bounds();
      throw error;
    }
  }

  private async takeAll(): Promise<boolean> {
    const { signal } = this.closing;
    const { log, publication, life, history } = this.parts;
    const bounds = await log.bounds();
    this.noteEnd(bounds.end);
    const back = this.hasWindow ? 0 : history.keysKept;
    const from = Math.max(bounds.first, this.offset - back + 1);
    for await (const entries of log.read(from, signal)) {
      this.running?.passed();
      this.noteEnd(entries.at(-1)?.offset ?? NO_OFFSET);
      for (const entry of entries) await this.between(() => this.take(entry));
      this.hasWindow ||= entries.length === 0 || (entries.at(-1)?.offset ?? 0) >= this.offset;
      if (signal.aborted || life.fault !== undefined) return true;
      if (entries.length > 0 || !publication.isMade) await publication.note();
      else publication.compareBeside();
      if (entries.length === 0 || this.offset >= bounds.end) {
        if (!this.hasCaughtUp) await publication.check();
        this.beCaughtUp();
      }
    }
    return signal.aborted;
  }

  private beCaughtUp(): void {
    this.hasCaughtUp = true;
    this.caughtUp.resolve();
  }

  /** Applies one entry. Rejects with a lasting fault, or where the process closes. */
  private async take(entry: LogEntry): Promise<void> {
    const { history } = this.parts;
    const { offset, bytes } = entry;
    if (offset <= this.offset) {
      const read = readableEntry(bytes, false);
      history.check(entry, read);
      if (read !== undefined) await this.recall(read, entry);
      return;
    }
    const readable = async () => readableEntry(bytes, true);
    const read = await this.untilDone(offset, readable).catch((thrown: unknown) => {
      if (TesseraError.from(thrown).code === 'REQUEST_INVALID') return undefined;
      throw thrown;
    });
    const next = history.behind(entry, read);
    const key = read?.key ?? `unreadable ${offset}`;
    const known = this.keys.of(key, offset);
    const outcome =
      known === undefined && read !== undefined
        ? await this.applied(read, entry, next)
        : await this.passed(next, known);
    if (known !== undefined && read !== undefined) await this.recall(read, entry);
    else this.keys.put(key, outcome);
    for (const tell of this.expected.get(key) ?? []) tell(outcome);
    this.expected.delete(key);
    if (offset % COMPARED_EVERY === 0) await this.parts.publication.note();
  }

  /** An entry that is not applied now, whose key and records count: it was, or it is repeated. */
  private async recall(read: ReadEntry, { offset, atMs }: LogEntry): Promise<void> {
    this.keys.put(read.key, this.keys.of(read.key, offset) ?? { offset }, offset);
    // A snapshot may have removed entries of the store since.
    const body = await this.bodies.of(read).catch(() => undefined);
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
    this.parts.history.moveTo(next);
    return known === undefined ? { offset: next.offset } : { ...known, isRepeat: true };
  }

  /** Applied, or refused: by the entry alone, so that every node does the same. */
  private async applied(read: ReadEntry, entry: LogEntry, next: Position): Promise<Outcome> {
    const { offset } = entry;
    try {
      const isForeign = this.parts.history.isForeign(read, offset);
      if (isForeign) throw refused(`entry ${offset} was appended to another history of the log`);
      const body = await this.untilDone(offset, () => this.bodies.of(read, offset));
      const user = read.kind === ERASE ? `${offset} ${erasedUser(body)}` : '';
      const erased = user === '' ? next.erased : withMember(next.erased, user);
      return await this.performed({ kind: read.kind, body }, entry, { ...next, erased });
    } catch (thrown) {
      const error = TesseraError.from(thrown);
      if (this.closing.signal.aborted || LASTING.has(error.code)) throw error;
      return { ...(await this.passed(next, undefined)), error };
    }
  }

  private async performed(
    act: { readonly kind: string; readonly body: unknown },
    { offset, atMs }: LogEntry,
    position: Position,
  ): Promise<Outcome> {
    const { state, history, nodeLog } = this.parts;
    const mark = markOf(position);
    const outcome = await this.untilDone(offset, async (): Promise<Outcome> => {
      try {
        return { offset, value: await state.apply(act, { offset, atMs }, mark) };
      } catch (thrown) {
        const error = TesseraError.from(thrown);
        if (mayPass(error) || LASTING.has(error.code) || HOLDING.has(error.code)) throw error;
        if (error.code === 'INTERNAL') nodeLog.error({ err: thrown }, 'entry refused');
        await state.note(mark);
        return { offset, error };
      }
    });
    history.moveTo(position);
    return outcome;
  }

  /**
   * A snapshot has the entry, and the node may begin with it: nobody asks it yet. Once it serves it
   * answers on with what it has.
   */
  private async isBehind(offset: number): Promise<boolean> {
    const { log, store, nodeLog, state } = this.parts;
    if (this.hasCaughtUp || state.scope === 'some') return false;
    const newest = await newestSnapshot({ log, store, nodeLog }, await log.bounds());
    return newest !== undefined && newest.offset >= offset;
  }

  /** Another node has applied the entry, and its changes wait for this one. */
  private async holdsOthers(offset: number): Promise<boolean> {
    const { log, publication, history } = this.parts;
    const positions = await log.positions().catch(() => []);
    return positions.some(
      (one) =>
        one.process !== publication.process &&
        isServing(one, LEASE_MS, history.position.log) &&
        one.offset >= offset &&
        // Processes that keep a part of the state alone pass over the entry.
        one.digest !== '',
    );
  }

  /**
   * Tries again what may pass, for as long as it takes: nothing behind it is applied before it.
   * While it can do nothing about the entry, nobody waits for this node; nor where its own store
   * does not take for LEASE_MS what others have applied, as for a node that says nothing.
   */
  private async untilDone<T>(offset: number, act: () => Promise<T>): Promise<T> {
    const { work, publication } = this.parts;
    const endMs = work.clock.nowMs() + LEASE_MS;
    let isHeld = false;
    const attempt = async () => {
      try {
        return await act();
      } catch (thrown) {
        const { code } = TesseraError.from(thrown);
        const isLate = work.clock.nowMs() >= endMs;
        isHeld = HOLDING.has(code) || (isLate && (isHeld || (await this.holdsOthers(offset))));
        if (!HOLDING.has(code)) throw thrown;
        if (await this.bodies.isRefused(offset)) {
          throw refused(`entry ${offset} is refused: a person has said so`);
        }
        if (code === 'LOG_INCOMPLETE' && (await this.isBehind(offset))) {
          const message = `entry ${offset}: its body is gone, and a snapshot has it`;
          throw new TesseraError('LOG_TRIMMED', message, { cause: thrown });
        }
        throw thrown;
      }
    };
    return work.until(attempt, {
      name: `entry ${offset}`,
      signal: this.closing.signal,
      mayPass: (error) => mayPass(error) || HOLDING.has(error.code),
      onWait: (error) => {
        this.stuck = error && { error, offset, isHeld };
        publication.stand(isHeld && error ? standingBefore(error) : 'serving');
        // Where nothing can be done before the process serves, it serves with what it has.
        if (error && HOLDING.has(error.code)) this.beCaughtUp();
      },
    });
  }
}

const standingBefore = ({ code }: TesseraError): NodeStanding =>
  code === 'LOG_INCOMPLETE' ? 'wants-snapshot' : 'stopped';

const refused = (message: string) => new TesseraError('REQUEST_INVALID', message);

/** Undefined: no release can read it. @throws TesseraError STORE_NEWER where one may */
function readableEntry(bytes: Uint8Array, isNext: boolean): ReadEntry | undefined {
  try {
    return readEntry(bytes);
  } catch (thrown) {
    if (isNext && TesseraError.from(thrown).code === 'STORE_NEWER') throw thrown;
    return undefined;
  }
}
