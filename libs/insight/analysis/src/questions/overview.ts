import type { Row } from '../domain/analysis-store.js';
import type { OverviewFigures, OverviewPage } from '../domain/answers.js';
import { type Buckets, beginsOf, bucketsOf, wholeSpan } from '../domain/buckets.js';
import type { Dialect } from '../domain/dialect.js';
import { type AnalysisFilter, spanBefore } from '../domain/filter.js';
import { outcomePairs } from '../domain/outcomes.js';
import { bucketOf, exposures, liveItems, overlapOf, recallsOf } from '../domain/relations.js';
import { giniOf, rateOf } from '../domain/statistics.js';
import { marksOf, marksStatements } from './marks.js';
import { type Asking, answeredOf, numberOf, panelsOf, textOf } from './question.js';

interface Spans {
  readonly filter: AnalysisFilter;
  readonly before: AnalysisFilter;
  readonly buckets: Buckets;
}

/**
 * Rows of all statements have a `time_ms`: the begin of a bucket, or one of these, for whole spans.
 * An overlap is that with the row whose `time_ms` is one less, or one bucket.
 */
const NOW = -1;
const BEFORE = -2;
const FIRST_SPAN = -3;
const NO_BUCKET = -9;
/** Actions that are looked at for one that is a click; with as many nothing is said. */
const ACTIONS_MAX = 1000;

const both = ({ before }: Spans, filter: AnalysisFilter) => ({ ...filter, fromMs: before.fromMs });

/** The `time_ms` of a recall of either span. */
function timeOfBoth({ filter, buckets }: Spans, dialect: Dialect): string {
  const isBefore = `time < ${dialect.time(filter.fromMs)}`;
  return `CASE WHEN ${isBefore} THEN ${BEFORE} ELSE ${bucketOf('time', buckets, dialect)} END`;
}

/** Recalls by code, and of the answered ones those of users; users of all under the code OK. */
function recallsStatement(spans: Spans, dialect: Dialect): string {
  const { number } = dialect;
  const recalls = recallsOf(both(spans, spans.filter), dialect);
  const timed = `${timeOfBoth(spans, dialect)} AS time_ms`;
  const asked =
    `SELECT ${timed}, user_hash, sum(CASE WHEN code = 'OK' THEN 1 ELSE 0 END) AS answered ` +
    `FROM (${recalls}) AS r GROUP BY time_ms, user_hash`;
  const ofUsers = (value: string) =>
    number(`sum(CASE WHEN user_hash <> 0 THEN ${value} ELSE 0 END)`);
  const none = (name: string) => `${number('0')} AS ${name}`;
  return (
    `WITH asked AS (${asked}) ` +
    `SELECT time_ms, 'OK' AS code, ${number('sum(answered)')} AS recalls, ` +
    `${ofUsers('answered')} AS of_users, ${ofUsers('1')} AS users FROM asked GROUP BY time_ms ` +
    `UNION ALL SELECT ${timed}, code, ${number('count(*)')} AS recalls, ${none('of_users')}, ` +
    `${none('users')} FROM (${recalls} AND code <> 'OK') AS r GROUP BY time_ms, code ` +
    `UNION ALL SELECT ${NOW} AS time_ms, 'OK' AS code, ${none('recalls')}, ${none('of_users')}, ` +
    `${number('count(DISTINCT user_hash)')} AS users FROM (SELECT user_hash FROM asked ` +
    `WHERE user_hash <> 0 AND time_ms <> ${BEFORE}) AS later`
  );
}

function outcomesStatement({ store, actions }: Asking, spans: Spans, panel: AnalysisFilter) {
  const { dialect } = store;
  const pairs = outcomePairs(both(spans, panel), actions, dialect);
  return (
    `SELECT ${timeOfBoth(spans, dialect)} AS time_ms, ` +
    `${dialect.number('count(*)')} AS pairs, ` +
    `${dialect.number('sum(impression)')} AS impressions, ` +
    `${dialect.number('sum(click)')} AS clicks FROM (${pairs}) AS pairs GROUP BY time_ms`
  );
}

function actionsStatement({ filter }: Spans, dialect: Dialect): string {
  const { fromMs, toMs } = filter;
  return (
    'SELECT DISTINCT action FROM behaviour ' +
    `WHERE time >= ${dialect.time(fromMs)} AND time < ${dialect.time(toMs)} ` +
    `ORDER BY action LIMIT ${ACTIONS_MAX}`
  );
}

/** Recalled items of the panel, which count as shown in a span without any impression. */
function listedStatement(spans: Spans, panel: AnalysisFilter, dialect: Dialect): string {
  const listed = dialect.number(`sum(${dialect.length('item_ids')})`);
  return (
    `SELECT ${timeOfBoth(spans, dialect)} AS time_ms, ${listed} AS items ` +
    `FROM (${recallsOf(both(spans, panel), dialect)}) AS r GROUP BY time_ms`
  );
}

/** Sums from which coverage and Gini follow, of items that are live at the end of a span. */
async function exposureStatement({ store }: Asking, { filter, before, buckets }: Spans) {
  const { dialect } = store;
  const { number } = dialect;
  const sources = await store.hours();
  const shown = (span: AnalysisFilter, parts: Buckets, time: string) =>
    `SELECT e.time_ms AS time_ms, e.item_id AS item_id, e.n AS n FROM ` +
    `(SELECT ${time} AS time_ms, item_id, sum(n) AS n ` +
    `FROM (${exposures(span, parts, sources, dialect)}) AS exposed ` +
    `GROUP BY time_ms, item_id) AS e JOIN (${liveItems(span, dialect)}) AS l ` +
    'ON l.item_id = e.item_id';
  const every =
    `SELECT time_ms, n FROM shown UNION ALL SELECT ${NOW} AS time_ms, sum(n) AS n FROM shown ` +
    `GROUP BY item_id UNION ALL SELECT time_ms, n ` +
    `FROM (${shown(before, wholeSpan(before), String(BEFORE))}) AS earlier`;
  const alike = 'SELECT time_ms, n, count(*) AS items FROM every_item GROUP BY time_ms, n';
  const placed =
    'SELECT time_ms, n, items, sum(items) OVER (PARTITION BY time_ms ORDER BY n) AS place ' +
    `FROM (${alike}) AS alike`;
  // Those that had as many recalls have the places up to that of the last of them.
  return (
    `WITH shown AS (${shown(filter, buckets, 'time_ms')}), every_item AS (${every}) ` +
    `SELECT time_ms, ${number('sum(items)')} AS covered, ${number('sum(n * items)')} AS total, ` +
    `${number('sum(n * (items * place - items * (items - 1) / 2))')} AS ranked ` +
    `FROM (${placed}) AS placed GROUP BY time_ms`
  );
}

function liveStatement({ filter, before }: Spans, dialect: Dialect): string {
  const live = (timeMs: number, span: AnalysisFilter) =>
    `SELECT ${timeMs} AS time_ms, ${dialect.number('count(*)')} AS live ` +
    `FROM (${liveItems(span, dialect)}) AS live_item`;
  return `${live(NOW, filter)} UNION ALL ${live(BEFORE, before)}`;
}

/** Statement of users in a span or bucket and in the one before it, which may begin earlier. */
function overlapStatement(
  { filter, before, buckets }: Spans,
  panel: AnalysisFilter,
  dialect: Dialect,
) {
  const { beginMs, lengthMs } = buckets;
  const spanMs = filter.toMs - filter.fromMs;
  const [spansMs, bucketsMs] = [before.fromMs - spanMs, beginMs - lengthMs];
  const wide = recallsOf({ ...panel, fromMs: Math.min(spansMs, bucketsMs) }, dialect);
  const since = (ms: number) => `${dialect.ms('time')} - ${ms}`;
  const part = (fromMs: number, index: string, none: number) =>
    `CASE WHEN time >= ${dialect.time(fromMs)} THEN ${index} ELSE ${none} END`;
  const span = `${dialect.quotient(since(spansMs), spanMs)} + ${FIRST_SPAN}`;
  const bucket = bucketOf('time', { beginMs: bucketsMs, lengthMs }, dialect);
  const parts = [part(spansMs, span, NO_BUCKET), part(bucketsMs, bucket, NO_BUCKET)];
  const source = `(${wide} AND code = 'OK' AND user_hash <> 0) AS r`;
  const parted = dialect.each(
    'user_hash, recall_id, item_ids',
    `[${parts.join(', ')}]`,
    'time_ms',
    source,
  );
  const newest =
    `SELECT time_ms, user_hash, ${dialect.newest('item_ids', 'recall_id')} AS item_ids ` +
    `FROM (${parted}) AS parted WHERE time_ms <> ${NO_BUCKET} GROUP BY time_ms, user_hash`;
  const { overlap, where } = overlapOf(dialect);
  return (
    `WITH newest AS (${newest}) ` +
    `SELECT a.time_ms AS time_ms, avg(${overlap}) AS overlap ` +
    `FROM newest AS a JOIN newest AS b ON a.user_hash = b.user_hash ` +
    `AND b.time_ms = a.time_ms - CASE WHEN a.time_ms < 0 THEN 1 ELSE ${lengthMs} END ` +
    `WHERE ${where} GROUP BY a.time_ms`
  );
}

interface Answers {
  readonly recalls: readonly Row[];
  readonly outcomes: readonly Row[];
  readonly exposed: readonly Row[];
  readonly overlaps: readonly Row[];
  readonly listed: readonly Row[];
}

const isAt = (timeMs: number) => (row: Row) => numberOf(row, 'time_ms') === timeMs;

const isNow = (row: Row) => !isAt(BEFORE)(row);

/**
 * @param timeMs of the rows that do not add up
 * @param isOf picks those that do
 */
function figuresOf(
  { recalls, outcomes, exposed, overlaps, listed }: Answers,
  live: number,
  timeMs: number,
  isOf = isAt(timeMs),
): OverviewFigures {
  const sum = (rows: readonly Row[], name: string) =>
    rows.filter(isOf).reduce((all, row) => all + numberOf(row, name), 0);
  const own = (rows: readonly Row[]) => rows.find(isAt(timeMs));
  const byCode = Map.groupBy(recalls, (row) => textOf(row, 'code'));
  const answered = byCode.get('OK') ?? [];
  byCode.delete('OK');
  const refused = [...byCode].map(([code, rows]) => [code, sum(rows, 'recalls')] as const);
  const one = own(exposed);
  const covered = numberOf(one, 'covered');
  const overlap = own(overlaps);
  const areSeen = sum(outcomes, 'impressions') > 0;
  const shown = areSeen ? sum(outcomes, 'pairs') : sum(listed, 'items');
  return {
    recalls: sum(recalls, 'recalls'),
    answered: sum(answered, 'recalls'),
    users: numberOf(own(answered), 'users'),
    refused: Object.fromEntries(refused.filter(([, counted]) => counted > 0)),
    coverage: live === 0 ? 0 : covered / live,
    gini: giniOf(live, covered, numberOf(one, 'total'), numberOf(one, 'ranked')),
    clickRate: rateOf(sum(outcomes, 'clicks'), shown),
    overlap: overlap === undefined ? null : numberOf(overlap, 'overlap'),
  };
}

/** Actions that were done where none of them is a click. */
function otherThanClicks({ actions: { clicks } }: Asking, done: readonly Row[]): string[] {
  const actions = done.map((row) => textOf(row, 'action'));
  const areClicks = clicks.includes('*') || actions.some((action) => clicks.includes(action));
  return areClicks || actions.length >= ACTIONS_MAX ? [] : actions;
}

/** Figures of the span, of the one before, and over time, with what was done. */
export async function overview(
  asking: Asking,
  filter: AnalysisFilter,
  count: number,
): Promise<OverviewPage> {
  const { store, signal } = asking;
  const { dialect } = store;
  const { fromMs, toMs } = filter;
  const buckets = bucketsOf(filter, count);
  const spans: Spans = { filter, before: spanBefore(filter), buckets };
  const [recalls = []] = await store.rows([recallsStatement(spans, dialect)], signal);
  const answered = recalls.filter((row) => isNow(row) && textOf(row, 'code') === 'OK');
  const { whole, overlap } = panelsOf(asking, filter, answeredOf(answered));
  const rows = await store.rows(
    [
      outcomesStatement(asking, spans, whole),
      await exposureStatement(asking, spans),
      overlapStatement(spans, overlap, dialect),
      liveStatement(spans, dialect),
      actionsStatement(spans, dialect),
      listedStatement(spans, whole, dialect),
      ...marksStatements(filter, dialect),
    ],
    signal,
  );
  const [outcomes = [], exposed = [], overlaps = [], lives = [], done = [], ...others] = rows;
  const [listed = [], ...marks] = others;
  const areSeen = outcomes.some((row) => isNow(row) && numberOf(row, 'impressions') > 0);
  const answers = { recalls, outcomes, exposed, overlaps, listed };
  const liveAt = (timeMs: number) => numberOf(lives.find(isAt(timeMs)), 'live');
  const live = liveAt(NOW);
  return {
    fromMs,
    toMs,
    bucketMs: buckets.lengthMs,
    oneIn: whole.oneIn,
    overlapOneIn: overlap.oneIn,
    liveItems: live,
    shownBy: areSeen ? 'impressions' : 'recalls',
    otherActions: otherThanClicks(asking, done),
    now: figuresOf(answers, live, NOW, isNow),
    before: figuresOf(answers, liveAt(BEFORE), BEFORE),
    series: beginsOf(buckets, toMs).map((timeMs) =>
      Object.assign({ timeMs }, figuresOf(answers, live, timeMs)),
    ),
    marks: marksOf(marks),
  };
}
