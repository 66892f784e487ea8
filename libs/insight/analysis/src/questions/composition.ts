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
  const totals = `SELECT value, sum(n) AS items FROM (${valued}) AS valued GROUP BY value`;
  const top =
    `SELECT value, 1 AS is_top FROM (${totals}) AS totals ` +
    `ORDER BY items DESC, value LIMIT ${valuesMax}`;
  const told =
    `SELECT v.time_ms AS time_ms, v.scene AS scene, v.n AS n, CASE WHEN t.is_top = 1 ` +
    `THEN v.value ELSE ${dialect.text(OTHER)} END AS told FROM (${valued}) AS v ` +
    `LEFT JOIN (${top}) AS t ON t.value = v.value`;
  const by = (key: string) =>
    `SELECT ${key} AS place, told, ${number('sum(n)')} AS items ` +
    `FROM (${told}) AS told_items GROUP BY place, told`;
  const rows = await store.rows(
    [
      `SELECT told, ${number('sum(n)')} AS items FROM (${told}) AS told_items GROUP BY told`,
      by('time_ms'),
      ...(across === '' ? ['SELECT 1 AS nothing'] : [by(dialect.member('scene', across))]),
      ...marksStatements(filter, dialect),
    ],
    signal,
  );
  const [found = [], overTime = [], byScene = []] = rows;
  const values = valuesOf(found);
  const itemsAt = (list: typeof overTime, place: string) =>
    values.map(({ value }) =>
      numberOf(
        list.find((row) => textOf(row, 'place') === place && textOf(row, 'told') === value),
        'items',
      ),
    );
  const scenes = across === '' ? [] : [...new Set(byScene.map((row) => textOf(row, 'place')))];
  return {
    attribute,
    bucketMs: buckets.lengthMs,
    values,
    series: beginsOf(buckets, filter.toMs).map((timeMs) => ({
      timeMs,
      items: itemsAt(overTime, String(timeMs)),
    })),
    sceneKey: across,
    matrix: scenes.sort().map((scene) => ({ scene, items: itemsAt(byScene, scene) })),
    marks: marksOf(rows.slice(3)),
  };
}

type Rows = readonly Readonly<Record<string, unknown>>[];

/** Most frequent first, the rest at the end. */
function valuesOf(found: Rows): CompositionPage['values'] {
  const total = found.reduce((sum, row) => sum + numberOf(row, 'items'), 0);
  const isOther = (value: string) => Number(value === OTHER);
  return found
    .map((row) => ({ value: textOf(row, 'told'), items: numberOf(row, 'items') }))
    .sort(
      (a, b) =>
        isOther(a.value) - isOther(b.value) || b.items - a.items || (a.value < b.value ? -1 : 1),
    )
    .map(({ value, items }) => ({ value, items, share: items / total }));
}
