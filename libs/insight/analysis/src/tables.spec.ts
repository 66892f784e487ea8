/** Questions that answer with a table, against plain counts over the generated rows. */

import { temporaryFolder } from '@tessera/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AnalysisStore } from './domain/analysis-store.js';
import type { AnalysisFilter } from './domain/filter.js';
import { rateOf } from './domain/statistics.js';
import type { TablePage, TableRow } from './domain/table-page.js';
import { chdbOver } from './fixture/chdb-facts.js';
import { explorationOf, PACES, pricesOf, rankingOf, writeFacts } from './fixture/fact-files.js';
import { FiguresByHand } from './fixture/figures-by-hand.js';
import { type GeneratedFacts, generatedFacts, HOUR_MS } from './fixture/generated-facts.js';
import { DuckdbStore } from './outside/duckdb-store.js';
import { TABLES } from './questions/tables/tables.js';

const SEED = 48;
/** Facts where some ads begin with their second version, and no recall has them before. */
function withArrivals(every: GeneratedFacts): GeneratedFacts {
  const second = every.versions.filter(
    ({ itemId, fromSeq }) =>
      Number(itemId.slice(5)) % 3 === 2 &&
      fromSeq > 10 &&
      every.versions.findLast((one) => one.itemId === itemId && one.fromSeq < fromSeq)?.fromSeq ===
        10,
  );
  const bornMs = new Map(second.map(({ itemId, fromMs }) => [itemId, fromMs]));
  const isThere = (itemId: string, timeMs: number) => timeMs >= (bornMs.get(itemId) ?? 0);
  return {
    ...every,
    versions: every.versions.filter(({ itemId, fromMs }) => isThere(itemId, fromMs)),
    recalls: every.recalls.map(({ itemIds, ...recall }) => ({
      ...recall,
      itemIds: itemIds.filter((itemId) => isThere(itemId, recall.timeMs)),
    })),
  };
}

const facts = withArrivals(generatedFacts(SEED));
const hand = new FiguresByHand(facts);
const folder = temporaryFolder({});
const opened = new Map<string, AnalysisStore & { close(): void }>();
const actions = {
  windowMs: 1_800_000,
  clicks: ['', 'click'],
  impressions: ['impression'],
  conversions: ['purchase', 'order'],
};
const FILTER: AnalysisFilter = {
  fromMs: facts.beginMs + HOUR_MS + 7,
  toMs: facts.beginMs + 9 * HOUR_MS,
  catalogue: '',
  source: 'served',
  scenes: [],
  attributes: [],
};
const WANTED = { by: 'category', bid: 'price' };
const answered = hand.recalls(FILTER).filter(({ code }) => code === 'OK');
const pairs = hand.pairs(FILTER);

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

const attributeOf = (itemId: string, sequence: number, name: string) =>
  hand.versionAt(itemId, sequence)?.attributes[name];
const lowerMedian = (values: readonly number[]) => {
  const ascending = [...values].sort((a, b) => a - b);
  return ascending[Math.floor((ascending.length - 1) / 2)] ?? null;
};
const figure = ({ figures }: TablePage, label: string) =>
  figures.find((one) => one.label === label)?.value;
const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0);

describe.each(['duckdb', 'clickhouse'])('%s', (name) => {
  const ask = (context: { skip(note: string): void }, table: keyof typeof TABLES, by?: string) => {
    const store = opened.get(name);
    if (store === undefined)
      context.skip('expected chdb of PyPI in .cache/chdb, .venv or python3, got none');
    const asking = { store: store as AnalysisStore, actions };
    return TABLES[table](asking, FILTER, { ...WANTED, ...(by !== undefined && { by }) });
  };

  it('gives the bids of clicks by value, and the paces', async (context) => {
    const page = await ask(context, 'spend');
    const byValue = Map.groupBy(pairs, ({ recall, itemId }) =>
      String(attributeOf(itemId, recall.sequence, 'category')),
    );
    expect(page.rows.length, `seed ${SEED}`).toBe(byValue.size);
    for (const [value, own] of byValue) {
      const clicked = own.filter(({ click }) => click);
      const prices = clicked.map(({ recall, itemId }) =>
        Number(attributeOf(itemId, recall.sequence, 'price')),
      );
      const paced = PACES.filter((one) => one.attribute === 'category' && one.value === value);
      expect(page.rows.find((row) => row.value === value)).toEqual({
        value,
        impressions: own.filter(({ impression }) => impression).length,
        clicks: clicked.length,
        spend: expect.closeTo(sum(prices), 9),
        perClick: expect.closeTo(sum(prices) / clicked.length, 9),
        pace: paced.at(-1)?.pace ?? null,
        lowestPace: paced.length === 0 ? null : Math.min(...paced.map(({ pace }) => pace)),
        paceChanges: paced.length,
      });
    }
    expect(figure(page, 'Clicks')).toBe(pairs.filter(({ click }) => click).length);
    expect(figure(page, 'Paced now')).toBe(1);
    const bySet = await ask(context, 'spend', 'geo');
    const inRows = sum(bySet.rows.map(({ clicks }) => Number(clicks)));
    expect(inRows).toBeGreaterThan(Number(figure(page, 'Clicks')));
    expect(figure(bySet, 'Clicks')).toBe(figure(page, 'Clicks'));
    expect(figure(bySet, 'Spend')).toBeCloseTo(Number(figure(page, 'Spend')), 9);
  }, 120_000);

  it('gives the first day of ads that began in the span', async (context) => {
    const page = await ask(context, 'arrivals');
    const first = new Map(facts.versions.toReversed().map((one) => [one.itemId, one]));
    const born = [...first.values()].filter(
      ({ fromSeq, fromMs }) => fromSeq > 10 && fromMs >= FILTER.fromMs && fromMs < FILTER.toMs,
    );
    expect(born.length, `seed ${SEED}`).toBeGreaterThan(3);
    expect(page.rows.map(({ item }) => item).sort()).toEqual(
      born.map(({ itemId }) => itemId).sort(),
    );
    const impressions = pairs.filter(({ impression }) => impression);
    for (const { itemId, fromMs, title } of born) {
      const own = impressions.filter((pair) => pair.itemId === itemId);
      const times = own.map(({ recall }) => recall.timeMs);
      const hours = Math.max(0, Math.min(...times) - fromMs) / HOUR_MS;
      expect(page.rows.find(({ item }) => item === itemId)).toEqual({
        item: itemId,
        title,
        bornMs: fromMs,
        hours: own.length === 0 ? null : expect.closeTo(hours, 9),
        impressions: own.length,
        clicks: pairs.filter((pair) => pair.itemId === itemId && pair.click).length,
        share: own.length / impressions.length,
      });
    }
    const waits = page.rows.flatMap(({ hours }) => (hours === null ? [] : [Number(hours)]));
    expect(figure(page, 'Until the first impression')).toBeCloseTo(lowerMedian(waits) ?? -1, 9);
    expect(figure(page, 'Shown so far')).toBe(waits.length);
  }, 120_000);

  it('gives drawn places beside fixed ones of their positions', async (context) => {
    const page = await ask(context, 'exploration');
    const isDrawn = (pair: (typeof pairs)[number]) =>
      explorationOf(pair.recall).explored[pair.recall.itemIds.indexOf(pair.itemId)] === true;
    expect(page.rows.length, `seed ${SEED}`).toBeGreaterThan(2);
    let lost = 0;
    for (const row of page.rows) {
      const of = (drawn: boolean) => {
        const own = pairs.filter(
          (pair) => pair.position === row.position && isDrawn(pair) === drawn,
        );
        return rateOf(own.filter(({ click }) => click).length, own.length);
      };
      const [fixed, drawn] = [of(false), of(true)];
      const told = (rate: typeof fixed, value: number) => (rate.trials === 0 ? null : value);
      expect(row).toEqual({
        position: row.position,
        fixedShown: fixed.trials,
        fixedClicks: fixed.successes,
        fixed: told(fixed, fixed.rate),
        fixedLow: told(fixed, fixed.low),
        fixedHigh: told(fixed, fixed.high),
        drawnShown: drawn.trials,
        drawnClicks: drawn.successes,
        drawn: told(drawn, drawn.rate),
        drawnLow: told(drawn, drawn.low),
        drawnHigh: told(drawn, drawn.high),
      });
      if (fixed.trials > 0) lost += drawn.trials * fixed.rate - drawn.successes;
    }
    expect(figure(page, 'Clicks that they cost')).toBeCloseTo(lost, 9);
    const places = answered.flatMap((recall) =>
      recall.itemIds.map((itemId, at) => [itemId, explorationOf(recall).explored[at]] as const),
    );
    expect(figure(page, 'Drawn places')).toBe(places.filter(([, drawn]) => drawn).length);
    const fixedItems = new Set(places.filter(([, drawn]) => !drawn).map(([itemId]) => itemId));
    const alone = new Set(places.map(([itemId]) => itemId).filter((id) => !fixedItems.has(id)));
    expect(figure(page, 'Ads that only they had')).toBe(alone.size);
  }, 120_000);

  it('gives what heads predicted beside what users did', async (context) => {
    const judged = pairs.flatMap(({ recall, itemId, click }) => {
      const heads = rankingOf(recall).item_heads[recall.itemIds.indexOf(itemId)];
      const value = String(attributeOf(itemId, recall.sequence, 'category'));
      const order = `${recall.recallId} ${itemId}`;
      return heads === undefined ? [] : [{ predicted: heads.click, click, value, order }];
    });
    const expected = (own: typeof judged, part: string): TableRow => {
      const rate = rateOf(own.filter(({ click }) => click).length, own.length);
      const predicted = sum(own.map((one) => one.predicted)) / own.length;
      return {
        head: 'click',
        part,
        shown: own.length,
        predicted: expect.closeTo(predicted, 6),
        observed: rate.rate,
        observedLow: rate.low,
        observedHigh: rate.high,
        excess: expect.closeTo(predicted - rate.rate, 6),
      };
    };
    const byValue = await ask(context, 'calibration');
    const groups = [...Map.groupBy(judged, ({ value }) => value)].sort(([a], [b]) =>
      a < b ? -1 : 1,
    );
    expect(byValue.rows, `seed ${SEED}`).toEqual(groups.map(([part, own]) => expected(own, part)));
    const tenths = await ask(context, 'calibration', '');
    judged.sort((a, b) => a.predicted - b.predicted || (a.order < b.order ? -1 : 1));
    const parts = Map.groupBy(judged, (one) =>
      Math.floor((judged.indexOf(one) * 10) / judged.length),
    );
    expect(tenths.rows).toEqual(
      [...parts].map(([part, own]) => expected(own, String(part + 1).padStart(2, '0'))),
    );
  }, 120_000);

  it('gives who lost by a bid, and the bids that would have brought them in', async (context) => {
    const priced = answered.filter((recall) => pricesOf(recall).critical_bids.length > 0);
    const lost = priced.flatMap((recall) => {
      const { runner_up: itemId, runner_up_bid: price } = pricesOf(recall);
      const loser = { itemId, price: Number(price), sequence: recall.sequence };
      return hand.versionAt(itemId, recall.sequence) === undefined ? [] : [loser];
    });
    const won = priced.flatMap((recall) =>
      recall.itemIds.flatMap((itemId, at) => {
        const price = pricesOf(recall).critical_bids[at];
        return price === null || price === undefined
          ? []
          : [{ itemId, price, sequence: recall.sequence }];
      }),
    );
    for (const by of ['category', 'item']) {
      const page = await ask(context, 'bids', by);
      const keyOf = ({ itemId, sequence }: (typeof lost)[number]) =>
        by === 'item' ? itemId : String(attributeOf(itemId, sequence, 'category'));
      const own = (side: typeof lost, key: unknown) => side.filter((one) => keyOf(one) === key);
      const bidOf = ({ itemId, sequence }: (typeof lost)[number]) =>
        Number(attributeOf(itemId, sequence, 'price'));
      expect(new Set(page.rows.map(({ value }) => value)), `seed ${SEED}`).toEqual(
        new Set([...lost, ...won].map(keyOf)),
      );
      for (const { title: _, ...row } of page.rows) {
        const [losers, winners] = [own(lost, row.value), own(won, row.value)];
        expect(row).toEqual({
          value: row.value,
          lost: losers.length,
          ads: new Set(losers.map(({ itemId }) => itemId)).size,
          lostBid: lowerMedian(losers.map(bidOf)),
          neededBid: lowerMedian(losers.map(({ price }) => price)),
          won: winners.length,
          wonBid: lowerMedian(winners.map(bidOf)),
          critical: lowerMedian(winners.map(({ price }) => price)),
        });
      }
      expect(figure(page, 'Recalls with prices')).toBe(priced.length);
    }
  }, 120_000);
});
