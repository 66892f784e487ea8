/** The command of everything that is checked and measured on a card. */

import { join } from 'node:path';
import { repositoryRoot } from '@tessera/config';
import { Flags, fail, print, runCommand, UsageError } from '../../tools/terminal/command.js';
import { PYTHON } from '../peers/peer-kinds.js';
import { resultTable } from '../result.js';
import { CardFile } from './card-file.js';
import { NO_CARD, NoCard, outcomeTable, runSteps } from './card-run.js';
import { planLines, planOf } from './plan.js';
import { PARTS, type Part, stepsOf } from './steps.js';
import { lacksCard } from './toolkit.js';

const USAGE = `usage: npm run card -- correct|fast|serve [flags]

Half an hour of a card, in steps of less than nine minutes (docs/operate/card.md):
  correct          tests, sanitizers, bits of tiles, parity with transformers, whole recalls
                   against the processor's
  fast             kernels, recalls, load, returning users, beside PyTorch; a profile with ncu
  serve            a service with engine.device: recalls, adapters, weights, an erasure,
                   kill -9, three times the load
Each step is kept as it ends; a run goes on with those that have not passed on this commit.

  --device NAME    cuda:N (default: cuda:0); serve also takes cpu
  --out FILE       of all outcomes and figures (default: .cache/card/card.json)
  --from STEP      runs this step and all behind it again
  --python FILE    has PyTorch and transformers (default: that of bench/peers/install.mjs)

Exit status: 0; 1 where a step failed; 2 for wrong words; 3 where there is no card, or no kernels.`;

const DEFAULT_OUT = join(repositoryRoot, '.cache', 'card', 'card.json');

function partOf(word: string | undefined): Part {
  const part = PARTS.find((one) => one === word);
  if (part !== undefined) return part;
  throw new UsageError(`expected one of ${PARTS.join(', ')}, got ${word ?? 'nothing'}`);
}

function deviceOf(flags: Flags, part: Part): string {
  const device = flags.text('device') ?? 'cuda:0';
  const isMeant = /^cuda:\d{1,4}$/.test(device) || (device === 'cpu' && part === 'serve');
  return isMeant ? device : fail('device', part === 'serve' ? 'cuda:N or cpu' : 'cuda:N', device);
}

function noCard(message: string): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = NO_CARD;
}

await runCommand(USAGE, async ([word, ...words]) => {
  const part = partOf(word);
  const flags = Flags.parse(words, { device: 'text', out: 'text', from: 'text', python: 'text' });
  const device = deviceOf(flags, part);
  const steps = stepsOf(part, { device, python: flags.text('python') ?? PYTHON });
  const lacking = device === 'cpu' ? undefined : lacksCard();
  if (lacking !== undefined) {
    const names = steps.map(({ name }) => name);
    const planned = part === 'fast' ? planLines(planOf('')) : [];
    await print([`A run has these steps:`, ...names, ...planned].join('\n'));
    return noCard(lacking);
  }
  const file = CardFile.open(flags.text('out') ?? DEFAULT_OUT);
  const say = (text: string) => process.stderr.write(`${text}\n`);
  try {
    const failed = await runSteps(steps, { file, from: flags.text('from'), say });
    await print(`${outcomeTable(steps, file)}\n\n${resultTable({ results: file.rows() })}`);
    if (failed.length > 0) process.exitCode = 1;
  } catch (error) {
    if (!(error instanceof NoCard)) throw error;
    await noCard(error.message);
  }
});
