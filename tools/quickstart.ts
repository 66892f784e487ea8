import { spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { TesseraError } from '@tessera/errors';
import { preparePython } from './quickstart/python.js';
import { type QuickstartPlan, stepsOf } from './quickstart/steps.js';
import { Flags, print, runCommand } from './terminal/command.js';

const USAGE = `usage: npm run -s quickstart -- --items FILE --behaviours FILE [--out DIR] [--serve]

From ads and clicks to a served model: semantic IDs of the ads' texts, a small model of what users
click, its test against the most popular items and item-KNN (docs/semantic-ids.md).

  --items FILE         TSV with a header: item, title and further columns; may end in .gz
  --behaviours FILE    TSV with a header: user, item, time; may end in .gz
  --out DIR            what is made; the same command goes on where it stopped
                       (default: data/quickstart)
  --embeddings FILE    .npy of (items, dimension) in the order of --items, in place of their titles
  --minutes N          of training at most (default 45)
  --threads N          of the machine (default: its cores)
  --seed N             (default 1)
  --python FILE        a Python that has trainer/requirements.txt (default: made in .venv)
  --serve              serves the model at the end`;

const MINUTES_MAX = 7 * 24 * 60;
const THREADS_MAX = 1024;
const SEED_MAX = 2 ** 31 - 1;

/** Output goes where this command's goes. */
function run(command: string, words: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, words, { stdio: 'inherit' });
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      if (code === 0) resolve();
      else {
        const message = `${command} ${words.slice(0, 3).join(' ')}: expected exit code 0, got`;
        reject(new TesseraError('INTERNAL', `${message} ${signal ?? code}`));
      }
    });
  });
}

await runCommand(USAGE, async (words) => {
  const flags = Flags.parse(words, {
    items: 'text',
    behaviours: 'text',
    out: 'text',
    embeddings: 'text',
    minutes: 'text',
    threads: 'text',
    seed: 'text',
    python: 'text',
    serve: 'switch',
  });
  const plan: QuickstartPlan = {
    items: flags.required('items'),
    behaviours: flags.required('behaviours'),
    out: flags.text('out') ?? join('data', 'quickstart'),
    embeddings: flags.text('embeddings'),
    minutes: flags.integer('minutes', 1, MINUTES_MAX) ?? 45,
    threads: flags.integer('threads', 1, THREADS_MAX) ?? availableParallelism(),
    seed: flags.integer('seed', 0, SEED_MAX) ?? 1,
  };
  const python = flags.text('python') ?? (await preparePython(run));
  await mkdir(plan.out, { recursive: true });
  for (const { title, words } of stepsOf(plan)) {
    await print(`\n${title}\n  python -m trainer ${words.join(' ')}`);
    await run(python, ['-m', 'trainer', ...words]);
  }
  const model = join(plan.out, 'model');
  await print(
    `\nServe it:\n  TESSERA_MODEL_PATH=${model} npm start\nand add an ad by its text:\n` +
      `  npm run -s catalogue -- upsert '{"item_id": "new", "text": "its title"}'`,
  );
  if (flags.has('serve')) await run('env', [`TESSERA_MODEL_PATH=${model}`, 'npm', 'start']);
});
