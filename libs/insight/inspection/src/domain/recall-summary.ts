/** Lists of recorded recalls: which, in which order, and a line of one. */

import type { RecallVersions } from '@tessera/recall';
import type { RecallSource, RecordReason } from './recorded-recall.js';

export type Row = Readonly<Record<string, unknown>>;

/** Which recorded recalls a list has; what is left out does not matter. */
export interface RecallSearch {
  readonly userId?: string;
  readonly requestId?: string;
  /** Recalls that returned this item. */
  readonly itemId?: string;
  readonly code?: string;
  /** Name or digest; `base` for none. */
  readonly adapter?: string;
  /** Recalls among which the list is. */
  readonly ids?: readonly string[];
  readonly fromMs?: number;
  /** Older than this: what the next page begins with. */
  readonly beforeMs?: number;
  readonly change?: number;
  readonly minUs?: number;
  readonly maxUs?: number;
  readonly scene?: readonly [key: string, value: string];
  readonly order: 'time' | 'slowest' | 'fastest';
  /** Entries that are left out before the first; where the list is not in the order of time. */
  readonly offset: number;
  readonly limit: number;
}

/** A line of a list of recorded recalls. */
export interface RecallSummary {
  readonly id: string;
  readonly timeMs: number;
  readonly requestId: string;
  /** '' where the request gave a history. */
  readonly userId: string;
  readonly source: RecallSource;
  readonly reason: RecordReason;
  readonly code: string;
  readonly itemCount: number;
  readonly promptTokens: number;
  readonly computedTokens: number;
  readonly totalUs: number;
  readonly catalogueSequence: number;
  readonly scene: Readonly<Record<string, string>>;
  /** Absent where it failed. */
  readonly versions?: RecallVersions;
}

type Ordered = Pick<RecallSummary, 'id' | 'timeMs' | 'totalUs'>;

const byId = (a: Ordered, b: Ordered) => (a.id < b.id ? -1 : Number(a.id > b.id));
/** Recalls without an answer took 0, and come last. */
const tookUs = ({ totalUs }: Ordered) => totalUs || Number.MAX_VALUE;

/** Orders of lists: of rows of one store in SQL, and the same order of lines of several stores. */
const ORDERS = {
  time: {
    sql: 'time DESC, id DESC',
    compare: (a: Ordered, b: Ordered) => b.timeMs - a.timeMs || byId(b, a),
  },
  slowest: {
    sql: 'total_us DESC NULLS LAST, id',
    compare: (a: Ordered, b: Ordered) => b.totalUs - a.totalUs || byId(a, b),
  },
  fastest: {
    sql: 'total_us NULLS LAST, id',
    compare: (a: Ordered, b: Ordered) => tookUs(a) - tookUs(b) || byId(a, b),
  },
} as const;

/** A part of the lists of several stores, in the order that each of them has. */
export function partOf<Listed extends Ordered>(
  lists: readonly (readonly Listed[])[],
  { order, offset, limit }: Pick<RecallSearch, 'order' | 'offset' | 'limit'>,
): readonly Listed[] {
  return lists
    .flat()
    .sort(ORDERS[order].compare)
    .slice(offset, offset + limit);
}

const quoted = (text: string) => `'${text.replaceAll("'", "''").replaceAll('\0', '')}'`;
export const timeOf = (ms: number) => `make_timestamp(${Math.trunc(ms)}::BIGINT * 1000)`;

const HEAD =
  'id, epoch_ms(time)::DOUBLE AS time_ms, user_hash::VARCHAR AS user_hash, request_id, source, ' +
  'reason, code';
const SUMMARY =
  `${HEAD}, to_base64(sealed_user) AS sealed, scene, item_count, prompt_tokens, ` +
  'kv_computed_tokens, total_us, catalogue_sequence::DOUBLE AS sequence, versions';

const conditions: {
  readonly [Name in keyof RecallSearch]?: (value: NonNullable<RecallSearch[Name]>) => string;
} = {
  requestId: (id) => `request_id = ${quoted(id)}`,
  itemId: (id) => `id IN (SELECT recall FROM items WHERE item_id = ${quoted(id)})`,
  code: (code) => `code = ${quoted(code)}`,
  adapter: (name) => {
    const digest = quoted(name === 'base' ? '' : name);
    return `(adapter = ${digest} OR (adapter_name = ${digest} AND adapter <> ''))`;
  },
  ids: (ids) => (ids.length === 0 ? 'false' : `id IN (${ids.map(quoted).join(', ')})`),
  fromMs: (ms) => `time >= ${timeOf(ms)}`,
  beforeMs: (ms) => `time < ${timeOf(ms)}`,
  change: (sequence) => `catalogue_sequence = ${Math.trunc(sequence)}`,
  minUs: (us) => `total_us >= ${us}`,
  maxUs: (us) => `total_us <= ${us}`,
  scene: ([key, value]) => `scene[${quoted(key)}] = ${quoted(value)}`,
};

/** @param pseudonym of the user that the search names; undefined: it names none */
export function searchSql(search: RecallSearch, pseudonym: string | undefined): string {
  const { order, offset, limit } = search;
  const given = Object.entries(conditions).flatMap(([name, condition]) => {
    const value = search[name as keyof RecallSearch];
    return value === undefined ? [] : [(condition as (of: unknown) => string)(value)];
  });
  const all = [...given, ...(pseudonym === undefined ? [] : [`user_hash = ${pseudonym}`])];
  const where = all.length === 0 ? '' : `WHERE ${all.join(' AND ')} `;
  return (
    `SELECT ${SUMMARY} FROM recalls ${where}` +
    `ORDER BY ${ORDERS[order].sql} LIMIT ${Math.trunc(limit)} OFFSET ${Math.trunc(offset)}`
  );
}

/** Recorded recalls of IDs, each with its column `sealed` as Base64. */
export function recallsSql(ids: readonly string[]): string {
  return (
    `SELECT ${HEAD}, to_base64(sealed) AS sealed, answer, answer_items, ` +
    `to_base64(tree) AS tree FROM recalls WHERE ${conditions.ids?.(ids)}`
  );
}

export function headOf(row: Row) {
  return {
    id: String(row.id),
    timeMs: Number(row.time_ms),
    requestId: String(row.request_id),
    source: row.source as RecallSource,
    reason: row.reason as RecordReason,
    code: String(row.code),
  };
}

const sceneOf = (scene: unknown) =>
  Object.fromEntries(
    ((scene ?? []) as { key: string; value: string }[]).map(({ key, value }) => [key, value]),
  );

/** @param userId that the row has sealed */
export function summaryFrom(row: Row, userId: string): RecallSummary {
  const head = headOf(row);
  return {
    ...head,
    userId,
    itemCount: Number(row.item_count),
    promptTokens: Number(row.prompt_tokens),
    computedTokens: Number(row.kv_computed_tokens),
    totalUs: Number(row.total_us),
    catalogueSequence: Number(row.sequence),
    scene: sceneOf(row.scene),
    ...(row.versions !== null && { versions: JSON.parse(String(row.versions)) as RecallVersions }),
  };
}
