import { basename } from 'node:path';
import {
  hasLines,
  loadBehaviourStore,
  parseSequenceLines,
  readUsersText,
} from '@tessera/behaviour';
import { fail } from '../terminal/command.js';
import { readJson } from '../terminal/json-file.js';

/** One user's question: which item follows this history. */
export interface Case {
  readonly userId: string;
  /** Oldest first. */
  readonly history: readonly string[];
  readonly target: string;
}

export interface CaseSource {
  readonly sequencesPath: string;
  /** `{"user": item}`; undefined: that of the line, or the last item, which is held out. */
  readonly targetsPath: string | undefined;
  /** Newest items of a history that are sent. */
  readonly itemsMax: number;
  /** Users asked at most, in the order of the file; undefined: all. */
  readonly usersMax: number | undefined;
}

export interface Cases {
  readonly cases: readonly Case[];
  /** Users left out: no target, or no history before it. */
  readonly skipped: number;
  /** Lines of users who have a longer one. */
  readonly repeatedLines: number;
}

/** Reads whom to ask for what. Throws BEHAVIOUR_INVALID, or a usage error for the targets. */
export async function readCases(source: CaseSource): Promise<Cases> {
  const { users, repeatedLines } = await readSequences(source.sequencesPath);
  const targets = source.targetsPath === undefined ? null : await readTargets(source.targetsPath);
  const cases: Case[] = [];
  let skipped = 0;
  for (const [userId, sequence] of users) {
    if (cases.length === source.usersMax) break;
    const items = [...sequence.history];
    const target = targets === null ? (sequence.target ?? items.pop()) : targets.get(userId);
    if (target === undefined || items.length === 0) {
      skipped += 1;
      continue;
    }
    cases.push({ userId, history: items.slice(-source.itemsMax), target });
  }
  if (cases.length === 0) fail('sequences', 'a user with a history and a target', 'none');
  return { cases, skipped, repeatedLines };
}

interface Asked {
  /** Oldest first. */
  readonly history: readonly string[];
  /** The item that follows; undefined: the last one is held out. */
  readonly target: string | undefined;
}

async function readSequences(path: string) {
  if (hasLines(path)) {
    const { users, repeatedLines } = parseSequenceLines(
      await readUsersText(path),
      basename(path),
      Date.now(),
    );
    const asked = [...users].map(([userId, { behaviours, target }]): [string, Asked] => {
      const items = behaviours.map((behaviour) => behaviour.itemId);
      return [userId, { history: target === undefined ? items : items.slice(0, -1), target }];
    });
    return { users: new Map(asked), repeatedLines };
  }
  const store = await loadBehaviourStore(path);
  const users = new Map<string, Asked>();
  for (const userId of await store.userIds(Number.MAX_SAFE_INTEGER)) {
    const behaviours = (await store.history(userId, Number.MAX_SAFE_INTEGER)) ?? [];
    const history = behaviours.map((behaviour) => behaviour.itemId);
    users.set(userId, { history, target: undefined });
  }
  return { users, repeatedLines: 0 };
}

async function readTargets(path: string): Promise<ReadonlyMap<string, string>> {
  const document = await readJson('targets', path);
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    fail('targets', 'an object of {"user": item}', path);
  }
  return new Map(
    Object.entries(document).map(([userId, item]) => {
      if (typeof item === 'string' || Number.isSafeInteger(item)) return [userId, String(item)];
      return fail('targets', `an item ID for user '${userId}'`, JSON.stringify(item));
    }),
  );
}
