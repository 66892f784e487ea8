import { STILL_SEQ } from '@tessera/facts';
import type { Row } from '../domain/analysis-store.js';
import type { AdPage, AnalysisItem, ItemsPage } from '../domain/answers.js';
import type { Dialect } from '../domain/dialect.js';
import type { AnalysisFilter } from '../domain/filter.js';
import { outcomePairs } from '../domain/outcomes.js';
import { attributesFit, recallsOf } from '../domain/relations.js';
import { outcomeRows, outcomeStatements } from './outcome-rows.js';
import { type Asking, numberOf, textOf } from './question.js';

const HOUR_MS = 3_600_000;
const FACET_VALUES_MAX = 20;

export interface ItemsWanted {
  /** Item ID, or part of one or of the title; '': any. */
  readonly text: string;
  /** Left out: both. */
  readonly isLive?: boolean | undefined;
  readonly offset: number;
  readonly limit: number;
}

const itemColumns = ({ number, ms }: Dialect) =>
  `item_id, title, sid, attributes, CASE WHEN live THEN 1 ELSE 0 END AS is_live, ` +
  `${number('from_seq')} AS from_sequence, ${number(ms('from_time'))} AS from_ms`;

function itemOf(row: Row): AnalysisItem {
  return {
    itemId: textOf(row, 'item_id'),
    title: textOf(row, 'title'),
    sid: textOf(row, 'sid'),
    attributes: textOf(row, 'attributes'),
    isLive: numberOf(row, 'is_live') === 1,
    fromSequence: numberOf(row, 'from_sequence'),
    fromMs: numberOf(row, 'from_ms'),
  };
}

/** A page of the items as they are now, and how many have which values. */
export async function items(
  { store, signal }: Asking,
  filter: AnalysisFilter,
  { text, isLive, offset, limit }: ItemsWanted,
): Promise<ItemsPage> {
  const { dialect } = store;
  const { number } = dialect;
  const conditions = [
    `catalogue = ${dialect.text(filter.catalogue)} AND to_seq = ${STILL_SEQ}`,
    attributesFit(filter, dialect, 'attributes'),
    ...(isLive === undefined ? [] : [isLive ? 'live' : 'NOT live']),
    ...(text === ''
      ? []
      : [`(${dialect.contains('item_id', text)} OR ${dialect.contains('title', text)})`]),
  ];
  const fitting = `SELECT * FROM item_version WHERE ${conditions.join(' AND ')}`;
  const named = dialect.each(
    'attributes',
    dialect.names('attributes'),
    'name',
    `(${fitting}) AS fitting`,
  );
  const valued =
    `SELECT name, ${dialect.attributeNamed('attributes', 'name')} AS value ` +
    `FROM (${named}) AS named`;
  const counts = 'SELECT name, value, count(*) AS items';
  const counted = `${counts} FROM (${valued}) AS valued GROUP BY name, value`;
  const placed =
    'SELECT name, value, items, row_number() OVER (PARTITION BY name ORDER BY items DESC, value) ' +
    `AS place FROM (${counted}) AS counted`;
  const [found = [], total = [], facets = []] = await store.rows(
    [
      `SELECT ${itemColumns(dialect)} FROM (${fitting}) AS fitting ` +
        `ORDER BY item_id LIMIT ${limit} OFFSET ${offset}`,
      `SELECT ${number('count(*)')} AS total FROM (${fitting}) AS fitting`,
      `SELECT name, value, ${number('items')} AS items FROM (${placed}) AS placed ` +
        `WHERE place <= ${FACET_VALUES_MAX} ORDER BY name, place`,
    ],
    signal,
  );
  const groups = Map.groupBy(facets, (row) => textOf(row, 'name'));
  return {
    total: numberOf(total[0], 'total'),
    items: found.map(itemOf),
    facets: [...groups].map(([name, rows]) => ({
      name,
      values: rows.map((row) => ({ value: textOf(row, 'value'), count: numberOf(row, 'items') })),
    })),
  };
}

/** Items as they were at a change of their catalogue; those that were not are left out. */
export async function itemsAsOf(
  { store, signal }: Asking,
  {
    itemIds,
    catalogue,
    sequence,
  }: {
    readonly itemIds: readonly string[];
    readonly catalogue: string;
    readonly sequence: number;
  },
): Promise<readonly AnalysisItem[]> {
  if (itemIds.length === 0) return [];
  const { dialect } = store;
  const ids = itemIds.map((id) => dialect.text(id)).join(', ');
  const sql =
    `SELECT ${itemColumns(dialect)} FROM item_version WHERE item_id IN (${ids}) ` +
    `AND catalogue = ${dialect.text(catalogue)} ` +
    `AND from_seq <= ${sequence} AND ${sequence} < to_seq`;
  const [rows = []] = await store.rows([sql], signal);
  return rows.map(itemOf);
}

/** One ad: who gets it, when, and what they do. */
export async function ad(
  { store, actions, signal }: Asking,
  filter: AnalysisFilter,
  itemId: string,
): Promise<AdPage> {
  const { dialect } = store;
  const { number } = dialect;
  const own = dialect.text(itemId);
  const had =
    `SELECT * FROM (${recallsOf(filter, dialect)}) AS r WHERE code = 'OK' ` +
    `AND ${dialect.has('item_ids', own)}`;
  const hour = `${dialect.quotient(dialect.ms('time'), HOUR_MS)} * ${HOUR_MS}`;
  const users = number('count(DISTINCT CASE WHEN user_hash <> 0 THEN user_hash END)');
  const counts = `${number('count(*)')} AS recalls, ${users} AS users`;
  const keyed = dialect.each('scene', dialect.keys('scene'), 'scene_key', `(${had}) AS had`);
  const shown =
    `SELECT adapter, rank FROM (${dialect.items('adapter', `(${had}) AS had`)}) AS listed ` +
    `WHERE item_id = ${own}`;
  const every = outcomePairs(filter, actions, dialect);
  const pairs = `SELECT * FROM (${every}) AS every_pair WHERE item_id = ${own}`;
  const rows = await store.rows(
    [
      `SELECT ${itemColumns(dialect)} FROM item_version WHERE item_id = ${own} ` +
        `AND catalogue = ${dialect.text(filter.catalogue)} ORDER BY from_seq`,
      `SELECT ${counts} FROM (${had}) AS had`,
      `SELECT ${hour} AS time_ms, ${counts} FROM (${had}) AS had GROUP BY time_ms ORDER BY time_ms`,
      `SELECT adapter, ${number('count(*)')} AS recalls FROM (${had}) AS had ` +
        'GROUP BY adapter ORDER BY recalls DESC, adapter',
      `SELECT scene_key, scene_value, ${number('count(*)')} AS recalls FROM ` +
        `(SELECT scene_key, scene[scene_key] AS scene_value FROM (${keyed}) AS keyed) AS valued ` +
        'GROUP BY scene_key, scene_value ORDER BY scene_key, recalls DESC, scene_value',
      ...outcomeStatements(shown, pairs, dialect),
    ],
    signal,
  );
  const [history = [], all = [], hours = [], byVersion = [], byScene = []] = rows;
  const versions = history.map(itemOf);
  return {
    item: versions.at(-1) ?? null,
    history: versions,
    recalls: numberOf(all[0], 'recalls'),
    users: numberOf(all[0], 'users'),
    hours: hours.map((row) => ({
      timeMs: numberOf(row, 'time_ms'),
      recalls: numberOf(row, 'recalls'),
      users: numberOf(row, 'users'),
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
    outcome: outcomeRows(rows.slice(5)).outcome,
  };
}
