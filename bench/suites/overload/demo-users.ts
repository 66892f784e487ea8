import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@tessera/config';

export const DEMO_USERS_FILE = join(repositoryRoot, 'models', 'demo', 'users.json');
const USERS_MAX = 200;

/** Users that the demo's model can recall for. */
export function demoUserIds(): readonly string[] {
  return Object.keys(JSON.parse(readFileSync(DEMO_USERS_FILE, 'utf8')) as object).slice(
    0,
    USERS_MAX,
  );
}
