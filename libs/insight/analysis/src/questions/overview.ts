import type { Row } from '../domain/analysis-store.js';
import type { OverviewFigures, OverviewPage } from '../domain/answers.js';
import { type Buckets, beginsOf, bucketsOf, wholeSpan } from '../domain/buckets.js';
import type { Dialect } from '../domain/dialect.js';
import { type AnalysisFilter, spanBefore } from '../domain/filter.js';
import { outcomePairs } from '../domain/outcomes.js';
import { bucketOf, exposures, liveItems, overlapOf, recallsOf } from '../domain/relations.js';
import { giniOf, rateOf } from '../domain/statistics.js';
import { marksOf, marksStatements } from './marks.js';
import { type Asking, numberOf, type Panels, panelsOf, textOf } from './question.js';

interface Spans {
  readonly filter: AnalysisFilter;
  readonly before: AnalysisFilter;
  readonly panels: Panels;
  readonly buckets: Buckets;
}

/** Statements whose rows count both spans: that before as one bucket, `time_ms` is its begin. */
function countStatements({ store, actions }: Asking, spans: Spans): string[] {
  const { dialect } = store;
  const { number } = dialect;
  const { filter, before, panels } = spans;
  const both = (one: AnalysisFilter) => ({ ...one, fromMs: before.fromMs });
  const bucket = bucketOfBoth(spans, dialect);
  const pairs = outcomePairs(both(panels.whole), actions, dialect);
  return [
    `SELECT ${bucket} AS time_ms, code, ${number('count(*)')} AS recalls ` +
      `FROM (${recallsOf(both(filter), dialect)}) AS r GROUP BY time_ms, code`,
    `SELECT ${bucket} AS time_ms, ${number('count(*)')} AS pairs, ` +
      `${number('sum(impression)')} AS impressions, ${number('sum(click)')} AS clicks ` +
      `FROM (${pairs}) AS pairs GROUP BY time_ms`,
  ];
}

/** Recalled items of the panel, which count as shown where no impression is known. */
function listedStatement(spans: Spans, dialect: Dialect): string {
  const { before, panels } = spans;
  const recalls = recallsOf({ ...panels.whole, fromMs: before.fromMs }, dialect);
  const listed = dialect.number(`sum(${dialect.length('item_ids')})`);
  return (
    `SELECT ${bucketOfBoth(spans, dialect)} AS time_ms, ${listed} AS items ` +
    `FROM (${recalls}) AS r GROUP BY time_ms`
  );
}

/** The bucket of a recall of either span: that before is one. */
function bucketOfBoth({ filter, before, buckets }: Spans, dialect: Dialect): string {
  return (
    `CASE WHEN time < ${dialect.time(filter.fromMs)} THEN ${before.fromMs} ` +
    `ELSE ${bucketOf('time', buckets, dialect)} END`
  );
}

/** Statements whose rows are figures of buckets, which do not add up. */
async function figureStatements(
  { store }: Asking,
  filter: AnalysisFilter,
  oneIn: number,
  buckets: Buckets,
): Promise<string[]> {
  const { dialect } = store;
  const exposed = exposures(filter, buckets, await store.hours(), dialect);
  return [
    `SELECT ${bucketOf('time', buckets, dialect)} AS time_ms, ` +
      `${dialect.number('count(DISTINCT user_hash)')} AS users ` +
      `FROM (${recallsOf(filter, dialect)}) AS r WHERE user_hash <> 0 GROUP BY time_ms`,
    exposureStatement(exposed, liveItems(filter, dialect), dialect),
    overlapStatement({ ...filter, oneIn }, buckets, dialect),
  ];
}

/** Sums from which coverage and Gini follow: of live items, by the place of each in its bucket. */
function exposureStatement(exposed: string, live: string, dialect: Dialect): string {
  const { number } = dialect;
  const counts =
    'SELECT time_ms, item_id, sum(n) AS n FROM ' +
    `(SELECT e.time_ms AS time_ms, e.item_id AS item_id, e.n AS n FROM (${exposed}) AS e ` +
    `JOIN (${live}) AS l ON l.item_id = e.item_id) AS exposed GROUP BY time_ms, item_id`;
  const placed =
    'SELECT time_ms, n, row_number() OVER (PARTITION BY time_ms ORDER BY n, item_id) AS place ' +
    `FROM (${counts}) AS counts`;
  return (
    `SELECT time_ms, ${number('count(*)')} AS covered, ${number('sum(n)')} AS total, ` +
    `${number('sum(n * place)')} AS ranked FROM (${placed}) AS placed GROUP BY time_ms`
  );
}

/** Of users in a bucket and in the one before it, which may begin before the span. */
function overlapStatement(panel: AnalysisFilter, { beginMs, lengthMs }: Buckets, dialect: Dialect) {
  const wide = recallsOf({ ...panel, fromMs: beginMs - lengthMs }, dialect);
  const bucket = bucketOf('time', { beginMs: beginMs - lengthMs, lengthMs }, dialect);
  const newest =
    `SELECT ${bucket} AS time_ms, user_hash, ` +
    `${dialect.newest('item_ids', 'recall_id')} AS item_ids FROM (${wide}) AS r ` +
    `WHERE code = 'OK' AND user_hash <> 0 GROUP BY time_ms, user_hash`;
  const { overlap, where } = overlapOf(dialect);
  return (
    `WITH newest AS (${newest}) ` +
    `SELECT a.time_ms AS time_ms, avg(${overlap}) AS overlap ` +
    `FROM newest AS a JOIN newest AS b ON a.user_hash = b.user_hash ` +
    `AND b.time_ms = a.time_ms - ${lengthMs} WHERE ${where} AND a.time_ms >= ${beginMs} ` +
    `GROUP BY a.time_ms`
  );
}

interface Answers {
  /** Of countStatements, and of listedStatement where no impression is known. */
  readonly counts: readonly (readonly Row[])[];
  /** Of figureStatements. */
  readonly figures: readonly (readonly Row[])[];
  readonly liveItems: number;
  readonly areSeen: boolean;
}

const isAt = (timeMs: number) => (row: Row) => numberOf(row, 'time_ms') === timeMs;

/** @param isOf picks the buckets of the counts, `timeMs` the row of the figures */
function figuresOf(
  { counts, figures, liveItems: live, areSeen }: Answers,
  isOf: (row: Row) => boolean,
  timeMs: number,
): OverviewFigures {
  const [codes = [], outcomes = [], lists = []] = counts.map((rows) => rows.filter(isOf));
  const sum = (rows: readonly Row[], name: string) =>
    rows.reduce((all, row) => all + numberOf(row, name), 0);
  const byCode = Map.groupBy(codes, (row) => textOf(row, 'code'));
  const answered = sum(byCode.get('OK') ?? [], 'recalls');
  byCode.delete('OK');
  const [users, exposed, overlap] = figures.map((rows) => rows.find(isAt(timeMs)));
  const covered = numberOf(exposed, 'covered');
  const shown = areSeen ? sum(outcomes, 'pairs') : sum(lists, 'items');
  return {
    recalls: sum(codes, 'recalls'),
    answered,
    users: numberOf(users, 'users'),
    refused: Object.fromEntries([...byCode].map(([code, rows]) => [code, sum(rows, 'recalls')])),
    coverage: live === 0 ? 0 : covered / live,
    gini: giniOf(live, covered, numberOf(exposed, 'total'), numberOf(exposed, 'ranked')),
    clickRate: rateOf(sum(outcomes, 'clicks'), shown),
    overlap: overlap === undefined ? null : numberOf(overlap, 'overlap'),
  };
}

const COUNTS = 2;
const FIGURES = 3;

/** Figures of the span, of the one before, and over time, with what was done. */
export async function overview(
  asking: Asking,
  filter: AnalysisFilter,
  count: number,
): Promise<OverviewPage> {
  const { store, signal } = asking;
  const { fromMs, toMs } = filter;
  const before = spanBefore(filter);
  const buckets = bucketsOf(filter, count);
  const panels = await panelsOf(asking, filter);
  const { oneIn } = panels.overlap;
  const spans = { filter, before, panels, buckets };
  const countOf = (one: AnalysisFilter) =>
    `SELECT ${store.dialect.number('count(*)')} AS live FROM ` +
    `(${liveItems(one, store.dialect)}) AS live_item`;
  const rows = await store.rows(
    [
      ...countStatements(asking, spans),
      ...(await figureStatements(asking, filter, oneIn, wholeSpan(filter))),
      ...(await figureStatements(asking, before, oneIn, wholeSpan(before))),
      ...(await figureStatements(asking, filter, oneIn, buckets)),
      ...[countOf(filter), countOf(before), ...marksStatements(filter, store.dialect)],
    ],
    signal,
  );
  const counts = rows.slice(0, COUNTS);
  const part = (index: number) => rows.slice(COUNTS + index * FIGURES).slice(0, FIGURES);
  const rest = rows.slice(COUNTS + 3 * FIGURES);
  const [live = 0, liveBefore = 0] = rest.map(([row]) => numberOf(row, 'live'));
  const isBefore = isAt(before.fromMs);
  const areSeen = (counts[1] ?? []).some(
    (row) => !isBefore(row) && numberOf(row, 'impressions') > 0,
  );
  const listed = areSeen ? [] : await store.rows([listedStatement(spans, store.dialect)], signal);
  const answers = (index: number, items: number): Answers => ({
    counts: [...counts, ...listed],
    figures: part(index),
    liveItems: items,
    areSeen,
  });
  return {
    fromMs,
    toMs,
    bucketMs: buckets.lengthMs,
    oneIn: panels.whole.oneIn,
    overlapOneIn: oneIn,
    liveItems: live,
    shownBy: areSeen ? 'impressions' : 'recalls',
    now: figuresOf(answers(0, live), (row) => !isBefore(row), fromMs),
    before: figuresOf(answers(1, liveBefore), isBefore, before.fromMs),
    series: beginsOf(buckets, toMs).map((timeMs) =>
      Object.assign({ timeMs }, figuresOf(answers(2, live), isAt(timeMs), timeMs)),
    ),
    marks: marksOf(rest.slice(2)),
  };
}
