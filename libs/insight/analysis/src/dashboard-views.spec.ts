/**
 * Views that dashboards read from ClickHouse, against the same figures computed by hand, and each
 * statement of the dashboards.
 */

import { temporaryFolder } from '@tessera/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AnalysisStore, Row } from './domain/analysis-store.js';
import type { AnalysisFilter } from './domain/filter.js';
import { chdbOver } from './fixture/chdb-facts.js';
import { chartStatement, charts, datasets, grafanaStatements } from './fixture/dashboard-files.js';
import { explorationOf, rankingOf, writeFacts } from './fixture/fact-files.js';
import { FiguresByHand } from './fixture/figures-by-hand.js';
import { generatedFacts, HOUR_MS } from './fixture/generated-facts.js';

const SEED = 47;
const DAY_MS = 24 * HOUR_MS;
const facts = generatedFacts(SEED);
const hand = new FiguresByHand(facts);
const folder = temporaryFolder({});
const dayMs = Math.floor(facts.beginMs / DAY_MS) * DAY_MS;
const DAY: AnalysisFilter = {
  fromMs: dayMs,
  toMs: dayMs + DAY_MS,
  catalogue: '',
  source: 'served',
  scenes: [],
  attributes: [],
};
let store: (AnalysisStore & { close(): void }) | undefined;

beforeAll(async () => {
  await writeFacts(facts, folder.path);
  store = await chdbOver(folder.path);
  const at = `fromUnixTimestamp64Milli(toInt64(${facts.beginMs}), 'UTC')`;
  await store?.rows([
    `INSERT INTO change (time, catalogue, seq, source, op, item_id) ` +
      `SELECT ${at}, '', 12, 'import', 'upsert', 'item-1'`,
    `INSERT INTO version SELECT ${at}, 'adapter', 'aaa', 'summer', 'active', ''`,
  ]);
}, 240_000);

afterAll(() => {
  store?.close();
  folder.remove();
});

async function rows(context: { skip(note: string): void }, sql: string): Promise<readonly Row[]> {
  if (store === undefined) {
    context.skip('expected chdb of PyPI in .cache/chdb, .venv or python3, got none');
  }
  const [found = []] = (await store?.rows([sql])) ?? [];
  return found;
}

it('give coverage and Gini of a day', async (context) => {
  const found = await rows(context, 'SELECT * FROM coverage_day');
  const { coverage, gini } = hand.exposure(DAY);
  expect(found.length, `seed ${SEED}`).toBe(1);
  expect(found[0]?.live_items).toBe(hand.live(DAY).size);
  expect(found[0]?.coverage).toBeCloseTo(coverage, 12);
  expect(found[0]?.gini).toBeCloseTo(gini, 12);
}, 120_000);

it('give each item its propensity, its heads and its place in the recall', async (context) => {
  const found = await rows(
    context,
    'SELECT recall_id, rank, propensity, rank_adapter, heads, recall_rank FROM recalled_item',
  );
  const recalls = new Map(facts.recalls.map((recall) => [recall.recallId, recall]));
  expect(new Set(found.map((row) => row.rank_adapter))).toEqual(new Set(['', 'heads']));
  for (const { recall_id, rank, propensity, ...row } of found) {
    const recall = recalls.get(String(recall_id));
    if (recall === undefined) throw new Error(`seed ${SEED}: no recall ${recall_id}`);
    const at = Number(rank) - 1;
    const { rank_adapter, item_heads, recall_ranks } = rankingOf(recall);
    expect(propensity).toBeCloseTo(explorationOf(recall).propensities[at] ?? 0, 6);
    expect(row).toEqual({
      rank_adapter,
      heads: item_heads[at] === undefined ? {} : { click: expect.closeTo(1 / (at + 2), 6) },
      recall_rank: recall_ranks[at] ?? 0,
    });
  }
}, 120_000);

it('give outcomes by version and position', async (context) => {
  const found = await rows(
    context,
    'SELECT adapter, position, sum(shown) AS shown, sum(impression) AS impressions, ' +
      'sum(click) AS clicks, sum(conversion) AS conversions FROM outcome ' +
      "WHERE edge <> 'console' GROUP BY adapter, position HAVING shown > 0",
  );
  const pairs = hand.pairs(DAY);
  expect(found.length).toBe(
    new Set(pairs.map(({ recall, position }) => `${recall.adapter} ${position}`)).size,
  );
  for (const row of found) {
    const own = pairs.filter(
      ({ recall, position }) => recall.adapter === row.adapter && position === row.position,
    );
    const of = (name: 'impression' | 'click' | 'conversion') =>
      own.filter((pair) => pair[name]).length;
    expect([row.shown, row.impressions, row.clicks, row.conversions], `seed ${SEED}`).toEqual([
      own.length,
      of('impression'),
      of('click'),
      of('conversion'),
    ]);
  }
}, 120_000);

it('give each item of an answer with its attributes as they were', async (context) => {
  const found = await rows(
    context,
    'SELECT category, uniqExact(recall_id) AS recalls FROM recalled_item ' +
      "WHERE edge <> 'console' GROUP BY category",
  );
  const reach = new Map(found.map(({ category, recalls }) => [String(category), recalls]));
  expect(Object.fromEntries([...reach].sort()), `seed ${SEED}`).toEqual(
    Object.fromEntries([...hand.recallsByValue(DAY, 'category')].sort()),
  );
}, 120_000);

it.for(datasets())(
  'have the columns of $table_name of Superset',
  { timeout: 120_000 },
  async (dataset, context) => {
    const found = await rows(context, `DESCRIBE TABLE ${dataset.table_name}`);
    const names = new Set(found.map(({ name }) => name));
    for (const { column_name: name } of dataset.columns) expect(names).toContain(name);
  },
);

it.for(charts())(
  'answer the chart $slice_name of Superset',
  { timeout: 120_000 },
  async (chart, context) => {
    const found = await rows(context, chartStatement(chart));
    expect(found.length).toBeGreaterThan(0);
  },
);

const CHOSEN: Readonly<Record<string, string>> = {
  node: "'n'",
  model: "'m','(none)'",
  adapter: "'aaa','bbb','(base)'",
};

/** As the plugin of Grafana writes them; each variable has every value. */
const withoutMacros = (sql: string) =>
  sql
    .replaceAll(/\$__timeFilter_ms\((\w+)\)/g, '$1 > toDateTime64(0, 3)')
    .replaceAll(
      /\$__timeInterval\((\w+)\)/g,
      'toStartOfInterval(toDateTime($1), INTERVAL 60 second)',
    )
    .replaceAll(/\$\{(\w+):singlequote\}/g, (_all, name: string) => CHOSEN[name] ?? '');

it.for(grafanaStatements())(
  'answer %s of Grafana',
  { timeout: 120_000 },
  async ([, sql], context) => {
    const asked = withoutMacros(sql);
    expect(asked).not.toContain('$');
    const found = await rows(context, asked);
    expect(found.length).toBeGreaterThan(0);
  },
);
