import { MILLISECONDS_PER_HOUR } from '@tessera/units';
import type { AdPage } from '../domain/answers.js';
import type { Buckets } from '../domain/buckets.js';
import type { AnalysisFilter } from '../domain/filter.js';
import { outcomePairs } from '../domain/outcomes.js';
import { bucketOf, exposures, recallsOf } from '../domain/relations.js';
import { itemColumns, itemOf } from './items.js';
import { outcomeRows, outcomeStatement } from './outcome-rows.js';
import { type Asking, countedPanel, numberOf, textOf } from './question.js';

const hoursOf = ({ fromMs }: AnalysisFilter): Buckets => ({
  beginMs: Math.floor(fromMs / MILLISECONDS_PER_HOUR) * MILLISECONDS_PER_HOUR,
  lengthMs: MILLISECONDS_PER_HOUR,
});

/** Statements on the recalls that had an item, from the rows of hours. */
async function recallStatements({ store }: Asking, filter: AnalysisFilter, own: string) {
  const { dialect } = store;
  const every = exposures(filter, hoursOf(filter), await store.hours(), dialect);
  const had =
    `SELECT time_ms, adapter, scene, sum(n) AS n FROM (${every}) AS every_item ` +
    `WHERE item_id = ${own} GROUP BY time_ms, adapter, scene`;
  const counts = `${dialect.number('sum(n)')} AS recalls`;
  const keyed = dialect.each('scene, n', dialect.keys('scene'), 'scene_key', `(${had}) AS had`);
  return [
    `SELECT time_ms, ${counts} FROM (${had}) AS had GROUP BY time_ms ORDER BY time_ms`,
    `SELECT adapter, ${counts} FROM (${had}) AS had GROUP BY adapter ` +
      'ORDER BY recalls DESC, adapter',
    `SELECT scene_key, scene_value, ${counts} FROM ` +
      `(SELECT scene_key, scene[scene_key] AS scene_value, n FROM (${keyed}) AS keyed) AS valued ` +
      'GROUP BY scene_key, scene_value ORDER BY scene_key, recalls DESC, scene_value',
  ];
}

/** Two statements: users and places of the recalls that had it, in one list, and outcomes. */
function panelStatements({ store, actions }: Asking, panel: AnalysisFilter, own: string) {
  const { dialect } = store;
  const { number } = dialect;
  const place = dialect.place('item_ids', own);
  const had =
    `SELECT ${bucketOf('time', hoursOf(panel), dialect)} AS time_ms, adapter, user_hash, ` +
    `${place} AS place FROM (${recallsOf(panel, dialect)}) AS r WHERE code = 'OK' ` +
    `AND ${dialect.has('item_ids', own)}`;
  const users = number('count(DISTINCT user_hash)');
  const listed =
    `WITH had AS (${had}) ` +
    `SELECT 'all' AS part, 0 AS time_ms, '' AS adapter, ${number('0')} AS place, ` +
    `${users} AS counted FROM had WHERE user_hash <> 0 ` +
    `UNION ALL SELECT 'hour' AS part, time_ms, '' AS adapter, ${number('0')} AS place, ` +
    `${users} AS counted FROM had WHERE user_hash <> 0 GROUP BY time_ms ` +
    `UNION ALL SELECT 'place' AS part, 0 AS time_ms, adapter, ${number('place')} AS place, ` +
    `${number('count(*)')} AS counted FROM had GROUP BY adapter, place`;
  const every = outcomePairs(panel, actions, dialect);
  const pairs = `SELECT * FROM (${every}) AS every_pair WHERE item_id = ${own}`;
  return [listed, outcomeStatement(pairs, dialect)];
}

/** One ad: the users that get it, when, and what they do. */
export async function ad(asking: Asking, filter: AnalysisFilter, itemId: string): Promise<AdPage> {
  const { store, signal } = asking;
  const { dialect } = store;
  const own = dialect.text(itemId);
  const panel = await countedPanel(asking, filter);
  const rows = await store.rows(
    [
      `SELECT ${itemColumns(dialect)} FROM item_version WHERE item_id = ${own} ` +
        `AND catalogue = ${dialect.text(filter.catalogue)} ORDER BY from_seq`,
      ...(await recallStatements(asking, filter, own)),
      ...panelStatements(asking, panel, own),
    ],
    signal,
  );
  const [history = [], hours = [], byVersion = [], byScene = [], listed = [], outcomes = []] = rows;
  const versions = history.map(itemOf);
  const part = (name: string) => listed.filter((row) => textOf(row, 'part') === name);
  const usersAt = new Map(
    part('hour').map((row) => [numberOf(row, 'time_ms'), numberOf(row, 'counted')]),
  );
  return {
    item: versions.at(-1) ?? null,
    history: versions,
    oneIn: panel.oneIn,
    recalls: hours.reduce((sum, row) => sum + numberOf(row, 'recalls'), 0),
    users: numberOf(part('all')[0], 'counted') * panel.oneIn,
    hours: hours.map((row) => ({
      timeMs: numberOf(row, 'time_ms'),
      recalls: numberOf(row, 'recalls'),
      users: (usersAt.get(numberOf(row, 'time_ms')) ?? 0) * panel.oneIn,
    })),
    byVersion: byVersion.map((row) => ({
      adapter: textOf(row, 'adapter'),
      recalls: numberOf(row, 'recalls'),
    })),
    byScene: byScene.map((row) => ({
      key: textOf(row, 'scene_key'),
      value: textOf(row, 'scene_value'),
      recalls: numberOf(row, 'recalls'),
    })),
    outcome: outcomeRows(part('place'), outcomes).outcome,
  };
}
