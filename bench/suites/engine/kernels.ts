import type { Measurement } from '../../result.js';
import { type NativeResult, nativeResults } from '../native-bench.js';
import type { StageContext } from './stage.js';

/** Rows that are told: one, the beams of a step, of several users' steps, a prompt. */
const ROWS = [1, 32, 64, 128, 512];
/** Share of the ceiling: of reading where few rows are computed, of computing where many are. */
const BARS = { fewRows: 32, few: 0.95, manyRows: 512, many: 0.65 };
const PRODUCT = /(?:^|\/)product\/\w+\/(\d+)x\d+x\d+\/\d+t\/(hot|cold)$/;

/** Matrix products and attention against the ceilings, and against oneDNN where it is installed. */
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
    const rows = Number(match?.[1]);
    if (match === null || name.startsWith('onednn/') || !ROWS.includes(rows)) return [];
    const share = byName.get(`${name}/of_floor`);
    const product = name.slice(name.indexOf('product/'));
    const oneDnn = byName.get(`onednn/${product}`);
    const row = { name, value, unit };
    return [
      share === undefined
        ? { ...row, bar: null }
        : { ...row, ratio: { value: share, to: 'ceiling' }, bar: barOf(rows, match[2] === 'cold') },
      ...(oneDnn === undefined
        ? []
        : [{ ...row, ratio: { value: value / oneDnn, to: 'oneDNN' }, bar: 0.95 }]),
    ];
  });
}

function barOf(rows: number, isCold: boolean): number | null {
  if (isCold && rows <= BARS.fewRows) return BARS.few;
  return rows >= BARS.manyRows ? BARS.many : null;
}

/** A number whose ratio follows it under a longer name is one row with it. */
function attentionRows(results: readonly NativeResult[]): Measurement[] {
  const byName = new Map(results.map((result) => [result.name, result.value]));
  return results.flatMap(({ name, value, unit }) => {
    if (unit === 'ratio') return [];
    const speedup = byName.get(`${name}/speedup_over_per_beam`);
    const share = byName.get(`${name}/of_roof`);
    const row = { name, value, unit, bar: null };
    if (speedup !== undefined) return [{ ...row, ratio: { value: speedup, to: 'x per beam' } }];
    if (share !== undefined) return [{ ...row, ratio: { value: share, to: 'ceiling' } }];
    return [row];
  });
}
