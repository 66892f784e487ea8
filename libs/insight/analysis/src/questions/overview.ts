import type { Row } from '../domain/analysis-store.js';
import type { OverviewFigures, OverviewPage } from '../domain/answers.js';
import { type Buckets, beginsOf, bucketsOf, wholeSpan } from '../domain/buckets.js';
import type { Dialect } from '../domain/dialect.js';
import { type AnalysisFilter, spanBefore } from '../domain/filter.js';
import { outcomePairs } from '../domain/outcomes.js';
import { bucketOf, exposures, liveItems, recallsOf } from '../domain/relations.js';
import { giniOf, rateOf } from '../domain/statistics.js';
import { marksOf, marksStatements } from './marks.js';
import { type Asking, numberOf, panelOf, textOf } from './question.js';

interface Parts {
  readonly filter: AnalysisFilter;
  /** The same of a panel: overlap and clicks read lists of items. */
  readonly panel: AnalysisFilter;
  readonly buckets: Buckets;
}

/** Statements whose rows, by `time_ms` of their bucket, make the figures of each bucket. */
async function statementsOf(asking: Asking, parts: Parts) {
  const { store, actions } = asking;
  const { dialect } = store;
  const { number } = dialect;
  const { filter, panel, buckets } = parts;
  const own = recallsOf(filter, dialect);
  const bucket = bucketOf('time', buckets, dialect);
  const exposed = exposures(filter, buckets, await store.hours(), dialect);
  const pairs = outcomePairs(panel, actions, dialect);
  const listed = `sum(${dialect.length('item_ids')})`;
  return [
    `SELECT ${bucket} AS time_ms, code, ${number('count(*)')} AS recalls FROM (${own}) AS r ` +
      'GROUP BY time_ms, code',
    `SELECT ${bucket} AS time_ms, ${number('count(DISTINCT user_hash)')} AS users ` +
      `FROM (${own}) AS r WHERE user_hash <> 0 GROUP BY time_ms`,
    exposureStatement(exposed, liveItems(filter, dialect), dialect),
    `SELECT ${bucket} AS time_ms, ${number('count(*)')} AS pairs, ` +
      `${number('sum(impression)')} AS impressions, ${number('sum(click)')} AS clicks ` +
      `FROM (${pairs}) AS pairs GROUP BY time_ms`,
    `SELECT ${bucket} AS time_ms, ${number(listed)} AS items ` +
      `FROM (${recallsOf(panel, dialect)}) AS r GROUP BY time_ms`,
    overlapStatement(panel, buckets, dialect),
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
  const both = dialect.common('a.item_ids', 'b.item_ids');
  const all = `${dialect.length('a.item_ids')} + ${dialect.length('b.item_ids')} - ${both}`;
  return (
    `SELECT a.time_ms AS time_ms, avg(${both} * 1.0 / (${all})) AS overlap ` +
    `FROM (${newest}) AS a JOIN (${newest}) AS b ON a.user_hash = b.user_hash ` +
    `AND b.time_ms = a.time_ms - ${lengthMs} WHERE ${all} > 0 AND a.time_ms >= ${beginMs} ` +
    `GROUP BY a.time_ms`
  );
}

const STATEMENTS = 6;

interface Answers {
  readonly rows: readonly (readonly Row[])[];
  readonly liveItems: number;
  readonly areSeen: boolean;
}

function figuresAt(timeMs: number, { rows, liveItems: live, areSeen }: Answers): OverviewFigures {
  const at = (index: number) =>
    (rows[index] ?? []).filter((row) => numberOf(row, 'time_ms') === timeMs);
  const codes = at(0).map((row) => [textOf(row, 'code'), numberOf(row, 'recalls')] as const);
  const answered = codes.find(([code]) => code === 'OK')?.[1] ?? 0;
  const [users, exposed, outcome, listed, overlap] = [1, 2, 3, 4, 5].map((index) => at(index)[0]);
  const covered = numberOf(exposed, 'covered');
  const shown = areSeen ? numberOf(outcome, 'pairs') : numberOf(listed, 'items');
  return {
    recalls: codes.reduce((sum, [, count]) => sum + count, 0),
    answered,
    users: numberOf(users, 'users'),
    refused: Object.fromEntries(codes.filter(([code]) => code !== 'OK')),
    coverage: live === 0 ? 0 : covered / live,
    gini: giniOf(live, covered, numberOf(exposed, 'total'), numberOf(exposed, 'ranked')),
    clickRate: rateOf(numberOf(outcome, 'clicks'), shown),
    overlap: overlap === undefined ? null : numberOf(overlap, 'overlap'),
  };
}

/** Figures of the span, of the one before, and over time, with what was done. */
export async function overview(
  asking: Asking,
  filter: AnalysisFilter,
  count: number,
): Promise<OverviewPage> {
  const { store, signal } = asking;
  const { fromMs, toMs } = filter;
  const panel = await panelOf(asking, filter);
  const { oneIn } = panel;
  const buckets = bucketsOf(filter, count);
  const before = spanBefore(filter);
  const countOf = (one: AnalysisFilter) =>
    `SELECT ${store.dialect.number('count(*)')} AS live FROM ` +
    `(${liveItems(one, store.dialect)}) AS live_item`;
  const statements = [
    ...(await statementsOf(asking, { filter, panel, buckets: wholeSpan(filter) })),
    ...(await statementsOf(asking, {
      filter: before,
      panel: { ...before, oneIn },
      buckets: wholeSpan(before),
    })),
    ...(await statementsOf(asking, { filter, panel, buckets })),
    ...[countOf(filter), countOf(before), ...marksStatements(filter, store.dialect)],
  ];
  const rows = await store.rows(statements, signal);
  const part = (index: number) => rows.slice(index * STATEMENTS, (index + 1) * STATEMENTS);
  const [now, earlier, series] = [part(0), part(1), part(2)];
  const [live = 0, liveBefore = 0] = rows
    .slice(3 * STATEMENTS)
    .map(([row]) => numberOf(row, 'live'));
  const areSeen = numberOf(now[3]?.[0], 'impressions') > 0;
  return {
    fromMs,
    toMs,
    bucketMs: buckets.lengthMs,
    oneIn,
    liveItems: live,
    shownBy: areSeen ? 'impressions' : 'recalls',
    now: figuresAt(fromMs, { rows: now, liveItems: live, areSeen }),
    before: figuresAt(before.fromMs, { rows: earlier, liveItems: liveBefore, areSeen }),
    series: beginsOf(buckets, toMs).map((timeMs) =>
      Object.assign({ timeMs }, figuresAt(timeMs, { rows: series, liveItems: live, areSeen })),
    ),
    marks: marksOf(rows.slice(3 * STATEMENTS + 2)),
  };
}
