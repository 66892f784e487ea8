import os from 'node:os';
import type { EngineOptions } from '@tessera/engine';
import type { Measurement } from '../../result.js';
import { nativeResults } from '../native-bench.js';
import type { Peaks } from './floor.js';

const NO_BAR = { bar: null } as const;
/** A row is there where the processor has the instructions; the fastest first. */
const INT8_PROBES = ['amx', 'avx512-vnni', 'avx-vnni', 'avx2'].map(
  (set) => `multiply-add int8 ${set}`,
);

export type ComputeType = EngineOptions['computeType'];

/** Measured ceilings of the machine, for all threads together. */
export interface Machine {
  readonly threads: number;
  peaks(computeType: ComputeType): Peaks;
  readonly measurements: readonly Measurement[];
}

/** Runs the roofline probe. Products are compared with the widest instruction set that it found. */
export async function probeMachine(isQuick: boolean): Promise<Machine> {
  const threads = os.availableParallelism();
  const words = ['--threads', String(threads), ...(isQuick ? ['--quick'] : [])];
  const results = await nativeResults('roofline_bench', words);
  const value = (...names: readonly string[]): number => {
    const found = names.map((name) => results.find((result) => result.name === name));
    const first = found.find((result) => result !== undefined);
    if (first === undefined) throw new Error(`roofline_bench: expected ${names[0]}, came nothing`);
    return first.value;
  };
  const float = value('multiply-add avx512', 'multiply-add avx2');
  const bf16 = value('multiply-add bf16 amx', 'multiply-add avx512', 'multiply-add avx2');
  const int8 = value(...INT8_PROBES);
  const bandwidth = value('memory read');
  const peaks: Readonly<Record<ComputeType, Peaks>> = {
    f32: { operations: float, attentionOperations: float, bandwidth },
    bf16: { operations: bf16, attentionOperations: bf16, bandwidth },
    w8a8: { operations: int8, attentionOperations: bf16, bandwidth },
  };
  const measurements = results.map(({ name, value: perSecond, unit }) => ({
    name: `roofline, ${threads} threads: ${name}`,
    value: perSecond / 1e9,
    unit: `G${unit}`,
    ...NO_BAR,
  }));
  return {
    threads,
    peaks: (computeType) => peaks[computeType],
    measurements,
  };
}
