/** Answers of the console's API on a recall that ranked, and on versions that have heads. */

import type {
  AdapterChange,
  AdapterChanges,
  AdaptersPage,
  AdapterView,
  RecallPage,
} from '../../apps/console/src/api-types.js';

const HEADS = 'cd'.repeat(32);
const AT_MS = Date.UTC(2026, 10, 26, 12);

const VERSION: AdapterView = {
  name: 'ranking',
  digest: HEADS,
  state: 'active',
  reason: '',
  remark: 'trained on a week of clicks',
  pushedBy: 'trainer',
  holder: '',
  learnedUntilMs: 0,
  leaseUntilMs: 0,
  receivedMs: AT_MS,
  changedMs: AT_MS,
  isPinned: false,
  isLoaded: true,
  isPredecessor: false,
  arenaBytes: 2 ** 22,
  fileBytes: 2 ** 20,
  share: 0,
  facts: {
    rankMax: 0,
    targetCount: 0,
    replacedRows: 0,
    largestNorm: 0,
    heads: ['click', 'add-to-basket', 'purchase'],
    isActivated: false,
  },
};

const ACTIVATED: AdapterView = {
  ...VERSION,
  digest: 'ef'.repeat(32),
  state: 'canary',
  share: 0.1,
  facts: {
    rankMax: 16,
    targetCount: 112,
    replacedRows: 0,
    largestNorm: 3.25,
    heads: ['click', 'add-to-basket', 'purchase'],
    isActivated: true,
  },
};

export const RANKING_VERSIONS: AdaptersPage = {
  isKept: true,
  titles: {},
  defaultName: 'main',
  versions: [ACTIVATED, VERSION],
  arena: { usedBytes: 2 ** 23, maxBytes: 2 ** 28 },
  disk: { usedBytes: 2 ** 21, maxBytes: 2 ** 30 },
};

const MINUTE_MS = 60_000;

/** Canaries every two minutes of the last hours, of which each fifth was rolled back. */
export function followedVersions(nowMs: number): AdapterChanges {
  const changes = Array.from({ length: 100 }, (_, at): AdapterChange[] => {
    const digest = (at + 16).toString(16).padStart(2, '0').repeat(32);
    const timeMs = nowMs - (100 - at) * 2 * MINUTE_MS;
    const own = { actor: 'trainer', role: '', name: 'main', digest, outcome: 'OK' };
    const verdict = 'answers with a click: expected not clearly below 9.1 %, got 6.0 %';
    return [
      { ...own, timeMs, action: 'activate', detail: 'share 0.5, holder follow-1' },
      at % 5 === 4
        ? { ...own, actor: 'canary', timeMs: timeMs + 40_000, action: 'rollback', detail: verdict }
        : { ...own, timeMs: timeMs + MINUTE_MS, action: 'activate', detail: 'share 1' },
    ];
  });
  return { changes: changes.flat().toReversed(), isWhole: false };
}

/** The same recall, its items by heads, which are the opposite order. */
export function rankedPage(page: RecallPage): RecallPage {
  const { answer, request } = page.recall;
  if (answer === undefined) throw new Error('expected an answered recall, got a refused one');
  const items = answer.items.toReversed().map((item, at) => {
    const click = 0.5 / (at + 1);
    const terms = { ctr: Math.log(click), bid: 0.7, freshness: 0.05 * at };
    const value = Object.values(terms).reduce((sum, term) => sum + term, 0);
    const heads = { click, 'add-to-basket': click / 9, purchase: click / 41 };
    const recallRank = item.rank;
    const ranking = { heads, value: { value, terms, pace: 1 }, recallRank };
    return { ...item, rank: at + 1, ranking };
  });
  const ranking = {
    adapter: HEADS,
    adapterName: 'ranking',
    items: 200,
    leftOut: 3,
    heads: ['click', 'add-to-basket', 'purchase'],
    valuation: {
      name: 'worth',
      scoreWeight: 0,
      weights: { ctr: 1, bid: 1, freshness: 1 },
      noPrices: 'ranked',
    },
  };
  const rank = { items: 200, adapter: 'ranking' };
  const recall = {
    ...page.recall,
    id: 'ranked',
    request: { ...request, rank },
    answer: { ...answer, items, ranking },
  };
  return { ...page, recall };
}
