import { MILLISECONDS_PER_HOUR, MILLISECONDS_PER_MINUTE } from '@tessera/units';

/**
 * Names of the files of facts: `STAMP.NODE.parquet`, where a stamp is a minute (20261126T1128, then
 * -1, -2 where it has more), ten minutes (20261126T112), an hour (20261126T11) or a day (20261126).
 * A file of more than a minute holds all of the files whose stamps begin with its own: these count
 * no more.
 */

const STAMP = /^(\d{8}(?:T\d{2}(?:\d|\d{2}(?:-\d+)?)?)?)\.[^/]*\.parquet$/;
export const DAY_LENGTH = 8;
const HOUR_LENGTH = 11;
const PART_LENGTH = 12;
const PART_MS = 10 * MILLISECONDS_PER_MINUTE;
const DAY_MS = 24 * MILLISECONDS_PER_HOUR;

export function stampOf(file: string): string | undefined {
  return STAMP.exec(file)?.[1];
}

/** @param length of the stamp: 8 a day, 11 an hour, 13 a minute */
function stampAt(timeMs: number, length: number): string {
  const text = new Date(timeMs).toISOString().replaceAll(/[-:]/g, '');
  return text.slice(0, length);
}

export const minuteAt = (timeMs: number) => stampAt(timeMs, HOUR_LENGTH + 2);
export const hourAt = (timeMs: number) => stampAt(timeMs, HOUR_LENGTH);
export const dayAt = (timeMs: number) => stampAt(timeMs, DAY_LENGTH);

/** Begin of a stamp's span, milliseconds since 1970. */
export function beginOf(stamp: string): number {
  const at = (from: number, to: number) => stamp.slice(from, to).padEnd(2, '0');
  const day = `${stamp.slice(0, 4)}-${at(4, 6)}-${at(6, 8)}`;
  return Date.parse(`${day}T${at(9, 11)}:${at(11, 13)}:00Z`);
}

/** The files that count, in the order of time. */
export function countedFiles(files: readonly string[]): string[] {
  const stamps = new Set(files.map(stampOf));
  const isCovered = (stamp: string) =>
    [DAY_LENGTH, HOUR_LENGTH, PART_LENGTH].some(
      (length) => length < stamp.length && stamps.has(stamp.slice(0, length)),
    );
  return files
    .filter((file) => {
      const stamp = stampOf(file);
      return stamp !== undefined && !isCovered(stamp);
    })
    .sort();
}

/** True of a file whose rows are in the given files of hours or days. */
export function rolledHours(files: readonly string[]): (file: string) => boolean {
  const stamps = new Set(files.map(stampOf));
  return (file) => {
    const stamp = stampOf(file) ?? '';
    const isIn = (length: number) => stamps.has(stamp.slice(0, length));
    return isIn(DAY_LENGTH) || (stamp.length > DAY_LENGTH && isIn(HOUR_LENGTH));
  };
}

/** Files that are to become one, by the stamp of that one. */
export function mergeable(files: readonly string[], nowMs: number): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const file of countedFiles(files)) {
    const stamp = stampOf(file) ?? '';
    const isDayOver = stamp.slice(0, DAY_LENGTH) < dayAt(nowMs);
    const isHourOver = stamp.slice(0, HOUR_LENGTH) < hourAt(nowMs);
    if (stamp.length === DAY_LENGTH || !isHourOver) continue;
    if (stamp.length === HOUR_LENGTH && !isDayOver) continue;
    const length = stamp.length === HOUR_LENGTH ? DAY_LENGTH : HOUR_LENGTH;
    const into = stamp.slice(0, length);
    groups.set(into, [...(groups.get(into) ?? []), file]);
  }
  // A day's hours become one when none of its minutes is left.
  for (const into of groups.keys()) {
    const hasMinutes = [...groups.keys()].some(
      (other) => other.length > into.length && other.startsWith(into),
    );
    if (into.length === DAY_LENGTH && hasMinutes) groups.delete(into);
  }
  return groups;
}

/** Files of ten minutes from which on they become one before their hour is over. */
const CROWD = 20;

/**
 * Merges for a table whose rows people look at while they come, each time in a file of its own:
 * ten minutes with many of them do not wait for their hour.
 */
export function mergeableSoon(files: readonly string[], nowMs: number): Map<string, string[]> {
  const groups = mergeable(files, nowMs);
  const hour = hourAt(nowMs);
  const isOver = (stamp: string) =>
    stamp.length > PART_LENGTH && stamp.startsWith(hour) && stamp < minuteAt(nowMs).slice(0, -1);
  const own = countedFiles(files).filter((file) => isOver(stampOf(file) ?? ''));
  for (const [part, many] of Map.groupBy(own, (file) => file.slice(0, PART_LENGTH))) {
    if (many.length >= CROWD) groups.set(part, many);
  }
  return groups;
}

/** The first minute behind the spans that are in one file; '' without any. */
export function minuteBehindMerged(files: readonly string[]): string {
  const ends = files.flatMap((file) => {
    const stamp = stampOf(file) ?? '';
    if (stamp.length === PART_LENGTH) return [beginOf(stamp) + PART_MS];
    if (stamp.length === HOUR_LENGTH) return [beginOf(stamp) + MILLISECONDS_PER_HOUR];
    return stamp.length === DAY_LENGTH ? [beginOf(stamp) + DAY_MS] : [];
  });
  return ends.length === 0 ? '' : minuteAt(Math.max(...ends));
}

/** The stamp of the file of a minute that was written last; '' without any. */
export function newestStamp(paths: readonly string[]): string {
  const stamps = paths
    .map((path) => stampOf(path.slice(path.lastIndexOf('/') + 1)) ?? '')
    .filter((stamp) => stamp.length > PART_LENGTH);
  const number = (stamp: string) => Number(stamp.split('-')[1] ?? 0);
  const minute = (stamp: string) => stamp.split('-')[0] ?? '';
  const isLater = (a: string, b: string) =>
    minute(a) === minute(b) ? number(a) > number(b) : minute(a) > minute(b);
  return stamps.reduce((newest, stamp) => (isLater(stamp, newest) ? stamp : newest), '');
}
