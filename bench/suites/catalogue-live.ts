/** The catalogue that changes, beside what one would do without one. */

import type { Measurement } from '../result.js';
import { type NativeResult, nativeResults } from './native-bench.js';
import { pointerTrie } from './trie-peer.js';
import { LEVELS } from './trie-workload.js';

export interface CatalogueForm {
  readonly quick: boolean;
  readonly items: number;
  readonly repetitions: number;
  readonly say: (line: string) => void;
}

const WIDTHS = [64, 512];
const LEVEL_SIZE = 256;
const VISIBLE_TARGET_US = 50_000;
const VISIBLE_MOST_US = 1_000_000;
const RATIO_BAR = 100;

/** As live_bench names them, and their items in the workload. */
const SHARES = [
  { step: 'no predicate', predicate: undefined, share: { modulus: 1, rest: 0 } },
  { step: 'predicate 10 %, text', predicate: '10 %, text', share: { modulus: 10, rest: 3 } },
  {
    step: 'predicate 0.01 %, text',
    predicate: '0.01 %, text',
    share: { modulus: 10_000, rest: 77 },
  },
] as const;

export function nativeWords({ quick, items }: CatalogueForm): string[] {
  return [...(quick ? ['--quick'] : []), '--items', String(items)];
}

/**
 * Each step beside its three peers: a snapshot built anew for the change or the predicate,
 * filtering after a search that knows nothing of it, and a pointer trie in JavaScript of the
 * eligible items.
 */
export async function liveRows(form: CatalogueForm): Promise<Measurement[]> {
  const { items, repetitions, say } = form;
  say(`changes and eligibility over ${items} SIDs`);
  const live = await nativeResults('live_bench', nativeWords(form));
  const prefix = `live ${items} SIDs: `;
  const figure = (name: string) =>
    live.find((result) => result.name === prefix + name)?.value ?? Number.NaN;
  const rows = live.map((result) => row(result, prefix, figure));
  for (const { step, predicate, share } of SHARES) {
    say(`JavaScript: pointer trie of ${items} SIDs, ${step}`);
    const form = { items, levelSize: LEVEL_SIZE, repetitions, widths: WIDTHS, share };
    const times = await pointerTrie({ kind: 'maps' }, form);
    const name = `${prefix}pointer trie, ${predicate ?? 'all items'}`;
    rows.push({ name: `${name}, build`, value: times.buildSeconds, unit: 's', bar: null });
    for (const width of WIDTHS) {
      const trieUs = (times.steps[width] ?? Number.NaN) / LEVELS;
      const value = trieUs / figure(`step, width ${width}, ${step}`);
      rows.push({
        name: `${name}, step, width ${width}`,
        value: trieUs,
        unit: 'us',
        ratio: { value, to: 'ours' },
        bar: predicate === undefined ? RATIO_BAR : null,
      });
    }
  }
  return rows;
}

/** Ratios to what stands for the same thing without changes, and the bars of change to visible. */
function row(result: NativeResult, prefix: string, figure: (name: string) => number): Measurement {
  const name = result.name.slice(prefix.length);
  if (name.startsWith('change to visible')) {
    const bar = name.endsWith('median') ? VISIBLE_TARGET_US : VISIBLE_MOST_US;
    return { ...result, bar, bound: 'at-most' };
  }
  const width = /^step, width (\d+), (?!no predicate$)/.exec(name)?.[1];
  if (width !== undefined) {
    const value = result.value / figure(`step, width ${width}, no predicate`);
    return { ...result, ratio: { value, to: 'no predicate' }, bar: null };
  }
  if (name === 'building anew') {
    const value = (result.value * 1e6) / figure('change to visible, alone, median');
    return { ...result, ratio: { value, to: 'a change' }, bar: null };
  }
  return { ...result, bar: null };
}
