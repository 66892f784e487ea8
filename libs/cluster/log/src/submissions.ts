import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Submission } from '@tessera/contracts';
import { expecting, TesseraError } from '@tessera/errors';
import { type ClusterLog, ENTRY_BYTES_MAX } from './domain/cluster-log.js';
import { type Act, bodyText, entryBytes, KEY_LENGTH_MAX } from './domain/entries.js';
import type { EntryStore } from './domain/entry-store.js';
import type { Outcome } from './domain/key-window.js';
import type { Follower } from './follower.js';

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
/** Between looks at the positions of nodes: most are where they have to be within ten. */
const LOOK_MS = 1;
const LOOKS = 40;
const LATER_LOOK_MS = 25;

export interface SubmissionParts {
  readonly log: ClusterLog;
  readonly store: EntryStore;
  readonly node: string;
  readonly follower: Follower;
  readonly leaseMs: number;
}

/** Appends acts to the log and waits until they are applied. */
export class Submissions {
  constructor(private readonly parts: SubmissionParts) {}

  /**
   * Rejects as the act does where it is applied; with STORE_UNAVAILABLE where the log cannot be
   * reached, and DEADLINE_EXCEEDED: the act may be in the log then, and may be repeated by its key.
   */
  async submit(act: Act, how: Submission = {}): Promise<Submitted> {
    const key = how.key || randomUUID();
    if (key.length > KEY_LENGTH_MAX) {
      throw invalid('idempotencyKey', `at most ${KEY_LENGTH_MAX} characters`, key.length);
    }
    this.parts.follower.checkFollowing();
    const ended = new AbortController();
    const limits = [AbortSignal.timeout(DEADLINE_MS), ended.signal];
    const signal = AbortSignal.any(how.signal === undefined ? limits : [...limits, how.signal]);
    const outcome = this.parts.follower.outcomeOf(key, signal);
    outcome.catch(() => undefined);
    let away: unknown;
    let fail: (nothing: undefined) => void = () => undefined;
    const hasFailed = new Promise<undefined>((resolve) => {
      fail = resolve;
    });
    const noteAway = (thrown: unknown) => {
      away = thrown;
      if (thrown !== undefined) fail(undefined);
    };
    try {
      const bytes = await this.bytesOf(act, key);
      const appended = this.appended(bytes, signal, noteAway);
      // An append that was rejected may be in the log.
      const done = await Promise.race([appended.then(() => undefined), outcome]);
      const isLater = how.waitFor === 'appended' && done === undefined;
      if (isLater) return { offset: (await appended).offset, value: undefined, isRepeat: false };
      const known = done ?? (await outcome);
      const isRepeat = how.key
        ? await isAnother(Promise.race([appended, hasFailed]), known)
        : false;
      return await this.applied(
        { ...known, isRepeat: isRepeat || known.isRepeat === true },
        how,
        signal,
      );
    } catch (thrown) {
      throw signal.aborted ? late(act, away ?? thrown) : thrown;
    } finally {
      ended.abort();
    }
  }

  /** One entry, whoever else may append the same. */
  async append(act: Act, key: string): Promise<void> {
    await this.appended(await this.bytesOf(act, key), AbortSignal.timeout(DEADLINE_MS));
  }

  private async applied(
    { offset, value, error, isRepeat = false }: Outcome,
    { waitFor, onEntry }: Submission,
    signal: AbortSignal,
  ): Promise<Submitted> {
    onEntry?.(offset);
    if (error !== undefined) throw error;
    if (waitFor !== 'applied-here' && waitFor !== 'appended') await this.everywhere(offset, signal);
    return { offset, value, isRepeat };
  }

  private async bytesOf({ kind, body }: Act, key: string): Promise<Uint8Array> {
    const { node, store } = this.parts;
    const text = bodyText(body);
    const inLine = entryBytes({ key, node, kind }, text);
    if (inLine.length <= ENTRY_BYTES_MAX) return inLine;
    const content = Buffer.from(text);
    // Of this submission alone: a key may come again with another body, and names keep theirs.
    const name = `entries/${randomUUID()}`;
    await store.put(name, content);
    return entryBytes({ key, node, kind }, '', name);
  }

  /** Again and again while the log is away: its key makes one of what comes twice. */
  private async appended(
    bytes: Uint8Array,
    signal: AbortSignal,
    noteAway: (thrown: unknown) => void = () => undefined,
  ): Promise<Appended> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const offset = await this.parts.log.append(bytes);
        noteAway(undefined);
        return { offset, isFirst: attempt === 1 };
      } catch (thrown) {
        noteAway(thrown);
        if (TesseraError.from(thrown).code !== 'STORE_UNAVAILABLE' || signal.aborted) throw thrown;
        await sleep(RETRY_MS, undefined, { signal }).catch(() => {
          throw thrown;
        });
      }
    }
  }

  /** Until every node that serves has applied it; who is away applies it before it serves. */
  private async everywhere(offset: number, signal: AbortSignal): Promise<void> {
    const { log, follower, leaseMs } = this.parts;
    for (let look = 0; ; look += 1) {
      const lookMs = look < LOOKS ? LOOK_MS : LATER_LOOK_MS;
      const others = (await log.positions()).filter((one) => one.process !== follower.process);
      const behind = others.filter((one) => one.ageMs < leaseMs && one.offset < offset);
      if (behind.length === 0) return;
      await sleep(lookMs, undefined, { signal }).catch(() => {
        const names = behind.map(({ node }) => node).join(', ');
        const message = `entry ${offset} is in the log, and not yet applied by ${names}`;
        throw new TesseraError('DEADLINE_EXCEEDED', message);
      });
    }
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
