import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { repositoryRoot } from '@tessera/config';
import type { Measurement } from '../../result.js';
import type { SuiteContext } from '../suite.js';

const SEEDS = { quick: 2, full: 20 };

/** Of a kind of bots, over all seeds; `clean`: without any. */
interface Poisoned {
  /** Mean share of the recommended items that is the bots' one, over the clean stream's. */
  readonly ratio: number | null;
  readonly seeds_with_alarm: number;
  /** Seeds in which the share is above 1.1 times the clean one and nobody is warned. */
  readonly above_without_alarm: number;
}

/** Bots in the stream of a trainer: what others are recommended afterwards. */
export async function poisonStage({ quick, flags, say }: SuiteContext): Promise<Measurement[]> {
  const python = flags.text('python') ?? '.venv/bin/python';
  const seeds = String(SEEDS[quick ? 'quick' : 'full']);
  const words = ['bench/suites/learning/poison.py', '--seeds', seeds];
  const child = spawn(python, words, { cwd: repositoryRoot, stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => say(chunk.toString().trim()));
  const [status] = await once(child, 'close');
  if (status !== 0) throw new Error(`${words.join(' ')} ended with ${status}`);
  const { kinds } = JSON.parse(printed) as { readonly kinds: Readonly<Record<string, Poisoned>> };
  return Object.entries(kinds).flatMap(([name, { ratio, ...seen }]): Measurement[] => [
    {
      name: `${name}: share of the bots' item, over clean`,
      value: ratio ?? 0,
      unit: 'ratio',
      bar: null,
    },
    {
      name: `${name}: seeds with an alarm`,
      value: seen.seeds_with_alarm,
      unit: 'seeds',
      bar: null,
    },
    {
      name: `${name}: seeds above 1.1 times clean without an alarm`,
      value: seen.above_without_alarm,
      unit: 'seeds',
      bar: name === 'clean' ? null : 0,
      bound: 'at-most',
    },
  ]);
}
