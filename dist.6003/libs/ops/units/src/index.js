/** How many of one unit make another. */ export const MICROSECONDS_PER_MILLISECOND = 1000;
export const MICROSECONDS_PER_SECOND = 1_000_000;
export const MILLISECONDS_PER_SECOND = 1000;
export const MILLISECONDS_PER_MINUTE = 60_000;
export const MILLISECONDS_PER_HOUR = 3_600_000;
export const MILLISECONDS_PER_DAY = 86_400_000;
/** Milliseconds of the longest timer of Node, 24.8 days: a longer one ends at once. */ export const TIMER_MS_MAX = 2 ** 31 - 1;
/** Bytes. */ export const MEBIBYTE = 2 ** 20;
export { CLOCK } from "./steady-clock.js";

//# sourceMappingURL=index.js.map