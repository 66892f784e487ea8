import { useMemo } from 'react';
import { useSearchParams } from 'react-router';
import { withQuery } from '../api.js';
import { useAsked } from '../ui/use-asked.js';

/** The filters of every analysis; it lies in the address, the same for all views. */
export const FILTERS = ['scene', 'attribute', 'adapter', 'model', 'source', 'catalogue'] as const;
export type FilterName = (typeof FILTERS)[number];

const MS_PER_MINUTE = 60_000;
const MINUTES_PER_HOUR = 60;
const MINUTES_PER_DAY = 24 * MINUTES_PER_HOUR;

export const SPANS = [
  { value: '1h', label: '1 hour', minutes: MINUTES_PER_HOUR },
  { value: '6h', label: '6 hours', minutes: 6 * MINUTES_PER_HOUR },
  { value: '24h', label: '24 hours', minutes: MINUTES_PER_DAY },
  { value: '7d', label: '7 days', minutes: 7 * MINUTES_PER_DAY },
  { value: '30d', label: '30 days', minutes: 30 * MINUTES_PER_DAY },
] as const;
export const FIRST_SPAN = '24h';

export interface Range {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The span of an address: two times, or so long until now. */
export function rangeOf(query: URLSearchParams, nowMs: number): Range {
  const [from, to] = [Number(query.get('from') ?? ''), Number(query.get('to') ?? '')];
  if (from > 0 && to > from) return { fromMs: from, toMs: to };
  const wanted = query.get('span') ?? FIRST_SPAN;
  const span = SPANS.find(({ value }) => value === wanted) ?? SPANS[2];
  // To the minute: within it, views and their links ask the same.
  const toMs = Math.ceil(nowMs / MS_PER_MINUTE) * MS_PER_MINUTE;
  return { fromMs: toMs - span.minutes * MS_PER_MINUTE, toMs };
}

/** The parts of an address that all views have in common. */
export function commonOf(query: URLSearchParams): URLSearchParams {
  const common = new URLSearchParams();
  for (const [name, value] of query) {
    const isCommon = ['from', 'to', 'span'].includes(name) || FILTERS.includes(name as FilterName);
    if (isCommon) common.append(name, value);
  }
  return common;
}

/** The query of the API that an address comes to; several values of a filter stay several. */
export function apiQuery(
  query: URLSearchParams,
  nowMs: number,
  own: Readonly<Record<string, string | undefined>> = {},
): string {
  const { fromMs, toMs } = rangeOf(query, nowMs);
  const asked = new URLSearchParams({ from: String(fromMs), to: String(toMs) });
  for (const name of FILTERS) for (const value of query.getAll(name)) asked.append(name, value);
  for (const [name, value] of Object.entries(own)) {
    if (value !== undefined && value !== '') asked.set(name, value);
  }
  return asked.toString();
}

/** The filter of the address, and ways to change it. */
export function useFilter() {
  const [query, setQuery] = useSearchParams();
  // The end of this minute: what happens in it is within the span.
  const minute = Math.ceil(Date.now() / MS_PER_MINUTE);
  const range = useMemo(() => rangeOf(query, minute * MS_PER_MINUTE), [query, minute]);
  const change = (act: (next: URLSearchParams) => void) =>
    setQuery((before) => {
      const next = new URLSearchParams(before);
      act(next);
      return next;
    });
  return {
    query,
    range,
    /** Sets parts of the address; '' and undefined take one out. */
    set: (values: Readonly<Record<string, string | undefined>>) =>
      change((next) => {
        for (const [name, value] of Object.entries(values)) {
          if (value === undefined || value === '') next.delete(name);
          else next.set(name, value);
        }
      }),
    add: (name: FilterName, value: string) =>
      change((next) => {
        const isSeveral = name === 'scene' || name === 'attribute';
        if (!isSeveral) next.set(name, value);
        else if (!next.getAll(name).includes(value)) next.append(name, value);
      }),
    drop: (name: FilterName, value: string) =>
      change((next) => {
        const rest = next.getAll(name).filter((one) => one !== value);
        next.delete(name);
        for (const one of rest) next.append(name, one);
      }),
  };
}

/** An answer of the analysis for the filter of the address. */
export function useAnalysis<Answer>(
  path: string,
  own: Readonly<Record<string, string | undefined>> = {},
) {
  const { query, range } = useFilter();
  return useAsked<Answer>(`analysis/${path}?${apiQuery(query, range.toMs, own)}`);
}

/** The address of another view with the same filter. */
export function viewAt(
  path: string,
  query: URLSearchParams,
  own: Readonly<Record<string, string | undefined>> = {},
): string {
  const common = commonOf(query);
  for (const [name, value] of Object.entries(own)) {
    if (value !== undefined && value !== '') common.set(name, value);
  }
  const text = common.toString();
  return text === '' ? withQuery(path, {}) : `${path}?${text}`;
}
