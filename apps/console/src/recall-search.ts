import type { RecallSearch } from '@tessera/inspection';
import type { Fields } from './fields.js';
import { fieldsOf, integerOf, invalid, optionalText } from './fields.js';

const TEXT_LENGTH_MAX = 1024;
const LIST_MAX = 500;
const TEXTS = ['userId', 'requestId', 'itemId', 'code', 'adapter', 'set'] as const;
const NUMBERS = ['fromMs', 'beforeMs', 'change', 'minUs', 'maxUs'] as const;
const ORDERS = ['time', 'slowest', 'fastest'] as const;
const SCENE = /^([\w.-]{1,128})=(.{0,1024})$/s;

/** Search of a page, with the name of a saved set whose recalls alone are listed. */
export type ListSearch = RecallSearch & { readonly set?: string };

/** Search of a query. @throws TesseraError REQUEST_INVALID with the field */
export function searchOf(query: unknown): ListSearch {
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

function orderOf({ order = 'time' }: Fields): RecallSearch['order'] {
  const found = ORDERS.find((one) => one === order);
  if (found === undefined) throw invalid('order', `one of ${ORDERS.join(', ')}`, order);
  return found;
}
