import type { Fields } from './fields.js';
import { fieldsOf, integerOf, invalid, optionalText } from './fields.js';

const TEXT_LENGTH_MAX = 1024;
const LIST_MAX = 500;
const TEXTS = ['userId', 'requestId', 'itemId', 'code', 'adapter', 'set'] as const;
const NUMBERS = ['fromMs', 'beforeMs', 'change', 'minUs', 'maxUs'] as const;
const ORDERS = { time: 'time DESC', slowest: 'total_us DESC', fastest: 'total_us' } as const;
const SCENE = /^([\w.-]{1,128})=(.{0,1024})$/s;

/** Which recorded recalls a list has; what is left out does not matter. */
export interface RecallSearch {
  readonly userId?: string;
  readonly requestId?: string;
  /** Recalls that returned this item. */
  readonly itemId?: string;
  readonly code?: string;
  /** Name or digest; `base` for none. */
  readonly adapter?: string;
  /** Name of a saved set, whose recalls alone are listed. */
  readonly set?: string;
  readonly fromMs?: number;
  /** Older than this: what the next page begins with. */
  readonly beforeMs?: number;
  readonly change?: number;
  readonly minUs?: number;
  readonly maxUs?: number;
  readonly scene?: readonly [key: string, value: string];
  readonly order: keyof typeof ORDERS;
  /** Entries that are left out before the first; where the list is not in the order of time. */
  readonly offset: number;
  readonly limit: number;
}

/** Of a query. @throws TesseraError REQUEST_INVALID with the field */
export function searchOf(query: unknown): RecallSearch {
  const names = [...TEXTS, ...NUMBERS, 'scene', 'order', 'offset', 'limit'];
  const fields = fieldsOf(query, names);
  const texts = TEXTS.map((name) => [name, optionalText(fields, name, TEXT_LENGTH_MAX)]);
  const bounds = { min: 0, max: Number.MAX_SAFE_INTEGER };
  const numbers = NUMBERS.map((name) => [
    name,
    fields[name] === undefined ? undefined : integerOf(fields, name, bounds),
  ]);
  const given = [...texts, ...numbers, ['scene', sceneOf(fields)]].filter(
    ([, value]) => value !== undefined,
  );
  const rest = {
    order: orderOf(fields),
    offset: integerOf(fields, 'offset', { min: 0, max: LIST_MAX, fallback: 0 }),
    limit: integerOf(fields, 'limit', { min: 1, max: LIST_MAX, fallback: 50 }),
  };
  return Object.assign(rest, Object.fromEntries(given));
}

function sceneOf(fields: Fields): readonly [string, string] | undefined {
  const text = optionalText(fields, 'scene', TEXT_LENGTH_MAX);
  if (text === undefined) return undefined;
  const [, key, value] = SCENE.exec(text) ?? [];
  if (key === undefined || value === undefined) throw invalid('scene', 'KEY=VALUE', text);
  return [key, value];
}

function orderOf({ order = 'time' }: Fields): keyof typeof ORDERS {
  if (typeof order === 'string' && Object.hasOwn(ORDERS, order)) {
    return order as keyof typeof ORDERS;
  }
  throw invalid('order', `one of ${Object.keys(ORDERS).join(', ')}`, order);
}

/** True if it asks for what the store's own list cannot tell apart. */
export function isDeep({ adapter, scene, change, minUs, maxUs, order }: RecallSearch) {
  const wanted = [adapter, scene, change, minUs, maxUs];
  return order !== 'time' || wanted.some((value) => value !== undefined);
}

const quoted = (text: string) => `'${text.replaceAll("'", "''").replaceAll('\0', '')}'`;
const timeOf = (ms: number) => `make_timestamp(${ms}::BIGINT * 1000)`;

/** The IDs that fit, as one SELECT over the table of recorded recalls. */
export function searchSql(search: RecallSearch): string {
  const { userId, requestId, itemId, code, adapter, scene, fromMs, beforeMs } = search;
  const { change, minUs, maxUs, order, offset, limit } = search;
  const when = (value: unknown, condition: () => string) =>
    value === undefined ? [] : [condition()];
  const digest = quoted(adapter === 'base' ? '' : (adapter ?? ''));
  const conditions = [
    ...when(fromMs, () => `time >= ${timeOf(fromMs as number)}`),
    ...when(beforeMs, () => `time < ${timeOf(beforeMs as number)}`),
    ...when(userId, () => `user_id = ${quoted(userId as string)}`),
    ...when(requestId, () => `request_id = ${quoted(requestId as string)}`),
    ...when(code, () => `code = ${quoted(code as string)}`),
    ...when(adapter, () => `(adapter = ${digest} OR (adapter_name = ${digest} AND adapter <> ''))`),
    ...when(change, () => `catalogue_sequence = ${change}`),
    ...when(minUs, () => `total_us >= ${minUs}`),
    ...when(maxUs, () => `total_us <= ${maxUs}`),
    ...when(
      itemId,
      () => `id IN (SELECT recall FROM items WHERE item_id = ${quoted(itemId as string)})`,
    ),
    ...when(scene, () => {
      const [key, value] = scene as readonly [string, string];
      const path = quoted(`$.request.scene."${key}"`);
      return `json_extract_string(detail, ${path}) = ${quoted(value)}`;
    }),
  ];
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
  const ends = `ORDER BY ${ORDERS[order]} NULLS LAST, id LIMIT ${limit} OFFSET ${offset}`;
  return `SELECT id FROM recalls${where} ${ends}`;
}
