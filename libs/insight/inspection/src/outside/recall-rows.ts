/** Rows of the store -> recorded recalls. */

import type { DuckDBValue } from '@duckdb/node-api';
import type { RecalledItem } from '@tessera/recall';
import type { RecallFilter } from '../domain/inspection-store.js';
import type {
  RecallSource,
  RecallSummary,
  RecordedRecall,
  RecordReason,
} from '../domain/recorded-recall.js';
import { treeRows } from '../domain/tree-rows.js';
import type { StoredDetail } from './duckdb-tables.js';

type Row = Readonly<Record<string, unknown>>;

export const SUMMARY_COLUMNS =
  'id, epoch_ms(time)::DOUBLE AS time_ms, request_id, user_id, source, reason, code, ' +
  'coalesce(item_count, 0)::DOUBLE AS item_count, ' +
  'coalesce(prompt_tokens, 0)::DOUBLE AS prompt_tokens, ' +
  'coalesce(kv_computed_tokens, 0)::DOUBLE AS computed_tokens, ' +
  'coalesce(total_us, 0)::DOUBLE AS total_us, ' +
  'coalesce(catalogue_sequence, 0)::DOUBLE AS catalogue_sequence';

/** The condition that a filter comes to, and its values. */
export function summaryWhere(filter: RecallFilter): { where: string; values: DuckDBValue[] } {
  const { userId, requestId, itemId, code, fromMs, beforeMs } = filter;
  const values: DuckDBValue[] = [];
  const time = (value: string) => `make_timestamp_ms(${value}::DOUBLE::BIGINT)`;
  const conditions = [
    [userId, (value: string) => `user_id = ${value}`],
    [requestId, (value: string) => `request_id = ${value}`],
    [itemId, (value: string) => `id IN (SELECT recall FROM items WHERE item_id = ${value})`],
    [code, (value: string) => `code = ${value}`],
    [fromMs, (value: string) => `time >= ${time(value)}`],
    [beforeMs, (value: string) => `time < ${time(value)}`],
  ] as const;
  const parts = conditions.flatMap(([value, condition]) =>
    value === undefined ? [] : [condition(`$${values.push(value)}`)],
  );
  return { where: parts.length === 0 ? '' : `WHERE ${parts.join(' AND ')}`, values };
}

export function summaryFrom(row: Row): RecallSummary {
  return {
    id: String(row.id),
    timeMs: Number(row.time_ms),
    requestId: String(row.request_id),
    userId: String(row.user_id),
    source: row.source as RecallSource,
    reason: row.reason as RecordReason,
    code: String(row.code),
    itemCount: Number(row.item_count),
    promptTokens: Number(row.prompt_tokens),
    computedTokens: Number(row.computed_tokens),
    totalUs: Number(row.total_us),
    catalogueSequence: Number(row.catalogue_sequence),
  };
}

export const ITEM_COLUMNS =
  'rank, item_id, sid, score, title, value, terms, pace, critical_bid, explored, propensity, ' +
  'heads, recall_rank, rank_value, rank_terms, rank_pace';

/** Undefined where the recall had no valuation. */
function valueFrom({ value, terms, pace, critical_bid: criticalBid }: Row): RecalledItem['value'] {
  if (value === null) return undefined;
  return {
    value: Number(value),
    terms: JSON.parse(String(terms)) as Record<string, number>,
    pace: Number(pace),
    ...(criticalBid !== null && { criticalBid: Number(criticalBid) }),
  };
}

/** Undefined where the recall did not rank. */
function rankingFrom(row: Row): RecalledItem['ranking'] {
  if (row.heads === null) return undefined;
  const { rank_value: value, rank_terms: terms, rank_pace: pace, recall_rank: recallRank } = row;
  const worth = valueFrom({ value, terms, pace, critical_bid: null });
  return {
    heads: JSON.parse(String(row.heads)) as Record<string, number>,
    ...(worth && { value: worth }),
    ...(recallRank !== null && { recallRank: Number(recallRank) }),
  };
}

function itemFrom(row: Row): RecalledItem {
  const value = valueFrom(row);
  const ranking = rankingFrom(row);
  return {
    rank: Number(row.rank),
    itemId: String(row.item_id),
    // Not recorded: the item's own are looked up where they are shown.
    attributes: '',
    sid: String(row.sid).split('-').filter(Boolean).map(Number),
    score: Number(row.score),
    title: String(row.title ?? ''),
    ...(value && { value }),
    ...(row.explored !== null && { explored: row.explored === true }),
    ...(row.propensity !== null && { propensity: Number(row.propensity) }),
    ...(ranking && { ranking }),
  };
}

export function recordedFrom(row: Row, items: readonly Row[]): RecordedRecall {
  const { id, timeMs, requestId, source, reason, code } = summaryFrom(row);
  const detail = JSON.parse(String(row.detail)) as StoredDetail;
  const { request, answer, history = [], profile = {} } = detail;
  const recorded = { id, timeMs, requestId, source, reason, request, code };
  const message = String(row.message ?? '');
  if (answer === undefined) return { ...recorded, message };
  const tree = treeRows(Buffer.from(String(row.tree ?? ''), 'base64'));
  const stored = { ...answer, items: items.map(itemFrom), history, profile, tree };
  return { ...recorded, message, answer: stored };
}
