import type { AdPage } from '../domain/answers.js';
import type { AnalysisFilter } from '../domain/filter.js';
import { outcomePairs } from '../domain/outcomes.js';
import { bucketOf, exposures, recallsOf } from '../domain/relations.js';
import { itemColumns, itemOf } from './items.js';
import { outcomeRows, outcomeStatements } from './outcome-rows.js';
import { type Asking, numberOf, panelsOf, textOf } from './question.js';

const HOUR_MS = 3_600_000;

/** Statements on the recalls that had an item, from the rows of hours. */
async function recallStatements({ store }: Asking, filter: AnalysisFilter, own: string) {
  const { dialect } = store;
  const hours = { beginMs: Math.floor(filter.fromMs / HOUR_MS) * HOUR_MS, lengthMs: HOUR_MS };
  const every = exposures(filter, hours, await store.hours(), dialect);
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

/** Statements on the users that had it, all and by hour, and on what they did. */
function userStatements({ store, actions }: Asking, panel: AnalysisFilter, own: string) {
  const { dialect } = store;
  const hours = { beginMs: Math.floor(panel.fromMs / HOUR_MS) * HOUR_MS, lengthMs: HOUR_MS };
  const had =
    `SELECT * FROM (${recallsOf(panel, dialect)}) AS r WHERE code = 'OK' ` +
    `AND ${dialect.has('item_ids', own)}`;
  const users = `${dialect.number('count(DISTINCT user_hash)')} AS users`;
  const counted = `SELECT ${users} FROM (${had}) AS had WHERE user_hash <> 0`;
  const byHour =
    `SELECT ${bucketOf('time', hours, dialect)} AS time_ms, ${users} FROM (${had}) AS had ` +
    'WHERE user_hash <> 0 GROUP BY time_ms';
  const shown =
    `SELECT adapter, rank FROM (${dialect.items('adapter', `(${had}) AS had`)}) AS listed ` +
    `WHERE item_id = ${own}`;
  const every = outcomePairs(panel, actions, dialect);
  const pairs = `SELECT * FROM (${every}) AS every_pair WHERE item_id = ${own}`;
  return [counted, byHour, ...outcomeStatements(shown, pairs, dialect)];
}

/** One ad: the users that get it, when, and what they do. */
export async function ad(asking: Asking, filter: AnalysisFilter, itemId: string): Promise<AdPage> {
  const { store, signal } = asking;
  const { dialect } = store;
  const own = dialect.text(itemId);
  const { whole: panel } = await panelsOf(asking, filter);
  const rows = await store.rows(
    [
      `SELECT ${itemColumns(dialect)} FROM item_version WHERE item_id = ${own} ` +
        `AND catalogue = ${dialect.text(filter.catalogue)} ORDER BY from_seq`,
      ...(await recallStatements(asking, filter, own)),
      ...userStatements(asking, panel, own),
    ],
    signal,
  );
  const [history = [], hours = [], byVersion = [], byScene = [], users = [], byHour = []] = rows;
  const versions = history.map(itemOf);
  const usersAt = new Map(byHour.map((row) => [numberOf(row, 'time_ms'), numberOf(row, 'users')]));
  return {
    item: versions.at(-1) ?? null,
    history: versions,
    oneIn: panel.oneIn,
    recalls: hours.reduce((sum, row) => sum + numberOf(row, 'recalls'), 0),
    users: numberOf(users[0], 'users') * panel.oneIn,
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
    outcome: outcomeRows(rows.slice(6)).outcome,
  };
}
