import { setTimeout as sleep } from 'node:timers/promises';
import type { TesseraError } from './errors.js';

const ATTEMPTS_MAX = 4;
const FIRST_WAIT_MS = 20;

/** Milliseconds before the next attempt; undefined: it would not help, or be too late. */
export function waitBeforeRetry(
  { retryable, code, retryAfterMs }: TesseraError,
  attempt: number,
  leftMs: number,
): number | undefined {
  if (!retryable || code === 'DEADLINE_EXCEEDED' || attempt + 1 >= ATTEMPTS_MAX) return undefined;
  const waitMs = retryAfterMs ?? FIRST_WAIT_MS * 2 ** attempt;
  return waitMs < leftMs ? waitMs : undefined;
}

/**
 * Attempts, each with the milliseconds that are left, until one succeeds, none would help or the
 * time is over. Rejects with what `errorOf` makes of the last fault.
 */
export async function withRetries<Answer>(
  deadlineMs: number,
  act: (leftMs: number) => Promise<Answer>,
  errorOf: (thrown: unknown, leftMs: number) => Promise<TesseraError>,
): Promise<Answer> {
  const until = performance.now() + deadlineMs;
  const left = () => Math.max(0, until - performance.now());
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await act(left());
    } catch (thrown) {
      const error = await errorOf(thrown, left());
      const waitMs = waitBeforeRetry(error, attempt, left());
      if (waitMs === undefined) throw error;
      await sleep(waitMs);
    }
  }
}
