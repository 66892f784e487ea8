/** One data set, every database, and the same figures computed by hand. */

import { temporaryFolder } from '@tessera/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AnalysisStore } from './domain/analysis-store.js';
import type { VersionPair } from './domain/answers.js';
import type { AnalysisFilter } from './domain/filter.js';
import { chdbOver } from './fixture/chdb-facts.js';
import { explorationOf, rankingOf, writeFacts } from './fixture/fact-files.js';
import { FiguresByHand } from './fixture/figures-by-hand.js';
import {
  type GeneratedFacts,
  type GeneratedRecall,
  type GeneratedVersion,
  generatedFacts,
  HOUR_MS,
} from './fixture/generated-facts.js';
import { DuckdbStore } from './outside/duckdb-store.js';
import { ad } from './questions/ad.js';
import { composition } from './questions/composition.js';
import { exploredTraffic, outcomesPage } from './questions/explored-traffic.js';
import { items, itemsAsOf } from './questions/items.js';
import { kept } from './questions/kept.js';
import { overview } from './questions/overview.js';
import type { Asking } from './questions/question.js';
import { reach, unreached } from './questions/reach.js';
import { versions } from './questions/versions.js';

const SEED = 46;
const facts = generatedFacts(SEED);
const hand = new FiguresByHand(facts);
const folder = temporaryFolder({});
type Opened = AnalysisStore & { close(): void };
const opened = new Map<string, Opened>();
const actions = {
  windowMs: 1_800_000,
  clicks: ['', 'click'],
  impressions: ['impression'],
  conversions: ['purchase', 'order'],
};
const hourOf = (ms: number) => Math.floor(ms / HOUR_MS) * HOUR_MS;
const EVERY: AnalysisFilter = {
  fromMs: hourOf(facts.beginMs) + 5 * HOUR_MS,
  toMs: hourOf(facts.beginMs) + 10 * HOUR_MS,
  catalogue: '',
  source: 'served',
  scenes: [],
  attributes: [],
};
const FILTERS: readonly (readonly [string, AnalysisFilter])[] = [
  ['whole hours', EVERY],
  ['parts of hours', { ...EVERY, fromMs: EVERY.fromMs + 123_456, toMs: EVERY.toMs - 654_321 }],
  ['one adapter', { ...EVERY, adapter: 'aaa', source: 'all' }],
  ['a scene', { ...EVERY, scenes: [['page', "p'1"]], fromMs: EVERY.fromMs - HOUR_MS / 2 }],
  ['an attribute', { ...EVERY, attributes: [['category', "pets'"]] }],
  ['a member of a set', { ...EVERY, attributes: [['geo', 'at']] }],
  ['a range of numbers', { ...EVERY, attributes: [['price', '2..5']] }],
  ['minutes', { ...EVERY, toMs: EVERY.fromMs + 1_500_000 }],
];

beforeAll(async () => {
  await writeFacts(facts, folder.path);
  opened.set('duckdb', await DuckdbStore.open(folder.path, { threads: '2' }));
  const chdb = await chdbOver(folder.path);
  if (chdb !== undefined) opened.set('clickhouse', chdb);
}, 240_000);

afterAll(() => {
  for (const store of opened.values()) store.close();
  folder.remove();
});

const sorted = (map: Map<string, number>) => Object.fromEntries([...map].sort());

describe.each(['duckdb', 'clickhouse'])('%s', (name) => {
  // ClickHouse compiles each statement anew, which takes seconds.
  const filters = name === 'duckdb' ? FILTERS : FILTERS.filter(([kind]) => kind.startsWith('a'));
  const asking = (context: { skip(note: string): void }): Asking => {
    const store = opened.get(name);
    if (store === undefined)
      context.skip('expected chdb of PyPI in .cache/chdb, .venv or python3, got none');
    return { store: store as AnalysisStore, actions };
  };

  it.each(filters)(
    'gives the figures of the overview over %s',
    async (_name, filter) => {
      await checkOverview(opened.get(name), filter);
    },
    120_000,
  );

  it.each(filters)(
    'gives shares, reach and outcomes over %s',
    async (_name, filter) => {
      await checkShares(opened.get(name), filter);
    },
    120_000,
  );

  it('gives the recalls that explored, with what their items earned', async (context) => {
    await checkExplored(asking(context), EVERY);
  }, 120_000);

  it('gives the figures of a panel where there are many recalls', async (context) => {
    await checkPanel(asking(context), facts, [2, 3]);
  }, 120_000);

  it('gives the figures of a panel where most recalls name no user', async (context) => {
    asking(context);
    const unnamed = generatedFacts(SEED, 0.9);
    const other = temporaryFolder({});
    await writeFacts(unnamed, other.path);
    const store = await (name === 'duckdb' ? DuckdbStore.open(other.path) : chdbOver(other.path));
    try {
      await checkPanel({ store: store as Opened, actions }, unnamed, [2, 1]);
    } finally {
      store?.close();
      other.remove();
    }
  }, 240_000);

  it('counts every recalled item as shown without impressions', async (context) => {
    await checkUnseen(asking(context));
  }, 120_000);

  it('finds in each span by itself whether impressions are known', async (context) => {
    asking(context);
    const sinceMs = EVERY.fromMs + 3 * HOUR_MS;
    const isKnown = ({ action, timeMs }: GeneratedFacts['behaviours'][number]) =>
      action !== 'impression' || timeMs >= sinceMs;
    const later = { ...facts, behaviours: facts.behaviours.filter(isKnown) };
    const other = temporaryFolder({});
    await writeFacts(later, other.path);
    const store = await (name === 'duckdb' ? DuckdbStore.open(other.path) : chdbOver(other.path));
    try {
      await checkSeen({ store: store as Opened, actions }, new FiguresByHand(later));
    } finally {
      store?.close();
      other.remove();
    }
  }, 240_000);

  it('gives items as they are and were', async (context) => {
    const asked = asking(context);
    const page = await items(asked, EVERY, { text: 'TITLE 1', isLive: true, offset: 2, limit: 5 });
    const live = facts.versions
      .filter((one) => one.toSeq === Number.MAX_SAFE_INTEGER && one.live)
      .filter(({ title }) => title.toLowerCase().includes('title 1'));
    const ids = live.map(({ itemId }) => itemId).sort();
    expect(page.total).toBe(ids.length);
    expect(page.items.map(({ itemId }) => itemId)).toEqual(ids.slice(2, 7));
    const counts = new Map<string, number>();
    for (const { attributes } of live) {
      const value = String(attributes.category);
      counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    expect(page.facets).toEqual([]);
    const wantedAll = { text: 'TITLE 1', isLive: true, offset: 0, limit: 1 };
    const { facets } = await items(asked, EVERY, wantedAll);
    const facet = facets.find((one) => one.name === 'category');
    const found = new Map(facet?.values.map(({ value, count }) => [value, count]));
    expect(sorted(found)).toEqual(sorted(counts));
    const wanted = ['item-1', 'item-2', 'item-3'];
    const then = await itemsAsOf(asked, { itemIds: wanted, catalogue: '', sequence: 12 });
    expect(then.map(({ itemId, attributes }) => [itemId, JSON.parse(attributes)]).sort()).toEqual(
      wanted.map((id) => [id, hand.versionAt(id, 12)?.attributes]),
    );
    const page2 = await ad(asked, EVERY, 'item-3');
    const had = hand.recalls(EVERY).filter(({ itemIds }) => itemIds.includes('item-3'));
    expect(page2.recalls).toBe(had.length);
    expect(page2.users).toBe(new Set(had.map(({ userId }) => userId).filter(Boolean)).size);
    expect(page2.hours.reduce((sum, hour) => sum + hour.recalls, 0)).toBe(had.length);
    const clicks = hand.pairs(EVERY).filter((pair) => pair.itemId === 'item-3' && pair.click);
    const all = page2.outcome.filter(({ position }) => position === 0);
    expect(all.reduce((sum, row) => sum + row.clicks.successes, 0)).toBe(clicks.length);
    const scenes = page2.byScene.filter(({ key }) => key === 'daypart');
    expect(scenes.reduce((sum, row) => sum + row.recalls, 0)).toBe(had.length);
  }, 120_000);

  it('compares arms while the canary serves, and says so', async (context) => {
    const asked = asking(context);
    const canaries = hand
      .recalls(EVERY)
      .filter(({ arm, code }) => arm === 'canary' && code === 'OK');
    const [fromMs, toMs] = [canaries[0]?.timeMs ?? 0, (canaries.at(-1)?.timeMs ?? 0) + 1];
    const page = await versions(asked, EVERY, { attribute: 'geo', isWhole: false });
    expect(page).toMatchObject({ canary: 'bbb', fromMs, toMs });
    const base = { ...EVERY, fromMs, toMs, adapter: '' };
    const found = page.exposure.filter((row) => row.adapter === '');
    expect(sorted(new Map(found.map((row) => [row.value, row.items])))).toEqual(
      sorted(hand.values(base, 'geo')),
    );
    const whole = await versions(asked, EVERY, { attribute: 'geo', isWhole: true });
    expect(whole).toMatchObject({ canary: '', fromMs: EVERY.fromMs });
    const users = (one: typeof page) => one.pairs.map((pair) => [pair.users, pair.items]);
    expect(users(whole)).toEqual(users(page));
  }, 120_000);

  it('ends buckets where a mark is, and tells how even values are', async (context) => {
    const asked = asking(context);
    const wanted = { attribute: 'category', buckets: 2, across: '', values: 10 };
    const page = await composition(asked, EVERY, wanted);
    const [mark] = page.marks;
    expect(mark?.text).toBe(`gRPC: ${hand.effects(mark?.sequence ?? 0)}`);
    const ends = page.series.map(({ untilMs }) => untilMs);
    expect(ends).toContain(mark?.timeMs);
    for (const { timeMs, untilMs, items: counts } of page.series) {
      const part = { ...EVERY, fromMs: Math.max(timeMs, EVERY.fromMs), toMs: untilMs };
      const own = hand.values(part, 'category');
      expect(counts).toEqual(page.values.map(({ value }) => own.get(value) ?? 0));
    }
    const counts = page.values.map((one) => one.items);
    const differences = counts.flatMap((a) => counts.map((b) => Math.abs(a - b)));
    const total = counts.reduce((all, one) => all + one, 0);
    const sum = differences.reduce((all, one) => all + one, 0);
    expect(page.gini).toBeCloseTo(sum / (2 * counts.length * total), 12);
  }, 120_000);

  it('says what is kept', async (context) => {
    const { recalls, sceneKeys, attributes, keptFromMs } = await kept(asking(context));
    expect(recalls).toBe(facts.recalls.length);
    expect(keptFromMs).toBe(facts.recalls[0]?.timeMs);
    expect(sceneKeys).toEqual(['daypart', 'page']);
    expect(attributes).toEqual(['category', 'geo', 'price']);
  }, 120_000);
});

async function checkOverview(store: Opened | undefined, filter: AnalysisFilter): Promise<void> {
  if (store === undefined) return;
  const page = await overview({ store, actions }, filter, 5);
  const recalls = hand.recalls(filter);
  const answered = recalls.filter(({ code }) => code === 'OK');
  expect(page.now.recalls, `seed ${SEED}`).toBe(recalls.length);
  expect(page.now.answered).toBe(answered.length);
  expect(page.now.users).toBe(new Set(recalls.map(({ userId }) => userId).filter(Boolean)).size);
  expect(page.liveItems).toBe(hand.live(filter).size);
  const { coverage, gini } = hand.exposure(filter);
  expect(page.now.coverage).toBeCloseTo(coverage, 12);
  expect(page.now.gini).toBeCloseTo(gini, 12);
  const pairs = hand.pairs(filter);
  expect(page.shownBy).toBe('impressions');
  expect(page.otherActions).toEqual([]);
  expect(page.now.clickRate).toMatchObject({
    successes: pairs.filter(({ click }) => click).length,
    trials: pairs.length,
  });
  const overlap = hand.overlap(filter);
  if (overlap === null) expect(page.now.overlap).toBeNull();
  else expect(page.now.overlap).toBeCloseTo(overlap, 12);
  for (const { timeMs, ...figures } of page.series) {
    const toMs = Math.min(filter.toMs, timeMs + page.bucketMs);
    const fromMs = Math.max(filter.fromMs, timeMs);
    const bucket = { ...filter, fromMs, toMs };
    expect(figures.recalls).toBe(hand.recalls(bucket).length);
    const clicks = hand
      .pairs(filter)
      .filter(({ recall, click }) => click && recall.timeMs >= fromMs && recall.timeMs < toMs);
    expect(figures.clickRate.successes).toBe(clicks.length);
    if (toMs - fromMs === page.bucketMs) {
      const expected = hand.overlap(bucket);
      if (expected === null) expect(figures.overlap).toBeNull();
      else expect(figures.overlap).toBeCloseTo(expected, 12);
    }
  }
}

async function checkUnseen(asked: Asking): Promise<void> {
  const unseen = { ...actions, impressions: ['seen'], clicks: ['', 'clik'] };
  const page = await overview({ ...asked, actions: unseen }, EVERY, 5);
  const { fromMs, toMs } = EVERY;
  const done = facts.behaviours.filter(({ timeMs }) => timeMs >= fromMs && timeMs < toMs);
  expect(page.otherActions).toEqual([...new Set(done.map(({ action }) => action))].sort());
  expect(page.otherActions).toContain('click');
  const every = { ...unseen, clicks: ['', '*'] };
  expect((await overview({ ...asked, actions: every }, EVERY, 1)).otherActions).toEqual([]);
  const answered = hand.recalls(EVERY).filter(({ code }) => code === 'OK');
  const items = (from: number, to: number) =>
    answered
      .filter(({ timeMs }) => timeMs >= from && timeMs < to)
      .reduce((sum, { itemIds }) => sum + itemIds.length, 0);
  expect(page.shownBy).toBe('recalls');
  expect(page.now.clickRate.trials).toBe(items(EVERY.fromMs, EVERY.toMs));
  expect(page.series.map(({ clickRate }) => clickRate.trials)).toEqual(
    page.series.map(({ timeMs }) => items(timeMs, timeMs + page.bucketMs)),
  );
}

async function checkSeen(asked: Asking, of: FiguresByHand): Promise<void> {
  const page = await overview(asked, EVERY, 5);
  const { fromMs, toMs } = EVERY;
  const shown = (from: number, to: number) => {
    const span = { ...EVERY, fromMs: from, toMs: to };
    const pairs = of.pairs(span);
    if (pairs.some(({ impression }) => impression)) return pairs.length;
    return of.recalls(span).reduce((sum, { itemIds }) => sum + itemIds.length, 0);
  };
  const before = of.pairs({ ...EVERY, fromMs: fromMs - (toMs - fromMs), toMs: fromMs });
  expect(before.filter(({ click }) => click).length).toBeGreaterThan(0);
  expect(before.some(({ impression }) => impression)).toBe(false);
  expect(page.shownBy).toBe('impressions');
  expect(page.now.clickRate.trials).toBe(shown(fromMs, toMs));
  expect(page.before.clickRate.trials).toBe(shown(fromMs - (toMs - fromMs), fromMs));
  expect(page.series.map(({ clickRate }) => clickRate.trials)).toEqual(
    page.series.map(({ timeMs }) => shown(timeMs, timeMs + page.bucketMs)),
  );
}

/** Facts of one user in so many, and none without a user. */
async function panelOf({ store }: Asking, of: GeneratedFacts, oneIn: number) {
  if (oneIn === 1) return new FiguresByHand(of);
  const [rows = []] = await store.rows([
    `SELECT recall_id, ${store.dialect.number('user_hash')} AS hash FROM recall_fact`,
  ]);
  const hashOf = new Map(rows.map((row) => [row.recall_id, Number(row.hash)]));
  const isIn = ({ recallId, userId }: { readonly recallId: string; readonly userId: string }) =>
    userId !== '' && (hashOf.get(recallId) ?? 0) < 2 ** 64 / oneIn;
  const recalls = of.recalls.filter(isIn);
  const users = new Set(recalls.map(({ userId }) => userId));
  const behaviours = of.behaviours.filter(({ userId }) => users.has(userId));
  return new FiguresByHand({ ...of, recalls, behaviours });
}

async function checkPanel(
  every: Asking,
  of: GeneratedFacts,
  [oneIn, overlapOneIn]: readonly [number, number],
): Promise<void> {
  const all = new FiguresByHand(of);
  const answered = all.recalls(EVERY).filter(({ code }) => code === 'OK');
  const asked = { ...every, panelRecalls: answered.length - 1 };
  const panel = await panelOf(asked, of, oneIn);
  const fewer = await panelOf(asked, of, overlapOneIn);
  const page = await overview(asked, EVERY, 5);
  expect([page.oneIn, page.overlapOneIn]).toEqual([oneIn, overlapOneIn]);
  expect(page.now.recalls, `seed ${SEED}`).toBe(all.recalls(EVERY).length);
  expect(page.now.gini).toBeCloseTo(all.exposure(EVERY).gini, 12);
  const pairs = panel.pairs(EVERY);
  expect(pairs.length).toBeGreaterThan(0);
  expect(page.now.clickRate).toMatchObject({
    successes: pairs.filter(({ click }) => click).length,
    trials: pairs.length,
  });
  expect(fewer.overlap(EVERY)).not.toBeNull();
  expect(page.now.overlap).toBeCloseTo(fewer.overlap(EVERY) ?? -1, 12);
  const atMs = EVERY.fromMs + 2 * HOUR_MS + 5;
  const byValue = await reach(asked, EVERY, { by: 'category', atMs, limit: 100 });
  const earlier = { ...EVERY, toMs: atMs };
  expect(sorted(new Map(byValue.rows.map((row) => [row.key, row.before])))).toEqual(
    sorted(panel.recallsByValue(earlier, 'category')),
  );
  const { outcome } = await versions(asked, EVERY, { attribute: '', isWhole: true });
  const clicked = outcome.filter(({ position }) => position === 0);
  expect(clicked.reduce((sum, row) => sum + row.clicks.successes, 0)).toBe(
    pairs.filter(({ click }) => click).length,
  );
  const shown = await ad(asked, EVERY, 'item-3');
  const had = (one: FiguresByHand) =>
    one.recalls(EVERY).filter(({ itemIds }) => itemIds.includes('item-3'));
  expect(shown.recalls).toBe(had(all).length);
  const users = new Set(had(panel).map(({ userId }) => userId));
  expect(shown.users).toBe(oneIn * users.size);
}

async function checkShares(store: Opened | undefined, filter: AnalysisFilter): Promise<void> {
  if (store === undefined) return;
  const asked = { store, actions };
  const wanted = { attribute: 'category', buckets: 5, across: 'daypart', values: 10 };
  const page = await composition(asked, filter, wanted);
  const values = hand.values(filter, 'category');
  const found = new Map(page.values.map(({ value, items: count }) => [value, count]));
  expect(sorted(found), `seed ${SEED}`).toEqual(sorted(values));
  page.values.forEach(({ items: count }, index) => {
    const sum = (rows: readonly { readonly items: readonly number[] }[]) =>
      rows.reduce((all, row) => all + (row.items[index] ?? 0), 0);
    expect([sum(page.series), sum(page.matrix)]).toEqual([count, count]);
  });
  for (const attribute of ['geo', 'price']) {
    const by = await composition(asked, filter, { ...wanted, attribute, values: 50 });
    const names = by.values.map(({ value }) => value);
    const expected = sorted(hand.values(filter, attribute, names));
    expect(sorted(new Map(by.values.map((one) => [one.value, one.items])))).toEqual(expected);
  }
  const few = await composition(asked, filter, { ...wanted, values: 1, across: '' });
  const total = [...values.values()].reduce((sum, one) => sum + one, 0);
  expect(few.values.reduce((sum, one) => sum + one.items, 0)).toBe(total);
  const atMs = filter.fromMs + Math.floor((filter.toMs - filter.fromMs) / 3) + 77;
  const [earlier, later] = [
    { ...filter, toMs: atMs },
    { ...filter, fromMs: atMs },
  ];
  const plain = filter.attributes.length === 0;
  if (plain) {
    const byValue = await reach(asked, filter, { by: 'category', atMs, limit: 100 });
    const column = (side: 'before' | 'after') =>
      sorted(
        new Map(byValue.rows.filter((row) => row[side] > 0).map((row) => [row.key, row[side]])),
      );
    expect(column('before')).toEqual(sorted(hand.recallsByValue(earlier, 'category')));
    expect(column('after')).toEqual(sorted(hand.recallsByValue(later, 'category')));
    const byItem = await reach(asked, filter, { by: 'item', atMs, limit: 1000 });
    const counts = new Map<string, number>();
    for (const { itemIds } of hand.recalls(later)) {
      for (const id of itemIds) counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    const after = byItem.rows.filter((row) => row.after > 0).map((row) => [row.key, row.after]);
    expect(Object.fromEntries(after.sort())).toEqual(sorted(counts));
  }
  const missed = await unreached(asked, filter, { by: 'geo', limit: 1000 });
  const { eligible, unknown } = hand.unreached(filter);
  const eligibleFound = new Map(missed.items.map((one) => [one.itemId, one.eligibleRecalls]));
  expect(sorted(eligibleFound)).toEqual(sorted(eligible));
  expect(missed.total).toBe(eligible.size);
  const live = hand.versionsAt(filter);
  for (const { value, items: count, live: all } of missed.values) {
    const has = (one: GeneratedVersion) => hand.valuesOf(one.attributes.geo).includes(value);
    const own = live.filter(has);
    expect(all).toBe(own.length);
    expect(count).toBe(own.filter(({ itemId }) => eligible.has(itemId)).length);
  }
  expect(missed.unknownRecalls).toBe(unknown);
  await checkVersions(asked, filter);
}

/** Pairs of recalls of a user that saw the same catalogue; of each user the newest. */
function checkPair(
  pair: VersionPair,
  answered: readonly GeneratedRecall[],
  filter: AnalysisFilter,
): void {
  const of = (adapter: string) =>
    answered.filter((one) => one.adapter === adapter && one.userId !== '');
  const newest = (recalls: readonly GeneratedRecall[]) =>
    new Map(recalls.map((one) => [`${one.userId} ${one.sequence}`, one]));
  const [lefts, rights] = [newest(of(pair.left)), newest(of(pair.right))];
  const byUser = new Map<string, { id: string; a: GeneratedRecall; b: GeneratedRecall }>();
  for (const [key, a] of lefts) {
    const b = rights.get(key);
    if (b === undefined) continue;
    const id = a.recallId > b.recallId ? a.recallId : b.recallId;
    const before = byUser.get(a.userId);
    if (before === undefined || before.id < id) byUser.set(a.userId, { id, a, b });
  }
  const pairs = [...byUser.values()];
  const overlaps = pairs.map(({ a, b }) => hand.jaccard(a.itemIds, b.itemIds));
  expect(pair.users).toBe(pairs.length);
  const mean = overlaps.reduce((sum, one) => sum + one, 0) / pairs.length;
  if (pairs.length === 0) expect(pair.overlap).toBeNull();
  else expect(pair.overlap).toBeCloseTo(mean, 12);
  expect(pair.histogram.reduce((sum, one) => sum + one, 0)).toBe(pairs.length);
  const users = new Set(of(pair.left).map(({ userId }) => userId));
  const both = new Set(of(pair.right).map(({ userId }) => userId));
  expect(pair.usersOfBoth).toBe([...users].filter((user) => both.has(user)).length);
  for (const { key, count } of pair.items) {
    const had = pairs
      .filter(({ a, b }) => a.itemIds.includes(key) && b.itemIds.includes(key))
      .filter(({ a }) => hand.fits(hand.versionAt(key, a.sequence), filter));
    expect(count).toBe(had.length);
  }
}

async function checkVersions(asked: Asking, filter: AnalysisFilter): Promise<void> {
  const page = await versions(asked, filter, { attribute: 'category', isWhole: true });
  const answered = hand.recalls(filter).filter(({ code }) => code === 'OK');
  for (const { adapter, recalls, arm } of page.versions) {
    const own = answered.filter((one) => one.adapter === adapter);
    expect(recalls).toBe(own.length);
    expect(arm).toBe(own[0]?.arm);
    const values = hand.values({ ...filter, adapter }, 'category');
    const exposed = page.exposure.filter((row) => row.adapter === adapter);
    const found = new Map(exposed.map((row) => [row.value, row.items]));
    expect(sorted(found)).toEqual(sorted(values));
  }
  for (const pair of page.pairs) checkPair(pair, answered, filter);
  const pairs = hand.pairs(filter);
  for (const row of page.outcome) {
    const own = pairs.filter(
      ({ recall, position }) =>
        recall.adapter === row.adapter && (row.position === 0 || position === row.position),
    );
    expect(row.clicks.trials).toBe(own.length);
    expect(row.clicks.successes).toBe(own.filter(({ click }) => click).length);
    expect(row.conversions.successes).toBe(own.filter(({ conversion }) => conversion).length);
    expect(row.impressions).toBe(own.filter(({ impression }) => impression).length);
  }
}

async function checkExplored(asked: Asking, filter: AnalysisFilter): Promise<void> {
  const traffic = await exploredTraffic(asked, filter, 'click');
  const answered = hand.recalls(filter).filter(({ code }) => code === 'OK');
  const clicked = new Set(
    hand
      .pairs(filter)
      .flatMap(({ recall, itemId, click }) => (click ? [recall.recallId + itemId] : [])),
  );
  const drawn = answered.filter((one) => explorationOf(one).propensities.length > 0);
  const unranked = drawn.filter((one) => rankingOf(one).ranked_items === 0);
  const explored = unranked.filter((one) => explorationOf(one).no_propensities === '');
  const ranked = drawn.length - unranked.length;
  const part = unranked.length - explored.length;
  expect(part).toBeGreaterThan(0);
  const wanted = explored.toReversed().map((one) => ({
    recallId: one.recallId,
    requestId: one.requestId,
    items: one.itemIds.map((itemId, at) => ({
      itemId,
      propensity: expect.closeTo(explorationOf(one).propensities[at] ?? 0, 6),
      reward: clicked.has(one.recallId + itemId) ? 1 : 0,
    })),
  }));
  expect(traffic.recalls).toMatchObject(wanted);
  expect(traffic.recalls).toHaveLength(wanted.length);
  const beams = answered.filter((one) => explorationOf(one).no_propensities === 'beam').length;
  const plain = answered.length - drawn.length - beams;
  expect(traffic).toMatchObject({ without: { beam: beams, plain, ranked, part }, oneIn: 1 });
  const users = new Set(explored.map(({ userId, recallId }) => userId || recallId));
  expect(new Set(traffic.recalls.map(({ user }) => user)).size).toBe(users.size);
  // The policy that was served, on all recalls but one.
  const targets = traffic.recalls.slice(1).map(({ recallId, items: own }) => {
    const shares = own.map(({ itemId, propensity }) => [itemId, propensity] as const);
    return [recallId, new Map(shares)] as const;
  });
  const page = outcomesPage(traffic, new Map(targets), { reward: 'click' });
  expect(page).toMatchObject({
    recalls: wanted.length - 1,
    left: { beam: beams, plain, ranked, part, unasked: 1 },
  });
  const { served, weighted } = page.estimates ?? {};
  // Fewer users than an interval needs.
  expect(users.size).toBeLessThan(page.effectiveUsersMin);
  expect(served ?? weighted).toBeUndefined();
}
