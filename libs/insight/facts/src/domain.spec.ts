import { expect, it } from 'vitest';
import {
  beginOf,
  countedFiles,
  mergeable,
  mergeableSoon,
  minuteBehindMerged,
  newestStamp,
} from './domain/fact-files.js';
import { parseOutcomes } from './domain/outcome-rules.js';
import { predicateIdOf, recallFact } from './domain/recall-facts.js';

const file = (stamp: string) => `${stamp}.n.parquet`;

it('counts each fact in one file, whatever merging left behind', () => {
  const files = ['20261125', '20261125T10', '20261126T10', '20261126T1059', '20261126T1100-2'];
  expect(countedFiles(files.map(file))).toEqual(
    ['20261125', '20261126T10', '20261126T1100-2'].map(file),
  );
  expect(newestStamp(['a/20261126T1100-9.n.parquet', 'a/20261126T1100-10.n.parquet'])).toBe(
    '20261126T1100-10',
  );
  expect(beginOf('20261126T1130-2')).toBe(Date.UTC(2026, 10, 26, 11, 30));
});

it('merges hours and days that are over, a day when all its hours are merged', () => {
  const now = Date.UTC(2026, 10, 26, 11, 30);
  const files = [
    '20261125T22',
    '20261125T2301',
    '20261126T1001',
    '20261126T1002-1',
    '20261126T1103',
  ];
  expect([...mergeable(files.map(file), now).keys()]).toEqual(['20261125T23', '20261126T10']);
  const hours = ['20261125T22', '20261125T23', '20261126T10'].map(file);
  expect([...mergeable(hours, now)]).toEqual([['20261125', hours.slice(0, 2)]]);
});

it('merges ten minutes of many files before their hour is over, and counts them once', () => {
  const now = Date.UTC(2026, 10, 26, 11, 30, 1);
  const many = Array.from({ length: 25 }, (_, at) => file(`20261126T112${at % 10}-${at}`));
  const others = ['20261126T1110', '20261126T1130', '20261126T1131-1'].map(file);
  const [[into, parts = []] = []] = [...mergeableSoon([...many, ...others], now)];
  expect([into, [...parts].sort()]).toEqual(['20261126T112', [...many].sort()]);
  expect(mergeableSoon(others, now).size).toBe(0);
  const merged = file('20261126T112');
  expect(countedFiles([...many, ...others, merged])).toEqual([
    others[0],
    merged,
    ...others.slice(1),
  ]);
  expect(minuteBehindMerged([merged])).toBe('20261126T1130');
  expect(beginOf('20261126T112')).toBe(Date.UTC(2026, 10, 26, 11, 20));
  const later = Date.UTC(2026, 10, 26, 12);
  expect([...mergeableSoon([merged, ...others], later).keys()]).toEqual(['20261126T11']);
});

const clause = (kind: string, members: object) =>
  Object.assign(
    { kind, attribute: '', values: [], min: -Infinity, max: Infinity, clauses: [] },
    members,
  ) as never;

it('names a predicate by what it means, not by its order or by lists of the user', () => {
  const [a, b] = ['de', 'at'].map((value) => clause('in', { attribute: 'geo', values: [value] }));
  const all = (clauses: unknown[]) => clause('all', { clauses });
  const of = (predicate: never, denied: string[] = []) =>
    predicateIdOf({ predicate, denied, seen: [] } as never);
  expect(of(all([a, b]))).toBe(of(all([b, a]), ['x']));
  expect(of(all([a, b]))).toMatch(/^[0-9a-f]{16}$/);
  expect(of(all([a]))).not.toBe(of(all([b])));
  expect(predicateIdOf(undefined)).toBe('');
});

it('reads the rules of outcomes, and refuses others by name', () => {
  expect(
    parseOutcomes('window=30m; impression=view,impression; conversion=order', 'click, play'),
  ).toEqual({
    clicks: ['', 'click', 'play'],
    windowMs: 1_800_000,
    impressions: ['view', 'impression'],
    conversions: ['order'],
  });
  for (const wrong of ['', 'window=30; impression=a; conversion=b', 'window=30m; impression=a']) {
    expect(() => parseOutcomes(wrong, 'click')).toThrow(/inspection\.outcomes/);
  }
});

it('keeps values, heads and propensities of items in the order of their ranks', () => {
  const versions = { model: 'm', adapter: '', adapterName: '', catalogueSequence: 1 };
  const item = { itemId: 'a', score: -1, explored: false, propensity: 1 };
  const value = { value: 0.5, terms: { bid: 1.5 }, pace: 1 };
  const rowOf = (members: object) => {
    const base = { versions, timings: {}, kv: { tokensByTier: {} }, widthsUsed: [] };
    const outcome = Object.assign(base, members) as never;
    const request = { requestId: '', scene: {} } as never;
    return recallFact({ timeMs: 1, edge: 'grpc', request, outcome }, 'r', 'n');
  };
  const exploration = {
    slots: 1,
    temperature: 1.5,
    seed: Number.MAX_SAFE_INTEGER,
    noPropensities: '',
  };
  const rankingOf = (click: number, recallRank: number) => ({ heads: { click }, recallRank });
  const drawn = { itemId: 'b', score: -2, explored: true, propensity: 0.25, value };
  const items = [
    Object.assign({ value, ranking: Object.assign(rankingOf(0.5, 7), { value }) }, item),
    Object.assign({ ranking: rankingOf(0.25, 2) }, drawn),
  ];
  const ranking = {
    adapter: 'd1',
    adapterName: 'ranking',
    items: 50,
    leftOut: 3,
    heads: ['click'],
    valuation: { name: 'worth' },
  };
  expect(rowOf({ items, exploration, ranking, valuation: { name: 'ecpm' } })).toMatchObject({
    valuation: 'ecpm',
    item_values: [0.5, 0.5],
    item_terms: [{ bid: 1.5 }, { bid: 1.5 }],
    explore_slots: 1,
    explore_temperature: 1.5,
    explore_seed: '9007199254740991',
    explored: [false, true],
    propensities: [1, 0.25],
    no_propensities: '',
    rank_adapter: 'd1',
    rank_adapter_name: 'ranking',
    rank_valuation: 'worth',
    ranked_items: 50,
    rank_left_out: 3,
    item_heads: [{ click: 0.5 }, { click: 0.25 }],
    // The ranking's valuation excludes the drawn one.
    rank_values: [0.5, null],
    recall_ranks: [7, 2],
  });
  const priced = { name: 'ecpm', noPrices: '', bestLeftOut: -3.5 };
  const winner = Object.assign({}, item, { value: Object.assign({ criticalBid: 2 }, value) });
  const runnerUp = { item: 'c', bid: 1.25 };
  expect(rowOf({ items: [winner, drawn], valuation: priced, runnerUp })).toMatchObject({
    critical_bids: [2, null],
    unpriced: '',
    runner_up: 'c',
    runner_up_value: -3.5,
    runner_up_bid: 1.25,
  });
  const stopped = { name: 'ecpm', noPrices: 'stopped' };
  expect(rowOf({ items: [item], valuation: stopped })).toMatchObject({
    critical_bids: [],
    unpriced: 'stopped',
    runner_up: '',
    runner_up_value: null,
    runner_up_bid: null,
  });
  // One without a propensity: none of the answer says anything.
  const unknown = Object.assign({}, exploration, { noPropensities: 'capped' });
  const capped = [item, Object.assign({}, drawn, { propensity: undefined })];
  expect(rowOf({ items: capped, exploration: unknown })).toMatchObject({
    propensities: [],
    no_propensities: 'capped',
  });
  expect(rowOf({ items: [{ itemId: 'a', score: 0 }] })).toMatchObject({
    valuation: '',
    item_values: [],
    explore_slots: 0,
    explored: [],
    propensities: [],
    rank_adapter: '',
    ranked_items: 0,
    item_heads: [],
    rank_values: [],
    recall_ranks: [],
  });
});
