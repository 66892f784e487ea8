export interface MovingLimits {
  /** Milliseconds without any progress. */
  readonly stillMs: number;
  /** Maximum duration of all of it. */
  readonly mostMs: number;
}

/** The work went on, and takes too long all the same. */
export class Slow extends Error {}

/**
 * As the work settles, for as long as it moves: `progress` is another number whenever something has
 * come of it. Rejects where nothing has for too long, and with Slow where all of it takes too long;
 * the work goes on. Bytes that came while this thread was busy count, however late it reads them.
 */
export function whileMoving<T>(
  { stillMs, mostMs }: MovingLimits,
  progress: () => number,
  work: Promise<T>,
): Promise<T> {
  const beganMs = performance.now();
  let timer: NodeJS.Timeout | undefined;
  let turn: NodeJS.Immediate | undefined;
  const expiry = new Promise<never>((_, reject) => {
    let last = progress();
    const look = () => {
      const now = progress();
      if (now === last) return reject(new Error(`nothing came within ${stillMs} ms`));
      if (performance.now() - beganMs >= mostMs) {
        return reject(new Slow(`not all of it came within ${mostMs} ms`));
      }
      last = now;
      wait();
    };
    const wait = () => {
      timer = setTimeout(() => {
        turn = setImmediate(look);
      }, stillMs);
    };
    wait();
  });
  return Promise.race([work, expiry]).finally(() => {
    clearTimeout(timer);
    clearImmediate(turn);
  });
}
