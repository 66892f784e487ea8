import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@tessera/config';
import { fail } from '../../../tools/terminal/command.js';
import { TINY } from '../../models/model-shape.js';
import { servedModel } from '../streams/served-model.js';
import type { SuiteContext } from '../suite.js';
import type { ModelFolder } from './search-model.js';

/** Folders of --models; the first three are what the bars speak of. */
const TRAINED = ['steam', 'beauty', 'industrial'];
const CATALOGUES = [...TRAINED, 'ml-100k'];
const DEMO = join(repositoryRoot, 'models', 'demo');
const SCRIPT = 'bench/suites/search/train-models.sh';

export interface SuiteModels {
  /** Trained models of real catalogues, or the demo's. */
  readonly measured: readonly ModelFolder[];
  /** Those whose answers are compared with brute force. */
  readonly compared: readonly ModelFolder[];
  /** True if they are those that the bars speak of. */
  readonly areTrained: boolean;
}

/** The models of --models; without it the demo's, and a random one over its items. */
export function suiteModels({ flags, say }: SuiteContext): SuiteModels {
  const folder = flags.text('models');
  if (folder === undefined) {
    say(`without --models the demo's model stands for trained ones, and no bars: sh ${SCRIPT}`);
    const sequencesPath = join(DEMO, 'users.json');
    const demo = { name: 'demo', folder: DEMO, sequencesPath };
    const random = { name: 'random', folder: servedModel(TINY, say), sequencesPath };
    return { measured: [demo], compared: [demo, random], areTrained: false };
  }
  const found = CATALOGUES.map((name): ModelFolder => {
    const path = join(folder, name);
    return { name, folder: join(path, 'model'), sequencesPath: join(path, 'sequences.jsonl') };
  }).filter((model) => existsSync(join(model.folder, 'catalogue.jsonl')));
  const measured = found.filter(({ name }) => TRAINED.includes(name));
  if (measured.length === 0) fail('models', `a folder that ${SCRIPT} has filled`, folder);
  return { measured, compared: found, areTrained: true };
}

/** A bar of trained models; without them there is none. */
export const barOf = ({ areTrained }: SuiteModels, bar: number): number | null =>
  areTrained ? bar : null;
