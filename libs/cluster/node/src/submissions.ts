import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Submission } from '@tessera/contracts';
import { expecting, TesseraError } from '@tessera/errors';
import {
  type Act,
  bodyText,
  type ClusterLog,
  ENTRY_BYTES_MAX,
  type EntryStore,
  entryBytes,
  KEY_LENGTH_MAX,
  type SeenPosition,
} from '@tessera/log';
import type { History } from './domain/history.js';
import type { Outcome } from './domain/key-window.js';
import type { Life } from './domain/life.js';
import type { Follower } from './follower.js';
import type { Publication } from './publication.js';

const invalid = expecting('REQUEST_INVALID');

/** Result of an act on this node. */
export interface Submitted {
  /** Of its entry. */
  readonly offset: number;
  /** Undefined where nobody waited for it, or the process that knew has ended. */
  readonly value: unknown;
  /** It was in the log before, under its key, and counts once. */
  readonly isRepeat: boolean;
}

/** Where the caller has no deadline. */
const DEADLINE_MS = 30_000;
const RETRY_MS = 100;
/** Between looks at the positions of nodes: most are where they have to be within some. */
const LOOK_MS = 2;
const LOOKS = 20;
const LATER_LOOK_MS = 25;

export interface SubmissionParts {
  readonly log: ClusterLog;
  readonly store: EntryStore;
  readonly node: string;
  readonly follower: Follower;
  readonly history: History;
  readonly life: Life;
  readonly publication: Publication;
  readonly leaseMs: number;
}

/** Appends acts to the log and waits until they are applied. */
export class Submissions {
  constructor(private readonly parts: SubmissionParts) {}

  /**
   * Rejects as the act does where it is applied; with STORE_UNAVAILABLE where the log cannot be
   * reached, LOG_DIFFERENT where this node follows it no longer, and DEADLINE_EXCEEDED: the act may
   * be in the log then, and may be repeated by its key.
   */
  async submit(act: Act, how: Submission = {}): Promise<Submitted> {
    const key = how.key || randomUUID();
    if (key.length > KEY_LENGTH_MAX) {
      throw invalid('idempotencyKey', `at most ${KEY_LENGTH_MAX} characters`, key.length);
    }
    this.parts.life.checkFollowing();
    const ended = new AbortController();
    const limits = [AbortSignal.timeout(DEADLINE_MS), ended.signal];
    const signal = AbortSignal.any(how.signal === undefined ? limits : [...limits, how.signal]);
    const outcome = this.parts.follower.outcomeOf(key, signal);
    outcome.catch(() => undefined);
    const appending = new Appending();
    try {
      const appended = this.appended(await this.entryOf(act, key), signal, appending);
      // An append that was rejected may be in the log.
      const done = await Promise.race([appended.then(() => undefined), outcome]);
      const isLater = how.waitFor === 'appended' && done === undefined;
      if (isLater) return { offset: (await appended).offset, value: undefined, isRepeat: false };
      const known = done ?? (await outcome);
      const first = Promise.race([appended, appending.failed]);
      const isRepeat = how.key ? await isAnother(first, known) : false;
      return await this.applied(
        { ...known, isRepeat: isRepeat || known.isRepeat === true },
        how,
        signal,
      );
    } catch (thrown) {
      throw signal.aborted ? late(act, appending.away ?? thrown) : thrown;
    } finally {
      ended.abort();
    }
  }

  /** One entry, whoever else may append the same. */
  async append(act: Act, key: string): Promise<void> {
    const signal = AbortSignal.timeout(DEADLINE_MS);
    await this.appended(await this.entryOf(act, key), signal, new Appending());
  }

  /**
   * Until no node that serves is behind: all have applied the entry, or, where `isErasure`, done
   * the erasure. Nodes that are away do so before they serve.
   */
  async everywhere(offset: number, signal: AbortSignal, isErasure: boolean): Promise<void> {
    const { log, publication, leaseMs } = this.parts;
    const reached = (one: SeenPosition) => (isErasure ? one.erased : one.offset);
    for (let look = 0; ; look += 1) {
      const lookMs = look < LOOKS ? LOOK_MS : LATER_LOOK_MS;
      const others = (await log.positions()).filter((one) => one.process !== publication.process);
      const serving = others.filter((one) => one.ageMs < leaseMs && !one.needsSnapshot);
      const behind = serving.filter((one) => reached(one) < offset);
      if (behind.length === 0) return;
      await sleep(lookMs, undefined, { signal }).catch(() => {
        const names = behind.map(({ node }) => node).join(', ');
        const done = isErasure ? 'done' : 'applied';
        const message = `entry ${offset} is in the log, and not yet ${done} by ${names}`;
        throw new TesseraError('DEADLINE_EXCEEDED', message);
      });
    }
  }

  private async applied(
    { offset, value, error, isRepeat = false }: Outcome,
    { waitFor, onEntry }: Submission,
    signal: AbortSignal,
  ): Promise<Submitted> {
    onEntry?.(offset);
    if (error !== undefined) throw error;
    const isForAll = waitFor !== 'applied-here' && waitFor !== 'appended';
    if (isForAll) await this.everywhere(offset, signal, false);
    return { offset, value, isRepeat };
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

  /** Again and again while the log is away: its key makes one of what comes twice. */
  private async appended(
    bytes: () => Uint8Array,
    signal: AbortSignal,
    appending: Appending,
  ): Promise<Appended> {
    const { log, history, life } = this.parts;
    for (let attempt = 1; ; attempt += 1) {
      try {
        life.checkFollowing();
        const offset = await log.append(bytes(), history.point);
        appending.note(undefined);
        return { offset, isFirst: attempt === 1 };
      } catch (thrown) {
        appending.note(thrown);
        if (TesseraError.from(thrown).code !== 'STORE_UNAVAILABLE' || signal.aborted) throw thrown;
        await sleep(RETRY_MS, undefined, { signal }).catch(() => {
          throw thrown;
        });
      }
    }
  }
}

/** How the attempts to append go. */
class Appending {
  /** Why the newest attempt has failed; undefined: it has not. */
  away: unknown;
  private fail: (nothing: undefined) => void = () => undefined;
  /** Resolves when one has failed. */
  readonly failed = new Promise<undefined>((resolve) => {
    this.fail = resolve;
  });

  note(thrown: unknown): void {
    this.away = thrown;
    if (thrown !== undefined) this.fail(undefined);
  }
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

function late({ kind }: Act, thrown: unknown): TesseraError {
  if (thrown instanceof TesseraError && thrown.code !== 'CANCELLED') return thrown;
  const message = `${kind}: not applied within the deadline; it may be in the log`;
  return new TesseraError('DEADLINE_EXCEEDED', message, { cause: thrown });
}
