import type { LoopWait } from '@tessera/admission';
import { TesseraError } from '@tessera/errors';
import { MICROSECONDS_PER_MILLISECOND } from '@tessera/units';

/**
 * An answer may come so much behind its deadline: what has a part for each deadline that passed, or
 * was ready just before it, is on its way then. Later than that its caller has gone.
 */
const BEHIND_MS_MAX = 100;

/**
 * Asks with what is left of the budget: without the time that the call waited to be read, and that
 * its answer will wait to be written. Rejects with DEADLINE_EXCEEDED where an answer comes too
 * late.
 */
export async function inTime<Answer>(
  loop: Pick<LoopWait, 'touch' | 'waitedMs' | 'roundMs'>,
  budgetUs: number,
  ask: (leftUs: number) => Promise<Answer>,
): Promise<Answer> {
  loop.touch();
  const { waitedMs, roundMs } = loop;
  const arrivedMs = performance.now() - waitedMs;
  const answer = await ask(budgetUs - (waitedMs + roundMs) * MICROSECONDS_PER_MILLISECOND);
  const tookUs = (performance.now() - arrivedMs) * MICROSECONDS_PER_MILLISECOND;
  if (tookUs <= budgetUs + BEHIND_MS_MAX * MICROSECONDS_PER_MILLISECOND) return answer;
  const [took, budget] = [tookUs, budgetUs].map((us) =>
    Math.round(us / MICROSECONDS_PER_MILLISECOND),
  );
  const message = `deadline: expected an answer within ${budget} ms, got one after ${took} ms`;
  throw new TesseraError('DEADLINE_EXCEEDED', message);
}
