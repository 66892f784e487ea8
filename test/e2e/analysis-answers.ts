/**
 * Answers of the analysis that are rich enough to look at: two versions, marks, intervals, a large
 * catalogue. Tests of the analysis compare the service's answers.
 */

import type {
  AdPage,
  AnalysisAbout,
  CompositionPage,
  ItemsPage,
  OutcomeRow,
  OutcomesPage,
  OverviewFigures,
  OverviewPage,
  Rate,
  ReachPage,
  SchemaPage,
  UnreachedPage,
  UserChangePage,
  VersionsPage,
} from '../../libs/insight/analysis/src/index.js';

const HOUR_MS = 3_600_000;
const TO_MS = Date.UTC(2026, 10, 26, 12);
const FROM_MS = TO_MS - 24 * HOUR_MS;
const OTHER_VERSION = 'ab'.repeat(32);
const CATEGORIES = ['coffee', 'running', 'cycling', 'gardening', 'kitchen', 'travel', '(other)'];
const DAYPARTS = ['morning', 'afternoon', 'evening', 'night'];
const LONG_TITLE = '特別限定商品 — hand-made espresso machine, single-origin, by Brisk';

const about: AnalysisAbout = {
  isKept: true,
  store: 'duckdb',
  keptFromMs: FROM_MS - 48 * HOUR_MS,
  keptToMs: TO_MS,
  recalls: 1_284_310,
  behaviours: 208_911,
  bytes: 310_000_000,
  files: 75,
  keepMs: 168 * HOUR_MS,
  keepBytes: 2 ** 31,
  lost: [],
  fault: '',
  factShare: 1,
  recordShare: 0.1,
  sceneKeys: ['daypart', 'user_group'],
  attributes: ['advertiser', 'brand', 'category', 'topic'],
};

function rateOf(successes: number, trials: number): Rate {
  const rate = trials === 0 ? 0 : successes / trials;
  const half = trials === 0 ? 0 : 1.96 * Math.sqrt((rate * (1 - rate)) / trials);
  return { successes, trials, rate, low: Math.max(0, rate - half), high: rate + half };
}

const figures = (factor: number): OverviewFigures => ({
  recalls: Math.round(52_311 * factor),
  answered: Math.round(52_100 * factor),
  users: Math.round(9_120 * factor),
  refused: {
    DEADLINE_EXCEEDED: Math.round(180 * factor),
    ENGINE_OVERLOADED: Math.round(31 * factor),
  },
  coverage: 0.88 / factor ** 0.1,
  gini: 0.61 * factor ** 0.1,
  clickRate: rateOf(Math.round(2_100 * factor), Math.round(41_000 * factor)),
  overlap: 0.42,
});

const marks: OverviewPage['marks'] = [
  {
    timeMs: FROM_MS + 7 * HOUR_MS,
    kind: 'catalogue',
    text: 'console: ann: 90 added, 60 paused',
    changes: 150,
    firstSequence: 850,
    sequence: 850,
    digest: '',
  },
  {
    timeMs: FROM_MS + 15 * HOUR_MS,
    kind: 'adapter',
    text: 'activated for 30 % of the users',
    changes: 0,
    firstSequence: 0,
    sequence: 0,
    digest: OTHER_VERSION,
  },
];

const overview: OverviewPage = {
  fromMs: FROM_MS,
  toMs: TO_MS,
  bucketMs: HOUR_MS / 2,
  oneIn: 8,
  overlapOneIn: 40,
  liveItems: 100_690,
  shownBy: 'impressions',
  otherActions: [],
  now: figures(1),
  before: figures(0.9),
  series: Array.from({ length: 48 }, (_, at) => {
    const factor = (1 + Math.sin(at / 5) / 3) / 48;
    const whole = figures(at === 20 ? 0 : factor);
    const gini = 0.6 + Math.sin(at / 7) / 20;
    return Object.assign({ timeMs: FROM_MS + (at * HOUR_MS) / 2 }, whole, { coverage: 0.4, gini });
  }),
  marks,
};

const itemsOf = (seed: number) =>
  CATEGORIES.map((_, at) => Math.round(400 + 300 * Math.sin(seed / 6 + at)));

const composition: CompositionPage = {
  attribute: 'category',
  bucketMs: HOUR_MS / 2,
  values: CATEGORIES.map((value, at) => ({
    value,
    items: 9000 - at * 900,
    share: 0.25 - at * 0.03,
  })),
  gini: 0.31,
  series: Array.from({ length: 48 }, (_, at) => ({
    timeMs: FROM_MS + (at * HOUR_MS) / 2,
    untilMs: FROM_MS + ((at + 1) * HOUR_MS) / 2,
    items: at % 12 === 5 ? CATEGORIES.map(() => 0) : itemsOf(at),
  })),
  sceneKey: 'daypart',
  matrix: DAYPARTS.map((scene, at) => ({ scene, items: itemsOf(at * 9) })),
  marks,
};

const reach: ReachPage = {
  by: 'item',
  fromMs: FROM_MS,
  atMs: FROM_MS + 7 * HOUR_MS,
  toMs: TO_MS,
  oneIn: 1,
  recallsBefore: 15_000,
  recallsAfter: 37_311,
  rows: Array.from({ length: 30 }, (_, at) => {
    const shareBefore = 0.2 - at * 0.003;
    const shareAfter = at % 2 === 0 ? shareBefore * 0.4 : shareBefore * 1.5;
    return {
      key: String(at + 1),
      title: at === 0 ? LONG_TITLE : `Road running shoes, waterproof, number ${at}`,
      before: Math.round(shareBefore * 15_000),
      after: Math.round(shareAfter * 37_311),
      shareBefore,
      shareAfter,
      pausedMs: at === 4 ? FROM_MS + 7 * HOUR_MS : 0,
    };
  }),
  isCut: true,
};

const unreached: UnreachedPage = {
  items: Array.from({ length: 40 }, (_, at) => ({
    itemId: String(600 + at),
    title: `Terracotta pot, set of ${at + 2}`,
    eligibleRecalls: 50_000 - at * 731,
  })),
  values: [{ value: 'garden', items: 30, live: 41 }],
  total: 84,
  recalls: 52_311,
  unknownRecalls: 12,
};

const outcomeOf = (adapter: string, lift: number): OutcomeRow[] =>
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((position) => {
    const shown = position === 0 ? 8_000 : 1_600 - position * 120;
    const rate = position === 0 ? 0.05 : (0.12 / position) * lift;
    return {
      adapter,
      position,
      recalled: shown * 2,
      impressions: shown,
      clicks: rateOf(Math.round(shown * rate), shown),
      conversions: rateOf(Math.round(shown * rate * 0.1), shown),
    };
  });

const versions: VersionsPage = {
  fromMs: FROM_MS + 15 * HOUR_MS,
  toMs: TO_MS,
  canary: OTHER_VERSION,
  oneIn: 8,
  overlapOneIn: 40,
  versions: [
    { adapter: '', name: '', arm: 'base', recalls: 36_000, users: 6_000 },
    { adapter: OTHER_VERSION, name: 'trained-demo', arm: 'canary', recalls: 16_311, users: 3_120 },
  ],
  pairs: [
    {
      left: '',
      right: OTHER_VERSION,
      users: 820,
      overlap: 0.066,
      histogram: [610, 120, 40, 20, 10, 8, 5, 4, 2, 1],
      usersOfBoth: 1_204,
      items: [{ key: '1', title: LONG_TITLE, count: 301 }],
      values: [{ key: 'coffee', title: '', count: 512 }],
    },
  ],
  attribute: 'category',
  exposure: ['', OTHER_VERSION].flatMap((adapter, side) =>
    CATEGORIES.map((value, at) => ({
      adapter,
      value,
      items: 4000 - at * 300,
      share: side === 0 ? 0.25 - at * 0.03 : 0.05 + at * 0.03,
    })),
  ),
  shownBy: 'impressions',
  outcome: [...outcomeOf('', 1), ...outcomeOf(OTHER_VERSION, 1.3)],
};

const attributes = JSON.stringify({
  category: 'coffee',
  topic: 'kitchen',
  brand: 'Brisk',
  bid: 1.2,
});
const item = (at: number) => ({
  itemId: String(at + 1),
  title: at === 1 ? LONG_TITLE : `Espresso machine, number ${at}`,
  sid: `1-1-${at}`,
  attributes,
  isLive: at % 9 !== 0,
  fromSequence: at,
  fromMs: at === 0 ? 0 : FROM_MS,
});

const ad: AdPage = {
  item: item(1),
  history: [item(0), item(1)],
  oneIn: 8,
  recalls: 9_487,
  users: 512,
  hours: Array.from({ length: 24 }, (_, at) => ({
    timeMs: FROM_MS + at * HOUR_MS,
    recalls: 200 + at * 11,
    users: 60 + at,
  })),
  byVersion: [
    { adapter: '', recalls: 7_000 },
    { adapter: OTHER_VERSION, recalls: 2_487 },
  ],
  byScene: DAYPARTS.map((value, at) => ({ key: 'daypart', value, recalls: 4_000 - at * 800 })),
  outcome: outcomeOf('', 1),
};

const ITEMS = 100_690;

function itemsPage(query: URLSearchParams): ItemsPage {
  const offset = Number(query.get('offset') ?? 0);
  const limit = Number(query.get('limit') ?? 50);
  return {
    total: ITEMS,
    items: Array.from({ length: Math.min(limit, ITEMS - offset) }, (_, at) => item(offset + at)),
    facets: ['category', 'topic', 'brand'].map((name) => ({
      name,
      values: CATEGORIES.slice(0, 6).map((value, at) => ({ value, count: 30_000 - at * 4_000 })),
    })),
  };
}

const change: UserChangePage = {
  distance: 0.62,
  shares: [
    { part: 'history', share: 0.4, isAsked: true, reason: '' },
    { part: 'catalogue', share: -0.03, isAsked: true, reason: '' },
    { part: 'adapter', share: 0.2, isAsked: true, reason: '' },
  ],
  rest: 0.05,
  gained: ['80', '81', '82'],
  lost: ['1', '2', '3'],
  corners: [],
};

const schema: SchemaPage = {
  tables: [
    {
      name: 'recall_fact',
      text: 'a recall, answered or refused',
      columns: [
        { name: 'time', type: 'TIMESTAMP', text: 'UTC' },
        { name: 'recall_id', type: 'VARCHAR', text: '' },
      ],
    },
    {
      name: 'recalls',
      text: 'a recorded recall',
      columns: [{ name: 'id', type: 'VARCHAR', text: '' }],
    },
  ],
};

const estimateOf = (value: number) => ({ value, low: value - 0.03, high: value + 0.03 });
const outcomes: OutcomesPage = {
  reward: 'click',
  oneIn: 1,
  explored: 12_410,
  left: { plain: 39_690, unrecorded: 11_910, stopped: 31 },
  effectiveUsersMin: 100,
  recalls: 500,
  users: 431,
  rewards: 205,
  targetItems: 10,
  effectiveUsers: 287.4,
  balance: 0.994,
  estimates: {
    served: estimateOf(0.41),
    weighted: estimateOf(0.47),
    normalised: estimateOf(0.46),
    doublyRobust: estimateOf(0.465),
    gain: estimateOf(0.055),
  },
};

const ANSWERS: Readonly<Record<string, unknown>> = {
  about,
  overview,
  composition,
  reach,
  unreached,
  versions,
  outcomes,
  change,
  schema,
};

/** The answer to a path below `analysis/`. */
export function analysisAnswer(url: string): unknown {
  const { pathname, searchParams } = new URL(url);
  const path = pathname.split('/analysis/')[1] ?? '';
  if (path === 'items') return itemsPage(searchParams);
  return path.startsWith('ads/') ? ad : ANSWERS[path];
}
