import type { ServedAdapter } from '@tessera/adapter';
import type { KvUse } from '@tessera/engine';
import type { Erasures } from '@tessera/erasure';
import { TesseraError } from '@tessera/errors';
import type { Prompt } from '@tessera/prompt';
import { invalid } from '../request/check-source.js';
import type { RecallContext } from '../request/request-types.js';
import type { CountedCaps } from './count-caps.js';
import type { RecallParts } from './recall-parts.js';
import type { ResolvedHistory } from './resolve-history.js';

/** Microseconds since it was made, and since the last lap. */
export class Stopwatch {
  private readonly start = performance.now();
  private last = this.start;

  lapUs(): number {
    const now = performance.now();
    const lap = (now - this.last) * 1000;
    this.last = now;
    return lap;
  }

  totalUs(): number {
    return (performance.now() - this.start) * 1000;
  }
}

/** A prompt on its way to the engine. */
export interface Prepared {
  /** Caller's ID, or one that was made. */
  readonly requestId: string;
  readonly userId: string | undefined;
  /** Mark of the erasures before anything of the user was read. */
  readonly mark: number;
  readonly prompt: Prompt;
  /** Undefined where an earlier prompt is replayed. */
  readonly history: ResolvedHistory | undefined;
  /** Undefined where an earlier prompt is not replayed: they are yet to be counted. */
  readonly caps?: CountedCaps;
  /** Seed of the drawn places of a replayed recall; left out: no draw, or no replay. */
  readonly seed?: number | undefined;
  readonly kv: KvUse;
  readonly skippedItems: number;
  readonly trimmedItems: number;
  readonly featuresUs: number;
  readonly promptUs: number;
  /** Remaining budget after the preparation, microseconds. */
  readonly leftUs: number;
  readonly adapter: ServedAdapter | undefined;
  readonly stopwatch: Stopwatch;
}

/** @throws TesseraError CANCELLED where the user was erased since the prompt was begun */
export function checkNotErased({ userId, mark }: Prepared, erasures: Erasures): void {
  if (!erasures.isErasedSince(userId, mark)) return;
  throw new TesseraError('CANCELLED', 'the user was erased while the request ran');
}

/**
 * The members that every request to the engine has. From here on the engine sees to it that an
 * erasure leaves nothing of the prompt.
 * @throws TesseraError CANCELLED where the user has been erased meanwhile
 */
export function workOf({ binding, erasures }: RecallParts, prepared: Prepared) {
  checkNotErased(prepared, erasures);
  const { prompt, kv, leftUs, adapter } = prepared;
  const promptTokens = prompt.tokens;
  return { binding, promptTokens, kv, budgetUs: leftUs, adapter: adapter?.engine };
}

/** @throws TesseraError DEADLINE_EXCEEDED or CANCELLED where the caller no longer waits */
export function checkWaiting(context: RecallContext, elapsedUs: number): void {
  if (context.signal.aborted) throw new TesseraError('CANCELLED', 'the request was cancelled');
  if (Number.isNaN(context.budgetUs)) throw invalid('deadlineMs', 'a number', 'NaN');
  if (context.budgetUs - elapsedUs > 0) return;
  throw new TesseraError(
    'DEADLINE_EXCEEDED',
    elapsedUs === 0
      ? 'the deadline had passed before the work began'
      : 'the deadline passed before the engine was asked',
  );
}
