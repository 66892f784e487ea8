import { basename } from 'node:path';
import { FileCheck, parseUser, type User } from './parse-users.js';

const LINES_NAME = /\.(jsonl|ndjson)(\.gz)?$/;
const MEMBERS = ['user', 'history', 'target', 'times', 'actions', 'scenes', 'profile'];

/** A user of JSON lines. */
export interface UserSequence extends User {
  /** The item that follows, the newest of `behaviours`; undefined where the line has none. */
  readonly target: string | undefined;
}

export interface Sequences {
  readonly users: ReadonlyMap<string, UserSequence>;
  /** Lines of users who have a longer one. */
  readonly repeatedLines: number;
}

/** True if a file has JSON lines, by its name as for the trainer. */
export function hasLines(path: string): boolean {
  return LINES_NAME.test(basename(path));
}

/**
 * Lines as `trainer sequences` writes them: `{"user", "history", "target"?, "times"?, "actions"?,
 * "scenes"?, "profile"?}`, where each of the three lists has one entry per item, the target's
 * included, and times are in seconds, in their order. Of several lines of one user the longest is
 * kept, the later of equals: rows of a rolling split repeat each other. Scenes are those of
 * prompts that were asked then, which no recall asks for again.
 * @throws TesseraError BEHAVIOUR_INVALID naming line and member
 */
export function parseSequenceLines(text: string, fileName: string, nowMs: number): Sequences {
  const check = new FileCheck(fileName, nowMs);
  const users = new Map<string, UserSequence>();
  let repeatedLines = 0;
  text.split('\n').forEach((line, index) => {
    if (line.trim() === '') return;
    const [name, sequence] = parseLine(check, line, `lines[${index + 1}]`);
    const before = users.get(name);
    if (before !== undefined) repeatedLines += 1;
    const isLonger = sequence.behaviours.length >= (before?.behaviours.length ?? 0);
    if (isLonger) users.set(name, sequence);
  });
  return { users, repeatedLines };
}

function parseLine(check: FileCheck, line: string, path: string): [string, UserSequence] {
  const row = check.line(line, path);
  check.onlyKeys(row, MEMBERS, path);
  const { user, history, target = null } = row;
  const name = check.itemId(user, `${path}.user`);
  if (!Array.isArray(history)) check.fail(`${path}.history`, 'an array', typeof history);
  const items = (history as unknown[]).map((item, i): [unknown, string] => [
    item,
    `${path}.history[${i}]`,
  ]);
  if (target !== null) items.push([target, `${path}.target`]);
  const times = listOf(check, row.times, items.length, `${path}.times`);
  const actions = listOf(check, row.actions, items.length, `${path}.actions`);
  listOf(check, row.scenes, items.length, `${path}.scenes`);
  times.forEach((time, i) => {
    const before = times[i - 1];
    if (i > 0 && Number(time) < Number(before)) {
      check.fail(`${path}.times[${i}]`, 'times in order, oldest first', String(time));
    }
  });
  const behaviours = items.map(([item, where], i) => ({
    item_id: check.itemId(item, where),
    action: actions[i] ?? '',
    time: times[i] ?? 0,
  }));
  const parts = { behaviours, profile: row.profile ?? {} };
  const known = parseUser(check, parts, path);
  return [name, Object.assign(known, { target: target === null ? undefined : String(target) })];
}

/** List with one entry per item; empty where there is none. */
function listOf(check: FileCheck, value: unknown, count: number, path: string): unknown[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value) && value.length === count) return value;
  const got = Array.isArray(value) ? `${value.length}` : typeof value;
  return check.fail(path, `${count} entries, one per item`, got);
}
