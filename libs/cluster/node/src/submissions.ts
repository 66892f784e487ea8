import { randomUUID } from 'node:crypto';
import type { Submission } from '@tessera/contracts';
import { expecting, TesseraError } from '@tessera/errors';
import {
  type Act,
  bodyText,
  ENTRY_BYTES_MAX,
  type EntryStore,
  entryBytes,
  KEY_LENGTH_MAX,
  type SeenPosition,
} from '@tessera/log';
import { Limit, unless } from '@tessera/turns';
import type { History } from './domain/history.js';
import type { Outcome } from './domain/key-window.js';
import type { Life } from './domain/life.js';
import type { Follower } from './follower.js';
import { isServing, type Publication } from './publication.js';
import type { Reached } from './reached.js';
import type { WatchedLog } from './watched-log.js';
import type { Work } from './work.js';

const invalid = expecting('REQUEST_INVALID');

/** Result of an act on this node. */
export interface Submitted {
  /** Offset of the entry. */
  readonly offset: number;
  /** Undefined where nobody waited for it, or the process that knew has ended. */
  readonly value: unknown;
  /** It was in the log before, under its key, and counts once. */
  readonly isRepeat: boolean;
}

/** Deadline of callers that give none, milliseconds. */
const DEADLINE_MS = 30_000;
/** Between looks at the positions of nodes: doubled, since most are where they have to be soon. */
const LOOK_MS = { least: 2, most: 32 } as const;
/** Entries that the slowest node may be behind: further changes wait for it. */
const BEHIND_MAX = 500;
/** For which an acknowledgement waits for the store beside the log, and no longer. */
const NOTED_MS = 1000;
/** Milliseconds beyond which a wait of NOTED_MS was not the store's: the process was held up. */
const HELD_MS = 1300;

export interface SubmissionParts {
  readonly log: WatchedLog;
  readonly reached: Reached;
  readonly store: EntryStore;
  readonly node: string;
  readonly follower: Follower;
  readonly history: History;
  readonly life: Life;
  readonly publication: Publication;
  readonly work: Work;
  readonly leaseMs: number;
}

/**
 * Appends acts to the log and waits until they are applied. An act is accepted while this node
 * holds its lease, and sent for as long as it has held it ever since and its caller waits: it comes
 * behind all that was acknowledged before it was accepted, and behind nothing that is acknowledged
 * once its caller has given it up.
 */
export class Submissions {
  constructor(private readonly parts: SubmissionParts) {}

  /**
   * Rejects as the act does where it is applied; with STORE_UNAVAILABLE where the log cannot be
   * reached, LOG_DIFFERENT where this node follows it no longer, OPERATION_BUSY where nodes are too
   * far behind, and DEADLINE_EXCEEDED: the act may be in the log then, and may be repeated by its
   * key.
   */
  async submit(act: Act, how: Submission = {}): Promise<Submitted> {
    const key = how.key || randomUUID();
    if (key.length > KEY_LENGTH_MAX) {
      throw invalid('idempotencyKey', `at most ${KEY_LENGTH_MAX} characters`, key.length);
    }
    const accepted = this.accept(how);
    const { signal } = accepted.limit;
    const ended = new AbortController();
    const known = AbortSignal.any([signal, ended.signal]);
    const outcome = this.parts.follower.outcomeOf(key, known);
    outcome.catch(() => undefined);
    try {
      const appended = this.appended(await this.entryOf(act, key), accepted);
      // An append that was rejected may be in the log.
      const done = await Promise.race([appended.then(() => undefined), outcome]);
      const isLater = how.waitFor === 'appended' && done === undefined;
      if (isLater) {
        const { offset } = await appended;
        await this.confirm(offset, accepted);
        return { offset, value: undefined, isRepeat: false };
      }
      const reached = done ?? (await outcome);
      // A race that nothing awaits would reject without an owner.
      const isRepeat = how.key
        ? await isAnother(Promise.race([appended, accepted.failed.promise]), reached)
        : false;
      return await this.applied(
        { ...reached, isRepeat: isRepeat || reached.isRepeat === true },
        how,
        accepted,
      );
    } catch (thrown) {
      const isOver = signal.aborted || this.parts.work.clock.nowMs() >= accepted.until;
      throw isOver ? late(act, accepted, thrown) : thrown;
    } finally {
      ended.abort();
      accepted.limit.end();
    }
  }

  /** Appends one entry before the node serves; others may append the same. */
  async append(act: Act, key: string): Promise<void> {
    const { work, log, history } = this.parts;
    const bytes = await this.entryOf(act, key);
    const limit = new Limit(work.clock, DEADLINE_MS);
    try {
      await work.until(() => log.append(bytes(), history.point, () => undefined), {
        name: 'the first entry of the log',
        signal: limit.signal,
        mayPass: ({ code }) => code === 'STORE_UNAVAILABLE',
      });
    } finally {
      limit.end();
    }
  }

  /**
   * Until no node that serves is behind: all have applied the entry, or, where `isErasure`, done
   * the erasure. Nodes that are away do so before they serve.
   */
  async everywhere(offset: number, signal: AbortSignal, isErasure: boolean): Promise<void> {
    const { publication, work } = this.parts;
    const isDone = (one: SeenPosition) =>
      isErasure ? one.erased >= offset && !one.open.includes(offset) : one.offset >= offset;
    for (let lookMs: number = LOOK_MS.least; ; lookMs = Math.min(LOOK_MS.most, 2 * lookMs)) {
      const others = (await this.serving()).filter((one) => one.process !== publication.process);
      const behind = others.filter((one) => !isDone(one));
      if (behind.length === 0) return;
      await work.clock.pause(lookMs, signal);
      if (!signal.aborted) continue;
      const names = behind.map(({ node }) => node).join(', ');
      const done = isErasure ? 'done' : 'applied';
      const message = `entry ${offset} is in the log, and not yet ${done} by ${names}`;
      throw new TesseraError('DEADLINE_EXCEEDED', message);
    }
  }

  /** Positions of nodes that others wait for. */
  private async serving(): Promise<SeenPosition[]> {
    const { log, leaseMs, history } = this.parts;
    const positions = await log.positions();
    return positions.filter((one) => isServing(one, leaseMs, history.position.log));
  }

  /** @throws TesseraError STORE_UNAVAILABLE where this node may have missed changes */
  private accept({ signal: given, untilMs = Number.POSITIVE_INFINITY }: Submission): Accepted {
    const { life, work } = this.parts;
    life.checkFollowing();
    const nowMs = work.clock.nowMs();
    const until = Math.min(untilMs, nowMs + DEADLINE_MS);
    const limit = new Limit(work.clock, Math.max(0, until - nowMs), life.signal, given);
    const { term } = this.parts.publication.lease;
    const accepted = { limit, until, term, failed: Promise.withResolvers<undefined>() };
    try {
      this.check(accepted);
      return accepted;
    } catch (thrown) {
      limit.end();
      throw thrown;
    }
  }

  /** @throws TesseraError where an entry that was accepted must not be sent any more */
  private check({ limit, until, term }: Accepted): void {
    const { work, publication, follower, log } = this.parts;
    if (limit.signal.aborted) throw limit.signal.reason;
    if (work.clock.nowMs() >= until) throw new DOMException('the time is over', 'TimeoutError');
    const { lease } = publication;
    if (term === lease.term && lease.holds(follower.offset)) return;
    const held = follower.held?.message ?? 'it does not answer this node';
    const message = `${log.place}: expected to append, got no lease: ${held}`;
    throw new TesseraError('STORE_UNAVAILABLE', message);
  }

  private async applied(
    { offset, value, error, isRepeat = false }: Outcome,
    { waitFor, onEntry }: Submission,
    accepted: Accepted,
  ): Promise<Submitted> {
    onEntry?.(offset);
    if (error !== undefined) throw error;
    const isForAll = waitFor !== 'applied-here' && waitFor !== 'appended';
    await Promise.all([
      this.confirm(offset, accepted),
      isForAll ? this.everywhere(offset, accepted.limit.signal, false) : undefined,
    ]);
    return { offset, value, isRepeat };
  }

  /**
   * The entry is noted beside the log, and is in it still: the log has what others have noted, and
   * a node whose lease has lapsed meanwhile asks them, too.
   */
  private async confirm(offset: number, { term, limit }: Accepted): Promise<void> {
    const { publication, log, reached, history } = this.parts;
    const chain = await log.chainAt(offset);
    const at = { log: history.position.log, offset, chain };
    const furthest = () => (history.position.offset > offset ? history.position : at);
    const noted = await this.unlessAway(reached.note(furthest, at), limit.signal);
    if (noted !== undefined) await log.compareNoted(noted);
    if (term === publication.lease.term) return;
    await log.hear();
    await log.bounds();
  }

  /** Answer of the store beside the log; undefined: it is away, and not waited for. */
  private async unlessAway<T>(answer: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
    const { reached, work } = this.parts;
    answer.catch(() => undefined);
    if (reached.isAway) return undefined;
    for (const isSecond of [false, true]) {
      const beganMs = work.clock.nowMs();
      const patience = new Limit(work.clock, NOTED_MS, signal);
      try {
        return await unless(patience.signal, answer);
      } catch {
        if (signal.aborted) throw signal.reason;
        // The time for which this process was held up is not the store's.
        if (!isSecond && work.clock.nowMs() - beganMs > HELD_MS) continue;
        reached.isAway = true;
      } finally {
        patience.end();
      }
      break;
    }
    return undefined;
  }

  /** Bytes of the entry, behind what is applied here when they are appended. */
  private async entryOf({ kind, body }: Act, key: string): Promise<() => Uint8Array> {
    const { node, store, history } = this.parts;
    const head = { key, node, kind };
    const text = bodyText(body);
    if (entryBytes(head, text, history.point).length <= ENTRY_BYTES_MAX) {
      return () => entryBytes(head, text, history.point);
    }
    // Of this submission alone: a key may come again with another body, and names keep theirs.
    const name = `entries/${randomUUID()}`;
    await store.put(name, Buffer.from(text));
    return () => entryBytes(head, '', history.point, name);
  }

  /** Again and again while the log may be back in time: its key makes one of what comes twice. */
  private async appended(bytes: () => Uint8Array, accepted: Accepted): Promise<Appended> {
    const { log, history, work, reached } = this.parts;
    const { signal } = accepted.limit;
    await this.turnComes(accepted);
    let attempts = 0;
    const offset = await work.until(
      async () => {
        attempts += 1;
        // The log may have gone back below what others have acknowledged since.
        const noted = reached.isAway ? undefined : await this.unlessAway(reached.look(), signal);
        if (noted !== undefined) await log.compare(noted);
        this.check(accepted);
        return log.append(bytes(), history.point, () => this.check(accepted));
      },
      {
        name: 'an append',
        signal,
        mayPass: ({ code }) => {
          if (code !== 'STORE_UNAVAILABLE') return false;
          const { lease } = this.parts.publication;
          return lease.term === accepted.term;
        },
        onWait: (error) => {
          accepted.away = error;
          if (error !== undefined) accepted.failed.resolve(undefined);
        },
      },
    );
    return { offset, isFirst: attempts === 1 };
  }

  /** A writer that is faster than the nodes waits for them. */
  private async turnComes(accepted: Accepted): Promise<void> {
    const { follower, log, work } = this.parts;
    const { signal } = accepted.limit;
    const slowest = () => Math.min(follower.offset, log.slowest);
    let lookMs: number = LOOK_MS.least;
    while (follower.newest - slowest() > BEHIND_MAX) {
      const got = `entry ${slowest()} of ${follower.newest}`;
      const expected = `expected nodes at most ${BEHIND_MAX} entries behind`;
      const message = `${log.place}: ${expected}, got one at ${got}`;
      accepted.away = new TesseraError('OPERATION_BUSY', message);
      await work.clock.pause(lookMs, signal);
      if (signal.aborted) throw accepted.away;
      lookMs = Math.min(LOOK_MS.most, 2 * lookMs);
    }
    accepted.away = undefined;
  }
}

/** An act that a caller waits for. */
interface Accepted {
  readonly limit: Limit;
  readonly until: number;
  /** Term of the lease when the change was accepted. */
  readonly term: number;
  /** Resolves when an attempt to append has failed. */
  readonly failed: PromiseWithResolvers<undefined>;
  /** Why the newest attempt has failed. */
  away?: TesseraError | undefined;
}

interface Appended {
  readonly offset: number;
  /** At the first attempt: no other entry of it can be in the log. */
  readonly isFirst: boolean;
}

/** True if the outcome is that of an earlier entry of the key, which this node had yet to apply. */
async function isAnother(
  appended: Promise<Appended | undefined>,
  { offset }: Outcome,
): Promise<boolean> {
  const own = await appended.catch(() => undefined);
  return own?.isFirst === true && own.offset !== offset;
}

function late({ kind }: Act, { away, limit }: Accepted, thrown: unknown): TesseraError {
  if (thrown instanceof TesseraError && thrown.code !== 'CANCELLED') return thrown;
  const { reason } = limit.signal;
  if (reason instanceof TesseraError && reason.code !== 'CANCELLED') return reason;
  if (away !== undefined) return away;
  const message = `${kind}: not applied within the deadline; it may be in the log`;
  return new TesseraError('DEADLINE_EXCEEDED', message, { cause: thrown });
}
