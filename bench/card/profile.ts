import { BENCH_CACHE } from '../models/random-model.js';
import { output } from '../suites/native-bench.js';
import { type CardLine, lineOf } from './card-documents.js';
import { CARD_BENCH, toolkitProgram } from './toolkit.js';

const LONGEST = 5;
const METRICS = {
  ns: 'gpu__time_duration.sum',
  compute: 'sm__throughput.avg.pct_of_peak_sustained_elapsed',
  memory: 'dram__throughput.avg.pct_of_peak_sustained_elapsed',
} as const;

/** Sums over all launches of a kernel; percentages are weighted by time. */
interface Profiled {
  ns: number;
  compute: number;
  memory: number;
}

/** The kernels of recalls that take the longest, with how much of the card they use. */
export async function longestKernels(): Promise<CardLine[]> {
  const ncu = toolkitProgram('ncu') ?? 'ncu';
  const recall = ['recall', '--cases', '1000x1', '--rounds', '1', '--warm-up', '0'];
  const text = await output(ncu, [
    ...['--csv', '--print-units', 'base', '--kernel-name-base', 'function'],
    ...['--metrics', Object.values(METRICS).join()],
    ...[CARD_BENCH, ...recall, '--cache', BENCH_CACHE],
  ]);
  return profileLines(text);
}

/** Lines of a text of `ncu --csv`, which has a row for each metric of each launch. */
export function profileLines(text: string): CardLine[] {
  const rows = text
    .split('\n')
    .filter((line) => line.startsWith('"'))
    .map((line) => [...line.matchAll(/"((?:[^"]|"")*)"/g)].map(([, cell = '']) => cell));
  const [header = [], ...launched] = rows;
  const column = (name: string) => header.indexOf(name);
  const [id, kernel, metric, value] = ['ID', 'Kernel Name', 'Metric Name', 'Metric Value'].map(
    column,
  ) as [number, number, number, number];
  const launches = new Map<string, { readonly name: string; readonly of: Map<string, number> }>();
  for (const row of launched) {
    const one = launches.get(row[id] ?? '') ?? { name: row[kernel] ?? '', of: new Map() };
    one.of.set(row[metric] ?? '', Number((row[value] ?? '').replaceAll(',', '')));
    launches.set(row[id] ?? '', one);
  }
  const kernels = new Map<string, Profiled>();
  for (const { name, of } of launches.values()) {
    const sums = kernels.get(name) ?? { ns: 0, compute: 0, memory: 0 };
    const ns = of.get(METRICS.ns) ?? 0;
    sums.ns += ns;
    sums.compute += ns * (of.get(METRICS.compute) ?? 0);
    sums.memory += ns * (of.get(METRICS.memory) ?? 0);
    kernels.set(name, sums);
  }
  const all = [...kernels.values()].reduce((sum, { ns }) => sum + ns, 0);
  return [...kernels]
    .sort(([, a], [, b]) => b.ns - a.ns)
    .slice(0, LONGEST)
    .flatMap(([name, { ns, compute, memory }]) => [
      lineOf(`profile/${name}/of all kernels`, (100 * ns) / all, '%'),
      lineOf(`profile/${name}/computing, of the most`, compute / ns, '%'),
      lineOf(`profile/${name}/memory, of the most`, memory / ns, '%'),
    ]);
}
