import type { FlagKind } from '../terminal/command.js';
import { MODEL_FLAGS } from '../terminal/model-flags.js';
import { SEARCH_FLAGS } from '../terminal/search-flags.js';
import { EXPLORE_FLAGS, VALUE_FLAGS } from '../terminal/value-flags.js';
import { RANK_FLAGS } from './ranking-flags.js';

/** Of `npm run recall`. */
export const RECALL_FLAGS: Readonly<Record<string, FlagKind>> = {
  ...MODEL_FLAGS,
  ...SEARCH_FLAGS,
  ...VALUE_FLAGS,
  ...EXPLORE_FLAGS,
  ...RANK_FLAGS,
  report: 'text',
  history: 'text',
  user: 'text',
  scene: 'texts',
  profile: 'texts',
  'skip-unknown': 'switch',
  'deadline-ms': 'text',
  passes: 'switch',
  'prompt-tokens': 'list',
  prompts: 'text',
  'level-token-base': 'list',
  'terminal-tokens': 'list',
  widths: 'list',
  results: 'text',
  'items-per-sid': 'text',
  score: 'text',
  json: 'switch',
};
