/** One step of a run on a card, in a process of its own: prints a document of results. */

import os from 'node:os';
import { TesseraError } from '@tessera/errors';
import { Flags, print, runCommand, UsageError } from '../../tools/terminal/command.js';
import { SHAPES } from '../models/model-shape.js';
import { PYTHON } from '../peers/peer-kinds.js';
import type { CardLine } from './card-documents.js';
import { COMPARED_SHAPES, drawnFolders, TINY_CARD } from './card-models.js';
import { NO_CARD } from './card-run.js';
import { recallKinds } from './kinds.js';
import { parity } from './parity.js';
import { CARD_SHAPES, CONTEXTS } from './plan.js';
import { longestKernels } from './profile.js';
import { returningOnCard } from './returning.js';
import { SERVE_STEPS, type ServeStepName } from './serve/serve-steps.js';
import { deviceName } from './toolkit.js';
import { wholeRecalls } from './whole.js';

const USAGE = `usage: step-process parity|whole|kinds|returning|profile|serve STEP
         --device NAME [--python FILE]`;

const PROMPTS = 10;
const ITEMS = 100_000;
const ROUNDS = 15;
const USERS = 3;
const LOAD_SECONDS = { card: 20, cpu: 4 };

interface StepSetting {
  readonly device: string;
  readonly python: string;
  readonly say: (line: string) => void;
}

const OWN: Readonly<Record<string, (setting: StepSetting) => Promise<CardLine[]>>> = {
  parity: ({ device, python, say }) =>
    each(COMPARED_SHAPES, (shape) => {
      const threads = os.availableParallelism();
      return parity({ prompts: PROMPTS, items: ITEMS, shape, device, python, threads, say });
    }),
  whole: ({ device, say }) =>
    each(COMPARED_SHAPES, (shape) => wholeRecalls({ prompts: PROMPTS, shape, device, say })),
  kinds: ({ device }) =>
    each(CARD_SHAPES, (shape) =>
      recallKinds(drawnFolders(shape), { device, contexts: CONTEXTS, rounds: ROUNDS }),
    ),
  returning: ({ device, say }) =>
    each(CARD_SHAPES, (shape) =>
      returningOnCard(drawnFolders(shape), { device, histories: CONTEXTS, users: USERS, say }),
    ),
  profile: () => longestKernels(),
};

async function each<T>(all: readonly T[], act: (one: T) => Promise<CardLine[]>) {
  const lines: CardLine[] = [];
  for (const one of all) lines.push(...(await act(one)));
  return lines;
}

function serveStep(name: string | undefined, { device, say }: StepSetting): Promise<CardLine[]> {
  if (name === undefined || !Object.hasOwn(SERVE_STEPS, name)) {
    const names = Object.keys(SERVE_STEPS).join(', ');
    throw new UsageError(`serve: expected one of ${names}, got ${name ?? 'nothing'}`);
  }
  const isCard = device !== 'cpu';
  return SERVE_STEPS[name as ServeStepName]({
    device,
    shape: isCard ? SHAPES['qwen3-0.6b'] : TINY_CARD,
    seconds: LOAD_SECONDS[isCard ? 'card' : 'cpu'],
    say,
  });
}

await runCommand(USAGE, async (all) => {
  const at = all.findIndex((word) => word.startsWith('--'));
  const [name = '', more] = at < 0 ? all : all.slice(0, at);
  const flags = Flags.parse(at < 0 ? [] : all.slice(at), { device: 'text', python: 'text' });
  const device = flags.text('device') ?? 'cuda:0';
  const python = flags.text('python') ?? PYTHON;
  const setting = { device, python, say: (line: string) => process.stderr.write(`${line}\n`) };
  const act = name === 'serve' ? (one: StepSetting) => serveStep(more, one) : OWN[name];
  if (act === undefined) throw new UsageError(`expected one of the usage, got '${name}'`);
  try {
    const results = await act(setting);
    await print(JSON.stringify({ card: deviceName(device), results }));
  } catch (error) {
    const { code, message } = TesseraError.from(error);
    if (code !== 'ENGINE_UNAVAILABLE' || device === 'cpu') throw error;
    process.stderr.write(`${message}\n`);
    process.exitCode = NO_CARD;
  }
});
