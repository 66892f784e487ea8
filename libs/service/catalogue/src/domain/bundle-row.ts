/** Rows of a bundle's files, checked against its manifest. */

import { finiteJson, isBlank, parseJson } from '@tessera/errors';
import type { BundleManifest } from './bundle-manifest.js';

/** An item as a row has it; left out: the file has no such column, or nothing in it. */
export interface BundleRow extends Pick<BundleItem, 'itemId' | 'sid'> {
  readonly title: string | undefined;
  readonly attributes: string | undefined;
  readonly priority: number | undefined;
}

/** An item as a whole. */
export interface BundleItem {
  readonly itemId: string;
  readonly sid: readonly number[];
  readonly title: string;
  /** Text of a JSON object. */
  readonly attributes: string;
  readonly priority: number;
}

/** A SID and all of its items. */
export interface BundleBucket {
  readonly sid: readonly number[];
  readonly itemIds: readonly string[];
}

type Row = Readonly<Record<string, unknown>>;

/** The fault of a row: column, expected value, given value. */
export class RowFault extends Error {
  constructor(column: string, expected: string, got: unknown) {
    const isNumber = typeof got === 'bigint' || typeof got === 'number';
    const text = isNumber ? String(got) : (JSON.stringify(got) ?? 'nothing');
    super(`${column}: expected ${expected}, got ${text.slice(0, 80)}`);
  }
}

function itemIdOf(column: string, value: unknown): string {
  if (typeof value === 'string' && !isBlank(value)) return value;
  if (typeof value === 'bigint' || Number.isSafeInteger(value)) return String(value);
  // Of a decimal, too, what comes here is rounded.
  const kinds =
    typeof value === 'number' ? ' as text or INT64 (above 2^53 others are rounded)' : '';
  throw new RowFault(column, `an item ID${kinds}`, value);
}

/** Codes are 0-based per level; those with level offsets added must agree where they are given. */
function sidOf(row: Row, codebook: readonly number[]): number[] {
  const { codebook: codes, offset_codebook: shifted } = row;
  if (!Array.isArray(codes) || codes.length < 1 || codes.length > codebook.length) {
    throw new RowFault('codebook', `1..${codebook.length} codes`, codes);
  }
  let offset = 0;
  return codes.map((value: unknown, level) => {
    const code = Number(value);
    const size = codebook[level] ?? 0;
    if (value === null || !Number.isInteger(code) || code < 0 || code >= size) {
      throw new RowFault(`codebook[${level}]`, `0..${size - 1}`, value);
    }
    if (Array.isArray(shifted) && Number(shifted[level]) !== code + offset) {
      throw new RowFault(`offset_codebook[${level}]`, String(code + offset), shifted[level]);
    }
    offset += size;
    return code;
  });
}

function attributesOf(value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'object') {
    const text = finiteJson(value);
    if (typeof text === 'string') return text;
    throw new RowFault('attributes', 'finite numbers', text);
  }
  let parsed: unknown;
  try {
    parsed = parseJson(String(value));
  } catch (error) {
    throw new RowFault('attributes', 'a JSON object', (error as Error).message);
  }
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) {
    return String(value);
  }
  throw new RowFault('attributes', 'a JSON object', value);
}

/** Without a priority of its own an item stands in its SID where `index`, from 1, says. */
function priorityOf({ priority, index }: Row): number | undefined {
  const place = index === undefined || index === null ? undefined : Number(index);
  if (place !== undefined && !(Number.isSafeInteger(place) && place >= 1)) {
    throw new RowFault('index', 'at least 1', index);
  }
  if (priority === undefined || priority === null) return place === undefined ? undefined : -place;
  if (typeof priority === 'number' && Number.isFinite(priority)) return priority;
  throw new RowFault('priority', 'a finite number', priority);
}

/** @throws RowFault */
export function parseItem(row: Row, { codebook }: BundleManifest): BundleRow {
  const { title } = row;
  if (title !== undefined && title !== null && typeof title !== 'string') {
    throw new RowFault('title', 'a text', title);
  }
  return {
    itemId: itemIdOf('item_id', row.item_id),
    sid: sidOf(row, codebook),
    title: title ?? undefined,
    attributes: attributesOf(row.attributes),
    priority: priorityOf(row),
  };
}

/** Members that a row leaves out are as they were, or nothing. */
export function completed(row: BundleRow, before?: BundleItem): BundleItem {
  return {
    itemId: row.itemId,
    sid: row.sid,
    title: row.title ?? before?.title ?? '',
    attributes: row.attributes ?? before?.attributes ?? '{}',
    priority: row.priority ?? before?.priority ?? 0,
  };
}

/** @throws RowFault */
export function parseBucket(row: Row, { codebook }: BundleManifest): BundleBucket {
  const { itemids } = row;
  if (!Array.isArray(itemids)) throw new RowFault('itemids', 'a list', itemids);
  return {
    sid: sidOf(row, codebook),
    itemIds: itemids.map((id: unknown, place) => itemIdOf(`itemids[${place}]`, id)),
  };
}
