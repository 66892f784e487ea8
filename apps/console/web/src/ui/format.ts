/** Numbers and times as people read them, in the reader's own language and zone. */

const FIELDS = {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
} as const;
const SECONDS = { ...FIELDS, second: '2-digit', timeZoneName: 'short' } as const;
const TIME = new Intl.DateTimeFormat(undefined, SECONDS);
const MINUTE = new Intl.DateTimeFormat(undefined, FIELDS);
const COUNT = new Intl.NumberFormat();
const SHORT = new Intl.NumberFormat(undefined, {
  notation: 'compact',
  maximumSignificantDigits: 3,
});

/** The reader's zone, as it is written behind a time. */
export const ZONE =
  TIME.formatToParts(0).find(({ type }) => type === 'timeZoneName')?.value ?? 'UTC';

export const formatTime = (timeMs: number) => TIME.format(timeMs);
/** Without its zone: where the column, or the text beside it, names that. */
export const formatMinute = (timeMs: number) => MINUTE.format(timeMs);
export const formatCount = (count: number) => COUNT.format(count);
/** Three digits, as large numbers are read at a glance. */
export const formatShort = (count: number) => SHORT.format(count);

/** Microseconds, in the unit that fits. */
export function formatUs(us: number): string {
  if (us < 1000) return `${us.toFixed(0)} µs`;
  const milliseconds = us / 1000;
  if (milliseconds < 1000) return `${milliseconds.toFixed(milliseconds < 10 ? 2 : 1)} ms`;
  return `${(milliseconds / 1000).toFixed(2)} s`;
}

/** A share, in percent. */
export function formatShare(share: number): string {
  const percent = share * 100;
  if (percent === 0 || percent === 100) return `${percent} %`;
  if (percent < 0.01) return '< 0.01 %';
  return `${percent.toFixed(percent < 1 ? 2 : 1)} %`;
}

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

export function formatBytes(bytes: number): string {
  const unit = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  return `${(bytes / 2 ** (10 * unit)).toFixed(unit === 0 ? 0 : 1)} ${UNITS[unit]}`;
}

/** The first characters of a digest. */
export const shortDigest = (digest: string) => digest.slice(0, 10);
