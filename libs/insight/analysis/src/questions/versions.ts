import type { VersionsPage } from '../domain/answers.js';
import { wholeSpan } from '../domain/buckets.js';
import type { Dialect } from '../domain/dialect.js';
import type { AnalysisFilter } from '../domain/filter.js';
import { outcomePairs } from '../domain/outcomes.js';
import { exposures, exposuresByValue, overlapOf, recallsOf } from '../domain/relations.js';
import { outcomeRows, outcomeStatement } from './outcome-rows.js';
import { type Asking, answeredOf, numberOf, panelsOf, textOf } from './question.js';

const PARTS = 10;

/** The versions that served, beside each other. @param attribute '': no exposure */
export async function versions(
  asking: Asking,
  filter: AnalysisFilter,
  attribute: string,
): Promise<VersionsPage> {
  const { store, actions, signal } = asking;
  const { dialect } = store;
  const { number } = dialect;
  const [byArm = []] = await store.rows([armsStatement(filter, dialect)], signal);
  const { whole, overlap } = panelsOf(asking, filter, answeredOf(byArm));
  const answeredIn = (one: AnalysisFilter) =>
    `SELECT * FROM (${recallsOf(one, dialect)}) AS r WHERE code = 'OK'`;
  const newest =
    `SELECT adapter, user_hash, ${dialect.newest('item_ids', 'recall_id')} AS item_ids ` +
    `FROM (${answeredIn(overlap)}) AS panel_recall ` +
    'WHERE user_hash <> 0 GROUP BY adapter, user_hash';
  const pair = overlapOf(dialect);
  const overlaps =
    `WITH newest AS (${newest}) SELECT a.adapter AS earlier, b.adapter AS later, ` +
    `${pair.overlap} AS overlap ` +
    `FROM newest AS a JOIN newest AS b ON a.user_hash = b.user_hash ` +
    `WHERE a.adapter < b.adapter AND ${pair.where}`;
  const exposed = exposures(filter, wholeSpan(filter), await store.hours(), dialect);
  const valued = exposuresByValue(filter, attribute, exposed, dialect);
  const length = number(dialect.length('item_ids'));
  const pairs = outcomePairs(whole, actions, dialect);
  const rows = await store.rows(
    [
      `SELECT earlier, later, floor(overlap * ${PARTS}) AS part, ${number('count(*)')} AS users, ` +
        `sum(overlap) AS total FROM (${overlaps}) AS user_pair GROUP BY earlier, later, part`,
      attribute === ''
        ? 'SELECT 1 AS nothing'
        : `SELECT adapter, value, ${number('sum(n)')} AS items FROM (${valued}) AS valued ` +
          'GROUP BY adapter, value',
      `SELECT adapter, ${length} AS length, ${number('count(*)')} AS recalls ` +
        `FROM (${answeredIn(whole)}) AS panel_recall GROUP BY adapter, length`,
      outcomeStatement(pairs, dialect),
    ],
    signal,
  );
  const [byPart = [], byValue = [], byLength = [], outcomes = []] = rows;
  return {
    oneIn: whole.oneIn,
    overlapOneIn: overlap.oneIn,
    versions: versionsOf(byArm),
    pairs: pairsOf(byPart),
    attribute,
    exposure: attribute === '' ? [] : exposureOf(byValue),
    ...outcomeRows(placesOf(byLength), outcomes),
  };
}

/** Answered recalls by adapter and arm, those that a panel is of, and users under the arm ''. */
function armsStatement(filter: AnalysisFilter, dialect: Dialect): string {
  const { number } = dialect;
  const asked =
    'SELECT adapter, arm, user_hash, max(adapter_name) AS any_name, count(*) AS n ' +
    `FROM (${recallsOf(filter, dialect)}) AS r WHERE code = 'OK' GROUP BY adapter, arm, user_hash`;
  const ofUsers = number('sum(CASE WHEN user_hash <> 0 THEN n ELSE 0 END)');
  return (
    `WITH asked AS (${asked}) SELECT adapter, arm, max(any_name) AS name, ` +
    `${number('sum(n)')} AS recalls, ${ofUsers} AS of_users, ${number('0')} AS users ` +
    "FROM asked GROUP BY adapter, arm UNION ALL SELECT adapter, '' AS arm, '' AS name, " +
    `${number('0')} AS recalls, ${number('0')} AS of_users, ` +
    `${number('count(DISTINCT user_hash)')} AS users FROM asked WHERE user_hash <> 0 ` +
    'GROUP BY adapter'
  );
}

/** Recalled items by place: each list has one at every place up to its length. */
function placesOf(byLength: Rows): Rows {
  return byLength.flatMap((row) =>
    Array.from({ length: numberOf(row, 'length') }, (_, index) => ({
      adapter: textOf(row, 'adapter'),
      place: index + 1,
      counted: numberOf(row, 'recalls'),
    })),
  );
}

type Rows = readonly Readonly<Record<string, unknown>>[];

function versionsOf(byArm: Rows): VersionsPage['versions'] {
  const groups = Map.groupBy(byArm, (row) => textOf(row, 'adapter'));
  const found = [...groups].map(([adapter, arms]) => {
    const frequent = [...arms].sort((a, b) => numberOf(b, 'recalls') - numberOf(a, 'recalls'));
    return {
      adapter,
      name: textOf(frequent[0], 'name'),
      arm: textOf(frequent[0], 'arm'),
      recalls: arms.reduce((sum, row) => sum + numberOf(row, 'recalls'), 0),
      users: Math.max(...arms.map((row) => numberOf(row, 'users'))),
    };
  });
  return found.sort((a, b) => b.recalls - a.recalls || (a.adapter < b.adapter ? -1 : 1));
}

function pairsOf(byPart: Rows): VersionsPage['pairs'] {
  const groups = Map.groupBy(byPart, (row) =>
    JSON.stringify([textOf(row, 'earlier'), textOf(row, 'later')]),
  );
  return [...groups].sort().map(([key, parts]) => {
    const [left, right] = JSON.parse(key) as [string, string];
    const users = parts.reduce((sum, row) => sum + numberOf(row, 'users'), 0);
    const total = parts.reduce((sum, row) => sum + numberOf(row, 'total'), 0);
    const histogram = Array.from({ length: PARTS }, () => 0);
    for (const row of parts) {
      const part = Math.min(PARTS - 1, numberOf(row, 'part'));
      histogram[part] = (histogram[part] ?? 0) + numberOf(row, 'users');
    }
    return { left, right, users, overlap: total / users, histogram };
  });
}

function exposureOf(byValue: Rows): VersionsPage['exposure'] {
  const totals = new Map<string, number>();
  for (const row of byValue) {
    const adapter = textOf(row, 'adapter');
    totals.set(adapter, (totals.get(adapter) ?? 0) + numberOf(row, 'items'));
  }
  return byValue
    .map((row) => {
      const [adapter, items] = [textOf(row, 'adapter'), numberOf(row, 'items')];
      const share = items / (totals.get(adapter) ?? 1);
      return { adapter, value: textOf(row, 'value'), items, share };
    })
    .sort((a, b) =>
      a.adapter === b.adapter
        ? b.items - a.items || (a.value < b.value ? -1 : 1)
        : a.adapter < b.adapter
          ? -1
          : 1,
    );
}
