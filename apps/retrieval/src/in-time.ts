import type { LoopWait } from '@tessera/admission';
import { TesseraError } from '@tessera/errors';
import { MICROSECONDS_PER_MILLISECOND } from '@tessera/units';

/**
 * Asks with what is left of the budget: without the time that the call waited to be read, and that
 * its answer will wait to be written. Rejects with DEADLINE_EXCEEDED where an answer comes when the
 * budget is over: its caller has been told to wait no longer.
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
  if (tookUs <= budgetUs) return answer;
  const [took, budget] = [tookUs, budgetUs].map((us) =>
    Math.round(us / MICROSECONDS_PER_MILLISECOND),
  );
  const message = `deadline: expected an answer within ${budget} ms, got one after ${took} ms`;
  throw new TesseraError('DEADLINE_EXCEEDED', message);
}
