import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { dirname } from 'node:path';
import { table } from '../tools/terminal/table.js';

export interface Ratio {
  readonly value: number;
  /** The reference of the ratio, e.g. `floor`. */
  readonly to: string;
}

/** One measured number. */
export interface Measurement {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** How many times something else that was measured in the same run. */
  readonly ratio?: Ratio;
  /** The number that the ratio, or the value where there is none, is to reach; null: no bar. */
  readonly bar: number | null;
  /** True if the bar is a lower or an upper bound. */
  readonly bound?: 'at-least' | 'at-most';
}

export interface Result extends Omit<Measurement, 'bound'> {
  /** Null where there is no bar. */
  readonly holds: boolean | null;
}

export interface BenchReport {
  readonly suite: string;
  readonly quick: boolean;
  readonly machine: string;
  readonly commit: string;
  readonly results: readonly Result[];
}

export function judge({ bound, ...measurement }: Measurement): Result {
  const { bar } = measurement;
  const value = measurement.ratio?.value ?? measurement.value;
  if (bar === null) return { ...measurement, holds: null };
  return { ...measurement, holds: bound === 'at-most' ? value <= bar : value >= bar };
}

export function report(
  suite: string,
  quick: boolean,
  measurements: readonly Measurement[],
): BenchReport {
  const results = measurements.map(judge);
  return { suite, quick, machine: thisMachine(), commit: commit(), results };
}

export function resultTable({ results }: Pick<BenchReport, 'results'>): string {
  const verdict = { true: 'holds', false: 'MISSED', null: '' };
  return table(
    [
      { name: 'name' },
      { name: 'value', right: true },
      { name: 'unit' },
      { name: 'ratio', right: true },
      { name: 'to' },
      { name: 'bar', right: true },
      { name: '' },
    ],
    results.map(({ name, value, unit, ratio, bar, holds }) => [
      name,
      readable(value),
      unit,
      ratio === undefined ? '' : readable(ratio.value),
      ratio?.to ?? '',
      bar === null ? '' : readable(bar),
      verdict[`${holds}`],
    ]),
  );
}

export function writeReport(path: string, result: BenchReport): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(result, null, 2)}\n`);
}

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** Value below which a share of the sorted values lies, by the nearest rank. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = Math.min(Math.max(Math.ceil(share * sorted.length) - 1, 0), sorted.length - 1);
  return sorted[at] ?? Number.NaN;
}

function readable(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en-GB');
  return String(Number(value.toPrecision(4)));
}

function thisMachine(): string {
  const gibibytes = Math.round(os.totalmem() / 2 ** 30);
  const model = os.cpus()[0]?.model.trim() ?? 'unknown processor';
  return `${model}, ${os.availableParallelism()} cores, ${gibibytes} GiB, Node ${process.version}`;
}

/** That is checked out; unknown where git does not know. */
export function commit(): string {
  try {
    const text = execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], { encoding: 'utf8' });
    return text.trim();
  } catch {
    return 'unknown';
  }
}
