import { MILLISECONDS_PER_SECOND, TIMER_MS_MAX } from '@tessera/units';

/** grpc-js cuts milliseconds to those of a timer: 25 days had passed before they began. */
const MS_MAX = Math.floor(TIMER_MS_MAX / MILLISECONDS_PER_SECOND) * MILLISECONDS_PER_SECOND;
/** Largest number of eight digits. */
const NUMBER_MAX = 99_999_999;
const MS_OF_UNIT: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
};

/**
 * Milliseconds of a grpc-timeout (gRPC over HTTP/2, "Timeout"), those of a timer at most.
 * Undefined: it is none.
 */
export function timeoutMsOf(value: string): number | undefined {
  const [, digits, unit = ''] = /^(\d{1,8})([HMSmun])$/.exec(value) ?? [];
  if (digits === undefined) return undefined;
  return Math.min(MS_MAX, Number(digits) * (MS_OF_UNIT[unit] ?? 0));
}

/** The grpc-timeout of so many milliseconds. */
export function timeoutText(ms: number): string {
  if (ms <= NUMBER_MAX) return `${Math.floor(ms)}m`;
  return `${Math.min(NUMBER_MAX, Math.floor(ms / MILLISECONDS_PER_SECOND))}S`;
}
