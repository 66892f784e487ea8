import { join } from 'node:path';
import { repositoryRoot } from '@tessera/config';
import { createRecallRuntime, type RecallRequest, type RecallRuntime } from '@tessera/recall';
import { temporaryFolder } from '@tessera/testing';
import { SHAPES } from '../../models/model-shape.js';
import { type Measurement, quantile } from '../../result.js';
import { servedModel } from '../streams/served-model.js';
import { type SuiteContext, staged } from '../suite.js';
import { BEHAVIOURS, servedOptions, USERS, writeDayFiles } from './served-users.js';

const BUDGET_US = 60e6;
/** Of a recall's latency with a wish, against the same recall without. */
const BAR = 1.03;
const PLAIN = 'a recall';

type Wish = Partial<RecallRequest>;

const CAP = { action: 'impression', maxBehaviours: 2, windowSeconds: 86_400, attribute: '' };
const CAMPAIGN_CAP = { ...CAP, maxBehaviours: 4, attribute: 'campaign' };

/** Wishes of a recall beside the user, each against none of it. */
const WISHES: Readonly<Record<string, Wish>> = {
  [PLAIN]: {},
  'a cap of items and one of campaigns': { frequencyCaps: [CAP, CAMPAIGN_CAP] },
  'caps that nothing reaches': {
    frequencyCaps: [
      { ...CAP, maxBehaviours: 190 },
      { ...CAMPAIGN_CAP, maxBehaviours: 190 },
    ],
  },
  'two attributes in the answer': { attributes: ['campaign', 'bid'] },
  '100 items of a SID': { itemsPerSid: 100 },
};

function asked(runtime: RecallRuntime, userId: string, wish: Wish) {
  const request: RecallRequest = {
    requestId: 'bench',
    userId,
    profile: {},
    scene: {},
    resultCount: 0,
    widths: [],
    itemsPerSid: 0,
    skipUnknownItems: true,
    ...wish,
  };
  const context = { signal: new AbortController().signal, budgetUs: BUDGET_US };
  return runtime.serving.recall(request, context);
}

/** Milliseconds of each recall by its kind, which take turns in an order that goes round. */
async function byTurns(
  kinds: Readonly<Record<string, (userId: string) => Promise<unknown>>>,
  rounds: number,
): Promise<Map<string, number[]>> {
  const names = Object.keys(kinds);
  const taken = new Map(names.map((name) => [name, [] as number[]]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const [at, userId] of USERS.entries()) {
      for (let turn = 0; turn < names.length; turn += 1) {
        const name = names[(turn + at + round) % names.length] as string;
        const began = performance.now();
        await kinds[name]?.(userId);
        // The first round is the one that fills the pool.
        if (round > 0) taken.get(name)?.push(performance.now() - began);
      }
    }
  }
  return taken;
}

/** Ratios are medians over pairs of the same user and round. */
function rows(prefix: string, taken: Map<string, number[]>, bar: number | null): Measurement[] {
  const base = taken.get(PLAIN) ?? [];
  return [...taken].map(([kind, ms]): Measurement => {
    const row = { name: `${prefix}: ${kind}, median`, value: quantile(ms, 0.5), unit: 'ms' };
    if (kind === PLAIN) return { ...row, bar: null };
    const ratios = ms.map((each, at) => each / (base[at] ?? Number.NaN));
    const ratio = { value: quantile(ratios, 0.5), to: PLAIN };
    return { ...row, ratio, bar, bound: 'at-most' };
  });
}

/**
 * Models by what the rows call them. The demo's recall takes a millisecond or two: it is there for
 * what a wish adds at all, and has no bar.
 */
const MODELS = {
  '8x512': { of: (say: SuiteContext['say']) => servedModel(SHAPES['8x512'], say), bar: BAR },
  demo: { of: () => join(repositoryRoot, 'models', 'demo'), bar: null },
};

async function conditions({ quick, say }: SuiteContext): Promise<Measurement[]> {
  const measurements: Measurement[] = [];
  const folder = temporaryFolder({});
  try {
    for (const [name, { of, bar }] of Object.entries(MODELS)) {
      const files = writeDayFiles(folder.path, of(say));
      const runtime = await createRecallRuntime(servedOptions(files));
      try {
        say(`${name}: ${USERS.length} users with ${BEHAVIOURS} behaviours each`);
        const kinds = Object.entries(WISHES).map(
          ([wish, change]) => [wish, (userId: string) => asked(runtime, userId, change)] as const,
        );
        const taken = await byTurns(Object.fromEntries(kinds), quick ? 8 : 30);
        measurements.push(...rows(name, taken, bar), await cappedRow(name, runtime));
      } finally {
        await runtime.close();
      }
    }
  } finally {
    folder.remove();
  }
  return measurements;
}

async function cappedRow(name: string, runtime: RecallRuntime): Promise<Measurement> {
  const counts: number[] = [];
  for (const userId of USERS) {
    const wish = { frequencyCaps: [CAP, CAMPAIGN_CAP] };
    counts.push((await asked(runtime, userId, wish)).cappedItems);
  }
  const value = quantile(counts, 0.5);
  return { name: `${name}: items that the caps keep out, median`, value, unit: '', bar: null };
}

/** Two services by turns: one that counts what is popular, and one that does not. */
async function fallback({ quick, say }: SuiteContext): Promise<Measurement[]> {
  const folder = temporaryFolder({});
  const runtimes: RecallRuntime[] = [];
  try {
    const files = writeDayFiles(folder.path, servedModel(SHAPES['8x512'], say));
    const plain = await createRecallRuntime(servedOptions(files));
    runtimes.push(plain);
    const withPopular = servedOptions(files, { withoutHistory: 'popular' });
    const popular = await createRecallRuntime(withPopular);
    runtimes.push(popular);
    say('withoutHistory=popular: known users and unknown ones');
    const taken = await byTurns(
      {
        [PLAIN]: (userId) => asked(plain, userId, {}),
        'a recall where what is popular is counted': (userId) => asked(popular, userId, {}),
        'an answer of popular items': (userId) => asked(popular, `nobody ${userId}`, {}),
      },
      quick ? 8 : 30,
    );
    return rows('fallback', taken, BAR);
  } finally {
    for (const runtime of runtimes) await runtime.close();
    folder.remove();
  }
}

const STAGES = { conditions, fallback };

export const DAY_STAGES = Object.keys(STAGES);

/** Costs of the wishes of ordinary days. */
export const daysSuite = staged(STAGES);
