import { resolve } from 'node:path';
import { loadConfig } from '@tessera/config';
import { measureTexts } from '@tessera/embedding';
import { measureScales } from '@tessera/engine';
import { encoderThreads } from '../../apps/standalone/src/embedding.js';
import { readCases } from '../evaluate/cases.js';
import { readPrompts } from '../recall/raw-recall.js';
import { Flags, fail, print } from '../terminal/command.js';
import { readTexts } from '../terminal/json-file.js';
import { MODEL_FLAGS, runtimeOptions } from '../terminal/model-flags.js';
import { ProgressLine } from '../terminal/progress.js';
import { promptsOf } from './prompts.js';
import { unseenLines } from './unseen-experts.js';

const KEPT_ALL = 1000;
const COUNT_MAX = 1_000_000_000;
const DEFAULT_USERS = 500;

const THREADS_MAX = 256;

export const CALIBRATE_USAGE = `\
--calibrate measures what enters the linear layers of a model and writes fixed activation scales
for --activation-scales of other commands, or activation-scales.json in the model folder
(docs/operate/quantisation.md).
  --sequences FILE     {"user": [item IDs, oldest first]}, .gz too, as prompts of the service
  --prompts FILE       an array of token-id arrays instead
  --model DIR, --catalogue FILE[#domain=NAME]    as for npm run recall
  --users N            users taken at most (default ${DEFAULT_USERS})
  --max-items N        newest items of a history
  --keep N             rows per thousand that are represented whole (default ${KEPT_ALL})
  --threads N
With --texts, an array of texts, the model is an encoder: what enters its linear layers is
measured, and the static scales of --dtype w8a8-static are written beside its checkpoint. A
thousand texts such as it will be given are enough.`;

/** Writes the scales that the words behind --calibrate ask for. */
export async function calibrate(words: readonly string[]): Promise<void> {
  const flags = Flags.parse(words, {
    ...MODEL_FLAGS,
    sequences: 'text',
    prompts: 'text',
    users: 'text',
    'max-items': 'text',
    keep: 'text',
    out: 'text',
    texts: 'text',
  });
  if (flags.has('texts')) return calibrateEncoder(flags);
  if (flags.has('sequences') === flags.has('prompts')) {
    fail('sequences', 'exactly one of --sequences and --prompts', 'none or both');
  }
  const outputPath = flags.required('out');
  const keptPerMille = flags.integer('keep', 1, KEPT_ALL) ?? KEPT_ALL;
  const progress = new ProgressLine();
  const options = runtimeOptions(flags, progress.update);
  const prompts = flags.has('prompts')
    ? await readPrompts(flags.required('prompts'))
    : await fromSequences(flags, options);
  progress.end();
  const { rows, unseen } = await measureScales({
    modelPath: options.modelPath,
    outputPath,
    threadCount: options.engine.threadCount,
    keptPerMille,
    prompts,
  });
  await print(`${outputPath}: activation scales from ${rows} rows of ${prompts.length} prompts`);
  for (const line of unseenLines(unseen)) await print(line);
}

/** Empty texts have no tokens to measure. */
async function calibrateEncoder(flags: Flags): Promise<void> {
  const texts = (await readTexts('texts', flags.required('texts'))).filter(
    (text) => text.trim() !== '',
  );
  if (texts.length === 0) fail('texts', 'an array with a text that is not empty', 'none');
  const { config } = loadConfig();
  const threads = flags.integer('threads', 1, THREADS_MAX) ?? encoderThreads(config);
  const made = await measureTexts(resolve(flags.required('model')), texts, threads);
  const { path, tokens, truncated } = made;
  await print(`${path}: static scales from ${tokens} tokens of ${texts.length} texts`);
  if (truncated > 0) await print(`${truncated} texts were truncated`);
}

async function fromSequences(flags: Flags, options: ReturnType<typeof runtimeOptions>) {
  const { historyItemsMax } = options.recall;
  const { cases } = await readCases({
    sequencesPath: flags.required('sequences'),
    targetsPath: undefined,
    itemsMax: flags.integer('max-items', 1, historyItemsMax) ?? historyItemsMax,
    usersMax: flags.integer('users', 1, COUNT_MAX) ?? DEFAULT_USERS,
  });
  return promptsOf(options, cases);
}
