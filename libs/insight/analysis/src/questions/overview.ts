import type { Row } from '../domain/analysis-store.js';
import type { OverviewFigures, OverviewPage } from '../domain/answers.js';
import { type AnalysisFilter, spanBefore } from '../domain/filter.js';
import { outcomePairs } from '../domain/outcomes.js';
import { exposures, liveItems, recallsOf } from '../domain/relations.js';
import { giniOf, rateOf } from '../domain/statistics.js';
import { marksOf, marksStatements } from './marks.js';
import { type Asking, bucketOf, bucketsOf, numberOf, textOf } from './question.js';

/** Statements whose rows, by `time_ms` of their bucket, make the figures of each bucket. */
async function statementsOf(asking: Asking, filter: AnalysisFilter, bucketMs: number) {
  const { store, actions } = asking;
  const { dialect } = store;
  const { number } = dialect;
  const { fromMs, toMs } = filter;
  // Overlap looks at the bucket before as well.
  const wide = recallsOf({ ...filter, fromMs: fromMs - bucketMs }, dialect);
  const own = recallsOf(filter, dialect);
  const bucket = (origin: number) => {
    const since = `${dialect.ms('time')} - ${origin}`;
    return `${dialect.quotient(since, bucketMs)} * ${bucketMs} + ${origin}`;
  };
  const live = liveItems(filter, dialect);
  const exposed = exposures(filter, bucketMs, await store.hours(), dialect);
  const counts =
    'SELECT time_ms, item_id, sum(n) AS n FROM ' +
    `(SELECT e.time_ms AS time_ms, e.item_id AS item_id, e.n AS n FROM (${exposed}) AS e ` +
    `JOIN (${live}) AS l ON l.item_id = e.item_id) AS exposed GROUP BY time_ms, item_id`;
  const placed =
    'SELECT time_ms, n, row_number() OVER (PARTITION BY time_ms ORDER BY n, item_id) AS place ' +
    `FROM (${counts}) AS counts`;
  const newest =
    `SELECT ${bucket(fromMs - bucketMs)} AS time_ms, user_hash, ` +
    `${dialect.newest('item_ids', 'recall_id')} AS item_ids FROM (${wide}) AS r ` +
    `WHERE code = 'OK' AND user_hash <> 0 GROUP BY time_ms, user_hash`;
  const both = dialect.common('a.item_ids', 'b.item_ids');
  const all = `${dialect.length('a.item_ids')} + ${dialect.length('b.item_ids')} - ${both}`;
  const pairs = outcomePairs(filter, actions, dialect);
  return [
    `SELECT ${bucket(fromMs)} AS time_ms, code, ${number('count(*)')} AS recalls, ` +
      `${number(`sum(${dialect.length('item_ids')})`)} AS items FROM (${own}) AS r ` +
      'GROUP BY time_ms, code',
    `SELECT ${bucket(fromMs)} AS time_ms, ${number('count(DISTINCT user_hash)')} AS users ` +
      `FROM (${own}) AS r WHERE user_hash <> 0 GROUP BY time_ms`,
    `SELECT time_ms, ${number('count(*)')} AS covered, ${number('sum(n)')} AS total, ` +
      `${number('sum(n * place)')} AS ranked FROM (${placed}) AS placed GROUP BY time_ms`,
    `SELECT ${bucket(fromMs)} AS time_ms, ${number('count(*)')} AS pairs, ` +
      `${number('sum(impression)')} AS impressions, ${number('sum(click)')} AS clicks ` +
      `FROM (${pairs}) AS pairs GROUP BY time_ms`,
    `SELECT a.time_ms AS time_ms, avg(${both} * 1.0 / (${all})) AS overlap ` +
      `FROM (${newest}) AS a JOIN (${newest}) AS b ON a.user_hash = b.user_hash ` +
      `AND b.time_ms = a.time_ms - ${bucketMs} WHERE ${all} > 0 AND a.time_ms >= ${fromMs} ` +
      `AND a.time_ms < ${toMs} GROUP BY a.time_ms`,
  ];
}

const STATEMENTS = 5;

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
  const items = at(0).reduce((sum, row) => sum + numberOf(row, 'items'), 0);
  const [users, exposed, outcome, overlap] = [1, 2, 3, 4].map((index) => at(index)[0]);
  const covered = numberOf(exposed, 'covered');
  const shown = areSeen ? numberOf(outcome, 'pairs') : items;
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
  buckets: number,
): Promise<OverviewPage> {
  const { store, signal } = asking;
  const { fromMs, toMs } = filter;
  const bucketMs = bucketOf(fromMs, toMs, buckets);
  const before = spanBefore(filter);
  const countOf = (one: AnalysisFilter) =>
    `SELECT ${store.dialect.number('count(*)')} AS live FROM ` +
    `(${liveItems(one, store.dialect)}) AS live_item`;
  const statements = [
    ...(await statementsOf(asking, filter, toMs - fromMs)),
    ...(await statementsOf(asking, before, toMs - fromMs)),
    ...(await statementsOf(asking, filter, bucketMs)),
    ...[countOf(filter), countOf(before), ...marksStatements(filter, store.dialect)],
  ];
  const rows = await store.rows(statements, signal);
  const part = (index: number) => rows.slice(index * STATEMENTS, (index + 1) * STATEMENTS);
  const [now, earlier, series] = [part(0), part(1), part(2)];
  const [live = 0, liveBefore = 0] = rows
    .slice(3 * STATEMENTS)
    .map(([row]) => numberOf(row, 'live'));
  const areSeen = numberOf(now[3]?.[0], 'impressions') > 0;
  const spans = bucketsOf(fromMs, toMs, bucketMs);
  return {
    fromMs,
    toMs,
    bucketMs,
    liveItems: live,
    shownBy: areSeen ? 'impressions' : 'recalls',
    now: figuresAt(fromMs, { rows: now, liveItems: live, areSeen }),
    before: figuresAt(before.fromMs, { rows: earlier, liveItems: liveBefore, areSeen }),
    series: spans.map((timeMs) =>
      Object.assign({ timeMs }, figuresAt(timeMs, { rows: series, liveItems: live, areSeen })),
    ),
    marks: marksOf(rows.slice(3 * STATEMENTS + 2)),
  };
}
