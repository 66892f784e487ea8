import { fail } from '../../tools/terminal/command.js';
import type { Measurement } from '../result.js';
import { type CatalogueForm, liveRows, nativeWords } from './catalogue-live.js';
import { nativeResults } from './native-bench.js';
import type { SuiteContext } from './suite.js';

const FULL_ITEMS = [1_000_000, 10_000_000];
const QUICK_ITEMS = [1_000_000];
const ITEMS_MAX = 200_000_000;
/** "Seconds, not minutes" for ten million SIDs. */
const BUILD_SECONDS_BAR = 60;

export const CATALOGUE_PARTS = ['snapshot', 'live'] as const;

/** The native catalogue alone and under changes. */
export async function catalogueSuite(context: SuiteContext): Promise<Measurement[]> {
  const { quick, flags, say } = context;
  const given = flags.integer('items', 1, ITEMS_MAX);
  const stages = chosenStages(flags.text('stage')?.split(',') ?? CATALOGUE_PARTS);
  const measurements: Measurement[] = [];
  for (const items of given !== undefined ? [given] : quick ? QUICK_ITEMS : FULL_ITEMS) {
    if (stages.has('snapshot')) {
      measurements.push(...(await snapshotRows({ quick, items, say })));
    }
    if (stages.has('live')) {
      measurements.push(...(await liveRows({ quick, items, say })));
    }
  }
  return measurements;
}

function chosenStages(names: readonly string[]): ReadonlySet<string> {
  const unknown = names.find((name) => !CATALOGUE_PARTS.some((stage) => stage === name));
  if (unknown !== undefined) fail('--stage', `some of ${CATALOGUE_PARTS.join(', ')}`, unknown);
  return new Set(names);
}

/** The snapshot alone: build, open, steps at two level sizes. */
async function snapshotRows(form: CatalogueForm): Promise<Measurement[]> {
  form.say(`native catalogue of ${form.items} SIDs`);
  const native = await nativeResults('catalogue_bench', nativeWords(form));
  return native.map((result) =>
    result.name.endsWith(': build')
      ? { ...result, bar: BUILD_SECONDS_BAR, bound: 'at-most' }
      : { ...result, bar: null },
  );
}
