import type { CompositionPage } from '../domain/answers.js';
import { beginsOf, bucketsOf } from '../domain/buckets.js';
import type { AnalysisFilter } from '../domain/filter.js';
import { exposures, exposuresByValue } from '../domain/relations.js';
import { marksOf, marksStatements } from './marks.js';
import { type Asking, numberOf, textOf } from './question.js';

const OTHER = '(other)';

export interface CompositionWanted {
  readonly attribute: string;
  readonly buckets: number;
  /** Key of scenes; '': no matrix. */
  readonly across: string;
  /** Values that are told apart; the rest is one. */
  readonly values: number;
}

/** The values of an attribute in what was recalled, over time and by scene. */
export async function composition(
  { store, signal }: Asking,
  filter: AnalysisFilter,
  { attribute, buckets: bucketsMax, across, values: valuesMax }: CompositionWanted,
): Promise<CompositionPage> {
  const { dialect } = store;
  const { number } = dialect;
  const buckets = bucketsOf(filter, bucketsMax);
  const exposed = exposures(filter, buckets, await store.hours(), dialect);
  const valued = exposuresByValue(filter, attribute, exposed, dialect);
  const top =
    `SELECT value, ${number('sum(n)')} AS items FROM (${valued}) AS valued GROUP BY value ` +
    `ORDER BY items DESC, value LIMIT ${valuesMax}`;
  const [topValues = [], ...marks] = await store.rows(
    [top, ...marksStatements(filter, dialect)],
    signal,
  );
  const told = topValues.map((row) => dialect.text(textOf(row, 'value'))).join(', ');
  const isTold = told === '' ? '1 = 0' : `value IN (${told})`;
  const scene = across === '' ? "''" : dialect.member('scene', across);
  const cells =
    `SELECT time_ms, scene, told, ${number('sum(n)')} AS items FROM (SELECT time_ms, ` +
    `${scene} AS scene, CASE WHEN ${isTold} THEN value ELSE ${dialect.text(OTHER)} END AS told, ` +
    `n FROM (${valued}) AS valued) AS told_items GROUP BY time_ms, scene, told`;
  const [found = []] = await store.rows([cells], signal);
  const values = valuesOf(found);
  const keyOf = (place: string, value: string) => JSON.stringify([place, value]);
  const itemsBy = (key: 'time_ms' | 'scene') => {
    const sums = sumsBy(found, (row) => keyOf(textOf(row, key), textOf(row, 'told')));
    return (place: string) => values.map(({ value }) => sums.get(keyOf(place, value)) ?? 0);
  };
  const [overTime, byScene] = [itemsBy('time_ms'), itemsBy('scene')];
  const scenes = across === '' ? [] : [...new Set(found.map((row) => textOf(row, 'scene')))];
  return {
    attribute,
    bucketMs: buckets.lengthMs,
    values,
    series: beginsOf(buckets, filter.toMs).map((timeMs) => ({
      timeMs,
      items: overTime(String(timeMs)),
    })),
    sceneKey: across,
    matrix: scenes.sort().map((place) => ({ scene: place, items: byScene(place) })),
    marks: marksOf(marks),
  };
}

type Rows = readonly Readonly<Record<string, unknown>>[];

function sumsBy(found: Rows, keyOf: (row: Rows[number]) => string): Map<string, number> {
  const sums = new Map<string, number>();
  for (const row of found) {
    sums.set(keyOf(row), (sums.get(keyOf(row)) ?? 0) + numberOf(row, 'items'));
  }
  return sums;
}

/** Most frequent first, the rest at the end. */
function valuesOf(found: Rows): CompositionPage['values'] {
  const sums = [...sumsBy(found, (row) => textOf(row, 'told'))];
  const total = sums.reduce((sum, [, items]) => sum + items, 0);
  const isOther = (value: string) => Number(value === OTHER);
  return sums
    .map(([value, items]) => ({ value, items, share: items / total }))
    .sort(
      (a, b) =>
        isOther(a.value) - isOther(b.value) || b.items - a.items || (a.value < b.value ? -1 : 1),
    );
}
