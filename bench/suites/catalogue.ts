import { fail } from '../../tools/terminal/command.js';
import type { Measurement } from '../result.js';
import { type CatalogueForm, liveRows, nativeWords } from './catalogue-live.js';
import { serviceRows } from './catalogue-service.js';
import { type NativeResult, nativeResults } from './native-bench.js';
import type { SuiteContext } from './suite.js';
import { pointerTrie } from './trie-peer.js';
import type { TrieTimes } from './trie-process.js';

const LEVEL_SIZES = [256, 4096];
const WIDTHS = [64, 256, 512];
const FULL = { items: [1_000_000, 10_000_000], repetitions: 40 };
const QUICK = { items: [1_000_000], repetitions: 15 };
const ITEMS_MAX = 200_000_000;
/** "Seconds, not minutes" for ten million SIDs. */
const BUILD_SECONDS_BAR = 60;

export const CATALOGUE_PARTS = ['snapshot', 'live', 'service'] as const;

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
  const given = flags.integer('items', 1, ITEMS_MAX);
  const stages = chosenStages(flags.text('stage')?.split(',') ?? CATALOGUE_PARTS);
  const measurements: Measurement[] = [];
  for (const items of given === undefined ? settings.items : [given]) {
    const { repetitions } = settings;
    if (stages.has('snapshot')) {
      measurements.push(...(await snapshotRows({ quick, items, repetitions, say })));
    }
    if (stages.has('live')) {
      measurements.push(...(await liveRows({ quick, items, repetitions, say })));
    }
  }
  if (stages.has('service')) measurements.push(...(await serviceRows(context)));
  return measurements;
}

function chosenStages(names: readonly string[]): ReadonlySet<string> {
  const unknown = names.find((name) => !CATALOGUE_PARTS.some((stage) => stage === name));
  if (unknown !== undefined) fail('--stage', `some of ${CATALOGUE_PARTS.join(', ')}`, unknown);
  return new Set(names);
}

/** The snapshot alone: build, open, steps at two level sizes, beside both pointer tries. */
async function snapshotRows(form: CatalogueForm): Promise<Measurement[]> {
  const { items, repetitions, say } = form;
  say(`native catalogue of ${items} SIDs`);
  const native = await nativeResults('catalogue_bench', nativeWords(form));
  const measurements: Measurement[] = native.map((result) => ({
    ...result,
    ...(result.name.endsWith(': build')
      ? { bar: BUILD_SECONDS_BAR, bound: 'at-most' as const }
      : { bar: null }),
  }));
  for (const levelSize of LEVEL_SIZES) {
    for (const peer of PEERS) {
      say(`JavaScript: ${peer.name} of ${items} SIDs of ${levelSize} codes a level`);
      const times = await pointerTrie(peer, { items, levelSize, repetitions, widths: WIDTHS });
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
