/** Numbers and times as people read them, in the reader's own language and zone. */

const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const COUNT = new Intl.NumberFormat();

export const formatTime = (timeMs: number) => TIME.format(timeMs);
export const formatCount = (count: number) => COUNT.format(count);

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
