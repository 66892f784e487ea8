import { idExpected, isBlank, parseJson, TesseraError } from '@tessera/errors';
import type { Behaviour } from './behaviour-store.js';
import { faultOfTime } from './plausible-time.js';

const USERS_MAX = 10_000_000;
export const USER_ID_LENGTH_MAX = 256;
export const ITEM_ID_LENGTH_MAX = 1024;
const BEHAVIOURS_PER_USER_MAX = 1_000_000;
const ACTION_LENGTH_MAX = 64;
export const PROFILE_KEYS_MAX = 1000;
export const PROFILE_VALUE_LENGTH_MAX = 4096;

/** One user's profile and behaviours. */
export interface User {
  /** Oldest first. */
  readonly behaviours: readonly Behaviour[];
  readonly profile: Readonly<Record<string, string>>;
}

/**
 * Users from a parsed document: `{"1": {"behaviours": [{"item_id", "action", "time"}], "profile"}}`
 * or `{"1": [item IDs, oldest first]}`. Behaviours are put in the order of their time; equal times
 * keep the order of the file.
 * @throws TesseraError BEHAVIOUR_INVALID with the path of the first field at fault
 */
export function parseUsers(
  document: unknown,
  fileName: string,
  nowMs: number = Date.now(),
): ReadonlyMap<string, User> {
  const check = new FileCheck(fileName, nowMs);
  const users = check.object(document, '');
  const ids = Object.keys(users);
  if (ids.length > USERS_MAX) check.fail('', `at most ${USERS_MAX} users`, `${ids.length}`);
  return new Map(
    ids.map((id) => {
      check.id(id, USER_ID_LENGTH_MAX, `user '${id.slice(0, 40)}'`);
      const value = users[id];
      return [id, Array.isArray(value) ? sequence(check, value, id) : parseUser(check, value, id)];
    }),
  );
}

function sequence(check: FileCheck, items: readonly unknown[], path: string): User {
  check.count(items, path);
  const behaviours = items.map((item, index) => ({
    itemId: check.itemId(item, `${path}[${index}]`),
    action: '',
    time: 0,
  }));
  return { behaviours, profile: {} };
}

export function parseUser(check: FileCheck, value: unknown, path: string): User {
  const fields = check.object(value, path);
  check.onlyKeys(fields, ['behaviours', 'profile'], path);
  const listed = fields.behaviours ?? [];
  if (!Array.isArray(listed)) check.fail(`${path}.behaviours`, 'an array', typeof listed);
  const list = listed as unknown[];
  check.count(list, `${path}.behaviours`);
  const behaviours = list.map((item, i) => behaviour(check, item, `${path}.behaviours[${i}]`));
  behaviours.sort((a, b) => a.time - b.time);
  return { behaviours, profile: profile(check, fields.profile, `${path}.profile`) };
}

function behaviour(check: FileCheck, value: unknown, path: string): Behaviour {
  const fields = check.object(value, path);
  check.onlyKeys(fields, ['item_id', 'action', 'time'], path);
  const action = fields.action ?? '';
  if (typeof action !== 'string') check.fail(`${path}.action`, 'a string', typeof action);
  check.length(action as string, 0, ACTION_LENGTH_MAX, `${path}.action`);
  const time = fields.time ?? 0;
  if (typeof time !== 'number' || !Number.isFinite(time)) {
    check.fail(`${path}.time`, 'seconds since 1970', JSON.stringify(time));
  }
  const fault = faultOfTime(time as number, 'seconds', check.nowMs);
  if (fault !== undefined) check.fail(`${path}.time`, fault.expected, fault.got);
  const itemId = check.itemId(fields.item_id, `${path}.item_id`);
  return { itemId, action: action as string, time: time as number };
}

function profile(check: FileCheck, value: unknown, path: string): Record<string, string> {
  const fields = check.object(value ?? {}, path);
  const keys = Object.keys(fields);
  if (keys.length > PROFILE_KEYS_MAX) {
    check.fail(path, `at most ${PROFILE_KEYS_MAX} keys`, `${keys.length}`);
  }
  return Object.fromEntries(
    keys.map((key) => {
      const entry = fields[key];
      const scalar = ['string', 'number', 'boolean'].includes(typeof entry);
      if (!scalar) check.fail(`${path}.${key}`, 'a string, a number or a boolean', typeof entry);
      check.length(String(entry), 0, PROFILE_VALUE_LENGTH_MAX, `${path}.${key}`);
      return [key, String(entry)];
    }),
  );
}

/** Checks that name the file and the path. Times are held against `nowMs`. */
export class FileCheck {
  constructor(
    private readonly fileName: string,
    readonly nowMs: number,
  ) {}

  fail(path: string, expected: string, got: string): never {
    const where = path === '' ? this.fileName : `${this.fileName}: ${path}`;
    throw new TesseraError('BEHAVIOUR_INVALID', `${where}: expected ${expected}, got ${got}`, {
      field: path === '' ? this.fileName : path,
    });
  }

  object(value: unknown, path: string): Record<string, unknown> {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as Record<string, unknown>;
    }
    return this.fail(path, 'an object', Array.isArray(value) ? 'an array' : String(value));
  }

  /** An object on a line of its own. */
  line(text: string, path: string): Record<string, unknown> {
    let row: unknown;
    try {
      row = parseJson(text);
    } catch (error) {
      this.fail(path, 'JSON', (error as Error).message);
    }
    return this.object(row, path);
  }

  onlyKeys(fields: Record<string, unknown>, known: readonly string[], path: string): void {
    const unknown = Object.keys(fields).find((key) => !known.includes(key));
    if (unknown !== undefined) this.fail(path, `the keys ${known.join(', ')}`, `'${unknown}'`);
  }

  length(text: string, min: number, max: number, path: string): void {
    if (text.length >= min && text.length <= max) return;
    this.fail(path, `${min}..${max} characters`, `${text.length}`);
  }

  id(text: string, lengthMax: number, path: string): void {
    this.length(text, 1, lengthMax, path);
    if (isBlank(text)) this.fail(path, 'an ID that is not blank', JSON.stringify(text));
  }

  count(list: readonly unknown[], path: string): void {
    if (list.length <= BEHAVIOURS_PER_USER_MAX) return;
    this.fail(path, `at most ${BEHAVIOURS_PER_USER_MAX} behaviours`, `${list.length}`);
  }

  /** Item IDs are strings; integers, as sequences have them, are written in decimal. */
  itemId(value: unknown, path: string): string {
    if (typeof value === 'string') {
      this.id(value, ITEM_ID_LENGTH_MAX, path);
      return value;
    }
    if (Number.isSafeInteger(value)) return String(value);
    return this.fail(path, idExpected(value), String(JSON.stringify(value)));
  }
}
