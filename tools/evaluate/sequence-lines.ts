import { basename } from 'node:path';
import { expecting, shown } from '@tessera/errors';

const invalid = expecting('BEHAVIOUR_INVALID');
const LINES_NAME = /\.(jsonl|ndjson)(\.gz)?$/;

/** A user of JSON lines. */
export interface UserSequence {
  /** Oldest first. */
  readonly history: readonly string[];
  /** The item that follows; undefined where the line has none. */
  readonly target: string | undefined;
}

/** Whether a file has JSON lines, by its name as for the trainer. */
export function hasLines(path: string): boolean {
  return LINES_NAME.test(basename(path));
}

/**
 * Lines `{"user", "history", "target"?}`. Of several of one user the longest is kept, the later of
 * equals: rows of a rolling split repeat each other.
 * @throws TesseraError BEHAVIOUR_INVALID naming line and member
 */
export function parseSequenceLines(text: string): {
  readonly users: ReadonlyMap<string, UserSequence>;
  readonly repeatedLines: number;
} {
  const users = new Map<string, UserSequence>();
  let repeatedLines = 0;
  text.split('\n').forEach((line, index) => {
    if (line.trim() === '') return;
    const { user, sequence } = parseLine(line, `lines[${index + 1}]`);
    const before = users.get(user);
    if (before !== undefined) repeatedLines += 1;
    if (before === undefined || lengthOf(sequence) >= lengthOf(before)) users.set(user, sequence);
  });
  return { users, repeatedLines };
}

function lengthOf({ history, target }: UserSequence): number {
  return history.length + (target === undefined ? 0 : 1);
}

function parseLine(line: string, path: string): { user: string; sequence: UserSequence } {
  const row = parsed(line, path);
  const { user, history, target } = row;
  const known = ['user', 'history', 'target'];
  const stranger = Object.keys(row).find((name) => !known.includes(name));
  if (stranger !== undefined) throw invalid(`${path}.${stranger}`, known.join(', '), 'it');
  if (!Array.isArray(history)) throw invalid(`${path}.history`, 'a list of item IDs', history);
  return {
    user: idOf(user, `${path}.user`),
    sequence: {
      history: history.map((item, at) => idOf(item, `${path}.history[${at}]`)),
      target: target === undefined ? undefined : idOf(target, `${path}.target`),
    },
  };
}

function parsed(line: string, path: string): Record<string, unknown> {
  try {
    const row: unknown = JSON.parse(line);
    if (typeof row === 'object' && row !== null) return row as Record<string, unknown>;
  } catch {
    // Refused as what is no object.
  }
  throw invalid(path, 'a JSON object {"user", "history", "target"?}', shown(line));
}

function idOf(value: unknown, path: string): string {
  if (Number.isSafeInteger(value) || (typeof value === 'string' && value !== '')) {
    return String(value);
  }
  throw invalid(path, 'an ID, a text or an integer', value);
}
