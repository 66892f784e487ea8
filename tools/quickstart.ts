import { execFile, spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expecting } from '@tessera/errors';
import { preparePython } from './quickstart/python.js';
import { type QuickstartPlan, servedBy, stepsOf } from './quickstart/steps.js';
import { Flags, print, runCommand, UsageError } from './terminal/command.js';

const USAGE = `usage: npm run -s quickstart -- --items FILE --behaviours FILE [--out DIR] [--serve]

From ads and clicks to a served model: semantic IDs of the ads' texts, a small model of what users
click, its test against the most popular items and item-KNN (docs/concepts/semantic-ids.md).
Progress goes to the standard error, the tables of the test and how to serve to the standard output.

  --items FILE         TSV with a header: item, title and further columns; may end in .gz
  --behaviours FILE    TSV with a header: user, item, time; may end in .gz
  --out DIR            output folder; the same command continues where it stopped
                       (default: data/quickstart)
  --encoder DIR        Hugging Face or SentenceTransformers folder that makes vectors of titles, and
                       of new ads while it serves (default: TF-IDF, which needs no weights)
  --embeddings FILE    .npy of (items, dimension) in the order of --items, in place of their titles
  --columns A,B        of --items, the texts that semantic IDs are made of (default: title)
  --device D           cpu, or cuda for a card: the model is trained there (default: cpu)
  --minutes N          of training with its validations and its test at most (default 45)
  --max-items N        behaviours that a prompt shows (default: the users' median, in 20 to 100)
  --threads N          of the machine (default: its cores)
  --seed N             (default 1)
  --python FILE        a Python that has trainer/requirements.txt (default: made in .venv)
  --serve              serves the model at the end`;

const MINUTES_MAX = 7 * 24 * 60;
const THREADS_MAX = 1024;
const ITEMS_MAX = 10_000;
const SEED_MAX = 2 ** 31 - 1;

/** A command of a step ended with a failure, which it has told by itself. */
class StepFailed extends Error {
  constructor(command: string, ended: string | number | null) {
    super(`${command} ended with ${ended}: its own words are above`);
  }
}

/** Ends the quickstart with one line where a step failed: no fault of ours to trace. */
async function stoppingAtFailures(act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (thrown) {
    if (!(thrown instanceof StepFailed)) throw thrown;
    tell(thrown.message);
    process.exitCode = 1;
  }
}

function run(command: string, words: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, words, { stdio: 'inherit' });
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      if (code === 0) resolve();
      else reject(new StepFailed(`${command} ${words.slice(0, 3).join(' ')}`, signal ?? code));
    });
  });
}

/** Commands that a person types for a step, and the programs that run them. */
const PROGRAMS = {
  trainer: { shown: 'python -m trainer', first: ['-m', 'trainer'] },
  embed: { shown: 'npm run -s embed --', first: [join(import.meta.dirname, 'embed.js')] },
};

function planOf(flags: Flags): QuickstartPlan {
  const [embeddings, encoder] = [flags.text('embeddings'), flags.text('encoder')];
  if (embeddings !== undefined && encoder !== undefined) {
    throw new UsageError('--encoder: expected none beside --embeddings');
  }
  if (embeddings !== undefined && flags.has('columns')) {
    throw new UsageError('--columns: expected none beside --embeddings, which are of no texts');
  }
  return {
    items: flags.required('items'),
    behaviours: flags.required('behaviours'),
    out: flags.text('out') ?? join('data', 'quickstart'),
    embeddings,
    encoder,
    columns: flags.text('columns')?.split(','),
    device: flags.text('device') ?? 'cpu',
    minutes: flags.integer('minutes', 1, MINUTES_MAX) ?? 45,
    maxItems: flags.integer('max-items', 1, ITEMS_MAX),
    threads: flags.integer('threads', 1, THREADS_MAX) ?? availableParallelism(),
    seed: flags.integer('seed', 0, SEED_MAX) ?? 1,
  };
}

const PYTHON_PACKAGES =
  'import numpy, safetensors, tessera_client, tokenizers, torch, transformers';

/** @throws TesseraError CONFIG_INVALID where a package of the trainer is absent */
async function checkPython(python: string): Promise<void> {
  await promisify(execFile)(python, ['-c', PYTHON_PACKAGES]).catch((thrown: Error) => {
    const said = thrown.message.trim().split('\n').at(-1) ?? '';
    const expected = 'a Python that has the packages of trainer/requirements.txt';
    throw expecting('CONFIG_INVALID')('--python', expected, said, thrown);
  });
}

const tell = (text: string) => process.stderr.write(`${text}\n`);

async function makeAll(plan: QuickstartPlan, python: string): Promise<void> {
  await mkdir(plan.out, { recursive: true });
  const steps = stepsOf(plan);
  for (const [place, { title, program, words }] of steps.entries()) {
    const { shown, first } = PROGRAMS[program];
    tell(`\n${place + 1} of ${steps.length}: ${title}\n  ${shown} ${words.join(' ')}`);
    await run(program === 'trainer' ? python : process.execPath, [...first, ...words]);
  }
}

async function quickstart(words: readonly string[]): Promise<void> {
  const flags = Flags.parse(words, {
    items: 'text',
    behaviours: 'text',
    out: 'text',
    embeddings: 'text',
    encoder: 'text',
    columns: 'text',
    device: 'text',
    minutes: 'text',
    'max-items': 'text',
    threads: 'text',
    seed: 'text',
    python: 'text',
    serve: 'switch',
  });
  const plan = planOf(flags);
  const python = flags.text('python');
  if (python !== undefined) await checkPython(python);
  await makeAll(plan, python ?? (await preparePython(run, tell, plan.device)));
  const file = join(plan.out, 'service.json');
  const trained = await readFile(join(plan.out, 'model', 'training.json'), 'utf8');
  const { shows_again: showsAgain } = JSON.parse(trained) as { readonly shows_again: boolean };
  await writeFile(file, `${JSON.stringify(servedBy(plan, showsAgain), null, 2)}\n`);
  const caps = showsAgain
    ? 'users of the log take items twice: recalls may have what a user had (recall.frequencyCaps)'
    : 'users of the log take nothing twice: recall.frequencyCaps leaves out what a user had';
  await print(
    `\n${caps}\n\nServe it:\n  npm start -- --config ${file}\nand add an ad by its text:\n` +
      `  npm run -s catalogue -- upsert '{"item_id": "new", "text": "its title"}'`,
  );
  if (flags.has('serve')) await run('npm', ['start', '--', '--config', file]);
}

await runCommand(USAGE, (words) => stoppingAtFailures(() => quickstart(words)));
