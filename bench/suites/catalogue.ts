import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Measurement } from '../result.js';
import { type NativeResult, nativeResults, output } from './native-bench.js';
import type { SuiteContext } from './suite.js';
import type { TrieTimes } from './trie-process.js';

const LEVEL_SIZES = [256, 4096];
const WIDTHS = [64, 256, 512];
const FULL = { items: 10_000_000, repetitions: 40 };
const QUICK = { items: 1_000_000, repetitions: 15 };
const ITEMS_MAX = 200_000_000;
const HEAP_MEBIBYTES = 12_288;
/** "Seconds, not minutes" for ten million SIDs. */
const BUILD_SECONDS_BAR = 60;

/** Two peers: the usual code, which the bar speaks of, and the best that we could write. */
const PEERS = [
  { kind: 'maps', name: 'pointer trie', ratioBar: 100 },
  { kind: 'arrays', name: 'tuned pointer trie', ratioBar: null },
] as const;
type Peer = (typeof PEERS)[number];

/** Native catalogue and pointer trie on the same SIDs and logits, one after the other. */
export async function catalogueSuite(context: SuiteContext): Promise<Measurement[]> {
  const { quick, flags, say } = context;
  const settings = quick ? QUICK : FULL;
  const items = flags.integer('items', 1, ITEMS_MAX) ?? settings.items;
  say(`native catalogue of ${items} SIDs`);
  const words = [...(quick ? ['--quick'] : []), '--items', String(items)];
  const native = await nativeResults('catalogue_bench', words);
  const measurements: Measurement[] = native.map((result) => ({
    ...result,
    ...(result.name.endsWith(': build')
      ? { bar: BUILD_SECONDS_BAR, bound: 'at-most' as const }
      : { bar: null }),
  }));
  say(`changes and eligibility over ${items} SIDs`);
  const live = await nativeResults('live_bench', words);
  measurements.push(...live.map((result) => ({ ...result, bar: null })));
  for (const levelSize of LEVEL_SIZES) {
    for (const peer of PEERS) {
      say(`JavaScript: ${peer.name} of ${items} SIDs of ${levelSize} codes a level`);
      const times = await pointerTrie(peer, items, levelSize, settings.repetitions);
      measurements.push(...compare(native, peer, items, levelSize, times));
    }
  }
  return measurements;
}

function compare(
  native: readonly NativeResult[],
  peer: Peer,
  items: number,
  levelSize: number,
  times: TrieTimes,
): Measurement[] {
  const prefix = `catalogue ${items} SIDs of 4 x ${levelSize}: `;
  const rows: Measurement[] = [
    { name: `${prefix}${peer.name}, build`, value: times.buildSeconds, unit: 's', bar: null },
  ];
  for (const width of WIDTHS) {
    const trieUs = times.steps[width] ?? Number.NaN;
    const step = `${prefix}step, width ${width},`;
    const nativeUs = native.find(({ name }) => name === `${step} all levels`)?.value ?? Number.NaN;
    rows.push(
      { name: `${step} ${peer.name}`, value: trieUs, unit: 'us', bar: null },
      {
        name: `${step} ahead of ${peer.name}`,
        value: trieUs / nativeUs,
        unit: 'x',
        bar: peer.ratioBar,
      },
    );
  }
  return rows;
}

async function pointerTrie(
  peer: Peer,
  items: number,
  levelSize: number,
  repetitions: number,
): Promise<TrieTimes> {
  const program = join(dirname(fileURLToPath(import.meta.url)), 'trie-process.js');
  const numbers = [items, levelSize, repetitions, ...WIDTHS].map(String);
  const heap = `--max-old-space-size=${HEAP_MEBIBYTES}`;
  return JSON.parse(
    await output(process.execPath, [heap, program, peer.kind, ...numbers]),
  ) as TrieTimes;
}
