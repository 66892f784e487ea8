import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@tessera/config';
import { fail } from '../../../tools/terminal/command.js';
import { TINY } from '../../models/model-shape.js';
import { servedModel } from '../../models/served-model.js';
import type { SuiteContext } from '../suite.js';
import type { ModelFolder } from './search-model.js';

/** Folders of --models; the first three are what the bars speak of. */
const TRAINED = ['steam', 'beauty', 'industrial'];
const CATALOGUES = [...TRAINED, 'ml-100k'];
const FLAT = 'flat';
const DEMO = join(repositoryRoot, 'models', 'demo');
const SCRIPT = 'bench/suites/search/train-models.sh';

export interface SuiteModels {
  /** Trained models of real catalogues, or the demo's. */
  readonly measured: readonly ModelFolder[];
  /** Those whose answers are compared with brute force. */
  readonly compared: readonly ModelFolder[];
  /** One that was trained for three batches. */
  readonly flat: ModelFolder | undefined;
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
    return { measured: [demo], compared: [demo, random], flat: undefined, areTrained: false };
  }
  const trained = (name: string): ModelFolder[] => {
    const path = join(folder, name);
    const model = join(path, 'model');
    if (!existsSync(join(model, 'catalogue.jsonl'))) return [];
    return [{ name, folder: model, sequencesPath: join(path, 'sequences.jsonl') }];
  };
  const found = CATALOGUES.flatMap(trained);
  const measured = found.filter(({ name }) => TRAINED.includes(name));
  if (measured.length === 0) fail('models', `a folder that ${SCRIPT} has filled`, folder);
  return { measured, compared: found, flat: trained(FLAT)[0], areTrained: true };
}

/** A bar of trained models; without them there is none. */
export const barOf = ({ areTrained }: SuiteModels, bar: number): number | null =>
  areTrained ? bar : null;
