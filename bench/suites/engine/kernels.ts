import type { Measurement } from '../../result.js';
import { type NativeResult, nativeResults } from '../native-bench.js';
import type { StageContext } from './stage.js';

/** Rows that are printed: one, the beams of a step, of several users' steps, a prompt. */
const ROWS = [1, 32, 64, 128, 512];
/**
 * Shares of the floor with weights from memory: by type, or by set of instructions and type, and
 * rows. What is not named has no bar.
 */
const BARS: Readonly<Record<string, Readonly<Record<number, number>>>> = {
  F32: { 1: 0.95, 64: 0.9, 512: 0.9 },
  'avx2/F32': { 1: 0.95, 512: 0.88 },
  'avx2/BF16': { 1: 0.95, 512: 0.88 },
  'avx512_bf16/BF16': { 1: 0.95, 64: 0.75, 512: 0.8 },
  INT8: { 1: 0.95, 64: 0.65, 512: 0.75 },
  'avx2/INT8': { 1: 0.95, 512: 0.7 },
  // The sums of a tile of 64 k leave the tile unit after every product
  // (docs/decisions/0024-int8-tiles.md).
  'amx/INT8': { 1: 0.95 },
};
const PRODUCT = /^([\w-]+)\/product\/(\w+)\/(\d+)x\d+x\d+\/\d+t\/(hot|cold)$/;

/** Matrix products and attention against the ceilings. */
export async function kernelsStage({ machine, quick, say }: StageContext): Promise<Measurement[]> {
  const words = ['--threads', String(machine.threads), ...(quick ? ['--quick'] : [])];
  say('matrix products');
  const products = await nativeResults('ops_bench', words);
  say('attention');
  const attention = await nativeResults('attention_bench', words);
  return [...productRows(products), ...attentionRows(attention)];
}

export function productRows(results: readonly NativeResult[]): Measurement[] {
  const byName = new Map(results.map((result) => [result.name, result.value]));
  return results.flatMap(({ name, value, unit }) => {
    const match = PRODUCT.exec(name);
    if (match === null) return [];
    const [, set = '', type = '', digits, memory] = match;
    const rows = Number(digits);
    if (!ROWS.includes(rows)) return [];
    const share = byName.get(`${name}/of_floor`);
    const row = { name, value, unit };
    return [
      share === undefined
        ? { ...row, bar: null }
        : {
            ...row,
            ratio: { value: share, to: 'ceiling' },
            bar: memory === 'cold' ? barOf(set, type, rows) : null,
          },
    ];
  });
}

function barOf(set: string, type: string, rows: number): number | null {
  return (BARS[`${set}/${type}`] ?? BARS[type])?.[rows] ?? null;
}

/** A number whose ratio follows it under a longer name is one row with it. */
function attentionRows(results: readonly NativeResult[]): Measurement[] {
  const byName = new Map(results.map((result) => [result.name, result.value]));
  return results.flatMap(({ name, value, unit }) => {
    if (unit === 'ratio') return [];
    const share = byName.get(`${name}/of_roof`);
    const row = { name, value, unit, bar: null };
    if (share !== undefined) return [{ ...row, ratio: { value: share, to: 'ceiling' } }];
    return [row];
  });
}
