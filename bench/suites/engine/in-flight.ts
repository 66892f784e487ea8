import { setTimeout as sleep } from 'node:timers/promises';
import { TesseraError } from '@tessera/errors';
import { Random } from '../../models/random.js';

/** Keeps so many calls under way until the time is over, then lets them end. Calls a second. */
export async function closedLoop(
  inFlight: number,
  milliseconds: number,
  call: (at: number) => Promise<unknown>,
): Promise<number> {
  let next = 0;
  const started = performance.now();
  const work = async () => {
    do await call(next++);
    while (performance.now() - started < milliseconds);
  };
  await Promise.all(Array.from({ length: inFlight }, work));
  return (1000 * next) / (performance.now() - started);
}

export interface Arrivals {
  /** Milliseconds from arrival to answer, of those that were answered. */
  readonly latencies: readonly number[];
  readonly refused: number;
  /** Answers a second until the last one. */
  readonly rate: number;
}

/** Calls arrive at random (Poisson) at that rate, whatever is still under way. */
export async function openLoop(
  perSecond: number,
  milliseconds: number,
  seed: number,
  call: (at: number) => Promise<unknown>,
): Promise<Arrivals> {
  const random = new Random(seed);
  const latencies: number[] = [];
  const asked: Promise<void>[] = [];
  let refused = 0;
  const started = performance.now();
  const ask = async (at: number, arrival: number): Promise<void> => {
    try {
      await call(at);
      latencies.push(performance.now() - arrival);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      refused += 1;
    }
  };
  for (let arrival = started; arrival < started + milliseconds; ) {
    await sleep(Math.max(arrival - performance.now(), 0));
    asked.push(ask(asked.length, arrival));
    arrival -= (Math.log(1 - random.uniform()) * 1000) / perSecond;
  }
  await Promise.all(asked);
  return { latencies, refused, rate: (1000 * latencies.length) / (performance.now() - started) };
}

function isRefusal(error: unknown): boolean {
  return (
    error instanceof TesseraError &&
    (error.code === 'ENGINE_OVERLOADED' || error.code === 'DEADLINE_EXCEEDED')
  );
}
