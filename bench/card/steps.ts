import { join } from 'node:path';
import { BENCH_CACHE } from '../models/random-model.js';
import { planOf } from './plan.js';
import { SERVE_STEPS } from './serve/serve-steps.js';
import type { Command, Step } from './step.js';
import { CARD_BENCH, lacksPython, lacksTool, toolkitProgram } from './toolkit.js';

export const PARTS = ['correct', 'fast', 'serve'] as const;
export type Part = (typeof PARTS)[number];

export interface Setting {
  /** As engine.device has it. */
  readonly device: string;
  /** Has PyTorch and transformers, where any does. */
  readonly python: string;
}

/** Below the nine minutes that a command may take. */
const LIMIT_SECONDS = 530;
const TEST_FOLDER = join('build', 'native', 'src', 'cuda');
const STEP_PROCESS = join('dist', 'bench', 'card', 'step-process.js');
/** Programs of kernels that a sanitizer looks into. */
const SANITIZED = ['row_kernels_test', 'attend_kernels_test', 'card_decoder_test'];

const node = (...words: string[]): Command => ({ program: process.execPath, words });
const step = (name: string, commands: readonly Command[]): Step => ({
  name,
  limitSeconds: LIMIT_SECONDS,
  commands,
});

/** The addon with kernels, and what the part needs beside it. */
function setUp(part: Part): Step[] {
  const addon = node('tools/bootstrap.mjs', '--quiet', '--cuda');
  const steps: Step[] = [{ ...step(`${part}/addon`, [addon]), isSetUp: true }];
  if (part !== 'serve') {
    const build = node('tools/run-tests.mjs', '--only', 'build-cuda');
    steps.push({ ...step(`${part}/programs`, [build]), isSetUp: true });
  }
  return steps;
}

function sanitizerStep(tool: string): Step {
  const words = ['--tool', tool, '--report-api-errors', 'no', '--error-exitcode', '1'];
  const commands = SANITIZED.map((program) => ({
    program: toolkitProgram('compute-sanitizer') ?? 'compute-sanitizer',
    words: [...words, join(TEST_FOLDER, program)],
    variables: { TESSERA_TEST_DEVICE: 'cuda' },
  }));
  return { ...step(`correct/${tool}`, commands), lacks: () => lacksTool('compute-sanitizer') };
}

function correct({ device, python }: Setting): Step[] {
  const bits = { program: CARD_BENCH, words: ['bits'] };
  const own = (name: string, ...words: string[]): Step => ({
    ...step(`correct/${name}`, [node(STEP_PROCESS, name, '--device', device, ...words)]),
    prints: true,
  });
  return [
    step('correct/tests', [node('tools/run-tests.mjs', '--only', 'cuda')]),
    sanitizerStep('memcheck'),
    sanitizerStep('racecheck'),
    { ...step('correct/bits', [bits]), prints: true },
    { ...own('parity', '--python', python), lacks: () => lacksPython(python) },
    own('whole'),
  ];
}

function fast({ device, python }: Setting): Step[] {
  const planned = planOf(BENCH_CACHE).map(({ name, program, words }): Step => {
    const isPeer = program === 'python';
    const command = { program: isPeer ? python : CARD_BENCH, words };
    const one = { ...step(`fast/${name}`, [command]), prints: true };
    return isPeer ? { ...one, lacks: () => lacksPython(python) } : one;
  });
  const own = (name: string): Step => ({
    ...step(`fast/${name}`, [node(STEP_PROCESS, name, '--device', device)]),
    prints: true,
  });
  return [
    ...planned,
    own('kinds'),
    own('returning'),
    { ...own('profile'), lacks: () => lacksTool('ncu') },
  ];
}

function serve({ device }: Setting): Step[] {
  return Object.keys(SERVE_STEPS).map((name) => ({
    ...step(`serve/${name}`, [node(STEP_PROCESS, 'serve', name, '--device', device)]),
    prints: true,
  }));
}

const STEPS = { correct, fast, serve };

/** Everything of a part, in its order. On a processor nothing is set up for cards. */
export function stepsOf(part: Part, setting: Setting): Step[] {
  const own = STEPS[part](setting);
  return setting.device === 'cpu' ? own : [...setUp(part), ...own];
}
