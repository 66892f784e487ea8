import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Measurement } from '../../result.js';
import type { SuiteContext } from '../suite.js';
import { KERNEL_LOOPS, KERNEL_OBJECTS, type KernelLoops, type Loop, loopsOf } from './loops.js';

/**
 * Processors whose loops are predicted, as LLVM names them; an old LLVM does not know all. None of
 * its models has tiles.
 */
const PROCESSORS: readonly { readonly name: string; readonly has: readonly string[] }[] = [
  { name: 'haswell', has: ['avx2'] },
  { name: 'znver3', has: ['avx2'] },
  { name: 'alderlake', has: ['avx2', 'avx-vnni'] },
  { name: 'znver4', has: ['avx2', 'avx512'] },
  { name: 'sapphirerapids', has: ['avx2', 'avx-vnni', 'avx512'] },
];
const ITERATIONS = 200;
/** Independent sums of the loop that has nothing but products; fewer than registers. */
const CHAINS = 14;

/**
 * Predictions of llvm-mca for each kernel's largest loop on processors that may be elsewhere: its
 * cycles, and those of the same products on registers alone as a share of them. Caches are not in
 * it.
 */
export async function mcaSuite({ say }: SuiteContext): Promise<Measurement[]> {
  if (analyse('sapphirerapids', 'nop').error !== undefined) {
    throw new Error('llvm-mca: expected a program on the path, got none: apt-get install llvm');
  }
  const measurements: Measurement[] = [];
  for (const kernel of KERNEL_LOOPS) {
    if (!existsSync(join(KERNEL_OBJECTS, kernel.object))) {
      throw new Error(`${kernel.object}: expected the native engine to be built, got no object`);
    }
    const loop = loopsOf(kernel).find(({ products }) => products === kernel.largest);
    if (loop === undefined) throw new Error(`${kernel.name}: expected its largest loop, got none`);
    for (const { name: processor, has } of PROCESSORS) {
      if (!has.includes(kernel.needs)) continue;
      say(`${kernel.name} on ${processor}`);
      measurements.push(...predict(kernel, loop, processor));
    }
  }
  return measurements;
}

/** Nothing where LLVM does not know the processor. */
function predict(kernel: KernelLoops, { body, products }: Loop, processor: string): Measurement[] {
  const cycles = cyclesOf(
    processor,
    body.map(({ name, text }) => (name.startsWith('j') ? '' : text)),
  );
  const alone = body
    .filter(({ name }) => kernel.product.test(name) || kernel.sum?.test(name))
    .map(({ text }) => text);
  const ideal = cyclesOf(processor, alone.map(onRegisters));
  if (cycles === undefined || ideal === undefined) return [];
  return [
    {
      name: `${kernel.name}, ${products} products on ${processor}`,
      value: cycles,
      unit: 'cycles',
      ratio: { value: ideal / cycles, to: 'products alone' },
      bar: null,
    },
  ];
}

/** The n-th product with the first two registers as its operands, on one of CHAINS sums. */
function onRegisters(text: string, n: number): string {
  const width = /%([xyz])mm/.exec(text)?.[1] ?? 'z';
  const name = text.slice(0, text.lastIndexOf(' ', text.indexOf('%') - 1));
  return `${name} %${width}mm0,%${width}mm1,%${width}mm${2 + (n % CHAINS)}`;
}

/** Cycles of one pass through these instructions. */
function cyclesOf(processor: string, lines: readonly string[]): number | undefined {
  const { stdout, stderr, status } = analyse(processor, lines.join('\n'));
  if (status !== 0 || stderr.includes('not a recognized processor')) return undefined;
  const total = /^Total Cycles:\s+(\d+)$/m.exec(stdout)?.[1];
  return total === undefined ? undefined : Number(total) / ITERATIONS;
}

function analyse(processor: string, input: string): SpawnSyncReturns<string> {
  const words = ['-mtriple=x86_64', `-mcpu=${processor}`, `-iterations=${ITERATIONS}`];
  return spawnSync('llvm-mca', words, { input: `${input}\n`, encoding: 'utf8' });
}
