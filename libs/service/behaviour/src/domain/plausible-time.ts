import { MILLISECONDS_PER_SECOND } from '@tessera/units';

/** Milliseconds that a producer's clock may be ahead. */
export const FUTURE_MS_MAX = 5 * 60 * 1000;
/** Behaviours that are dated are not older than this: 1990. */
const DATED_MS_MIN = 631_152_000_000;

/** Milliseconds of each unit that times are mistaken for. */
const UNITS: Readonly<Record<string, number>> = {
  seconds: MILLISECONDS_PER_SECOND,
  milliseconds: 1,
  microseconds: 1e-3,
  nanoseconds: 1e-6,
};

/**
 * The fault of a time, as `expected ..., got ...` takes it; undefined where there is none. Every
 * way in asks this: files, gRPC, topics (the trainer has its twin, `trainer/times.py`). A time that
 * lies ahead or before 1990, and would be of our days in another unit, names that unit. Other times
 * before 1990 are an order without dates.
 * @param unit of the time
 */
export function faultOfTime(
  time: number,
  unit: 'seconds' | 'milliseconds',
  nowMs: number,
): { readonly expected: string; readonly got: string } | undefined {
  const timeMs = time * (UNITS[unit] as number);
  const isOfOurDays = (ms: number) => ms >= DATED_MS_MIN && ms <= nowMs + FUTURE_MS_MAX;
  if (isOfOurDays(timeMs) || time === 0) return undefined;
  const likely = Object.keys(UNITS).find(
    (name) => name !== unit && isOfOurDays(time * (UNITS[name] as number)),
  );
  if (timeMs > 0 && timeMs < DATED_MS_MIN && likely === undefined) return undefined;
  const hint = likely === undefined ? '' : `, which looks like ${likely}`;
  const bounds = 'not negative and at most five minutes ahead';
  return { expected: `${unit} since 1970, ${bounds}`, got: `${time}${hint}` };
}
