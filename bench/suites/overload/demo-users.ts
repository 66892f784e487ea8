import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@tessera/config';

export const DEMO_USERS_FILE = join(repositoryRoot, 'models', 'demo', 'users.json');
const CATALOGUE_FILE = join(repositoryRoot, 'models', 'demo', 'catalogue.jsonl');
const USERS_MAX = 200;

/** Users that the demo's model can recall for. */
export function demoUserIds(): readonly string[] {
  return Object.keys(JSON.parse(readFileSync(DEMO_USERS_FILE, 'utf8')) as object).slice(
    0,
    USERS_MAX,
  );
}

/** Items of the demo's catalogue. */
export function demoItemIds(): readonly string[] {
  const lines = readFileSync(CATALOGUE_FILE, 'utf8').trim().split('\n');
  return lines.map((line) => (JSON.parse(line) as { item_id: string }).item_id);
}
