import { basename } from 'node:path';
import { FileCheck, readUsersText } from '@tessera/behaviour';
import type { Case } from './cases.js';

const MEMBERS = ['system', 'user', 'items'];
const SYSTEM_LENGTH_MAX = 40;
const SYSTEMS_MAX = 100;
const ITEMS_MAX = 10_000;

/** Item IDs of each user, best first, as another system ranked them. */
export type RankedLists = ReadonlyMap<string, readonly string[]>;

/**
 * Reads JSON lines of `{"system", "user", "items"}`, gzip-compressed or not: one list a user of
 * each system, in the order of the file.
 * @throws TesseraError BEHAVIOUR_INVALID naming line and member, or IO_FAILED
 */
export async function readLists(path: string): Promise<ReadonlyMap<string, RankedLists>> {
  return parseLists(await readUsersText(path), basename(path));
}

export function parseLists(text: string, fileName: string): ReadonlyMap<string, RankedLists> {
  const check = new FileCheck(fileName, 0);
  const systems = new Map<string, Map<string, readonly string[]>>();
  text.split('\n').forEach((line, index) => {
    if (line.trim() === '') return;
    const path = `lines[${index + 1}]`;
    const row = check.line(line, path);
    check.onlyKeys(row, MEMBERS, path);
    const system = systemOf(check, row.system, `${path}.system`);
    const user = check.itemId(row.user, `${path}.user`);
    const lists = systems.get(system) ?? new Map();
    if (lists.has(user)) {
      check.fail(`${path}.user`, `one list of ${system} for each user`, `another of '${user}'`);
    }
    lists.set(user, itemsOf(check, row.items, `${path}.items`));
    systems.set(system, lists);
    if (systems.size > SYSTEMS_MAX) {
      check.fail(`${path}.system`, `at most ${SYSTEMS_MAX} systems`, `another, '${system}'`);
    }
  });
  if (systems.size === 0) check.fail('', 'a list of a user', 'none');
  return systems;
}

function systemOf(check: FileCheck, value: unknown, path: string): string {
  if (typeof value !== 'string') {
    return check.fail(path, 'a string', String(JSON.stringify(value)));
  }
  check.id(value, SYSTEM_LENGTH_MAX, path);
  return value;
}

function itemsOf(check: FileCheck, value: unknown, path: string): readonly string[] {
  if (!Array.isArray(value)) {
    return check.fail(path, 'an array of item IDs', String(JSON.stringify(value)));
  }
  if (value.length > ITEMS_MAX) check.fail(path, `at most ${ITEMS_MAX} items`, `${value.length}`);
  const places = new Map<string, number>();
  value.forEach((item, index) => {
    const id = check.itemId(item, `${path}[${index}]`);
    const before = places.get(id);
    if (before !== undefined) {
      check.fail(`${path}[${index}]`, 'each item once', `'${id}' of ${path}[${before}] again`);
    }
    places.set(id, index);
  });
  return [...places.keys()];
}

/** Lists of the asked users, without what the service could not have answered. */
export interface MaskedLists {
  /** In the order of the cases; empty for a user without one. */
  readonly lists: readonly (readonly string[])[];
  readonly usersWithout: number;
  /** Lists of users who are not asked. */
  readonly otherUsers: number;
  /** Places of items that the catalogue does not have. */
  readonly unknownItems: number;
}

/** @param isUnseen items of a user's history are left out as well, as of the service's answers */
export function maskedLists(
  given: RankedLists,
  cases: readonly Case[],
  unknown: ReadonlySet<string>,
  isUnseen: boolean,
): MaskedLists {
  let unknownItems = 0;
  const lists = cases.map(({ userId, history }) => {
    const known = (given.get(userId) ?? []).filter((item) => !unknown.has(item));
    unknownItems += (given.get(userId)?.length ?? 0) - known.length;
    const seen = new Set(isUnseen ? history : []);
    return known.filter((item) => !seen.has(item));
  });
  const usersWithout = cases.filter(({ userId }) => !given.has(userId)).length;
  const otherUsers = given.size - (cases.length - usersWithout);
  return { lists, usersWithout, otherUsers, unknownItems };
}
