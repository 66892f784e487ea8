import type { Dialect } from '../../domain/dialect.js';
import type { AnalysisFilter } from '../../domain/filter.js';
import { type OutcomeActions, outcomePairs } from '../../domain/outcomes.js';
import { recallsOf, seenBy, valuedVersions } from '../../domain/relations.js';
import { rateOf } from '../../domain/statistics.js';
import type { TablePage } from '../../domain/table-page.js';
import { attributeNamed } from '../attribute-bounds.js';
import { type Asking, countedPanel, numberOf, textOf } from '../question.js';
import { columnsOf, ROWS_MAX, rateCells, rowsAs, type TableWanted } from './table.js';

const PARTS = 10;
const COLUMNS = columnsOf(
  ['head', 'Head', 'text'],
  ['part', 'Part', 'text'],
  ['shown', 'Shown', 'count'],
  ['predicted', 'Predicted', 'share'],
  ['observed', 'Observed', 'share'],
  ['observedLow', 'from', 'share'],
  ['observedHigh', 'to', 'share'],
  ['excess', 'Predicted less observed', 'share'],
);

/** The flag of a pair that a head of the name predicts; NULL: no behaviour has the name. */
function observedOf({ clicks, conversions }: OutcomeActions, { text }: Dialect): string {
  const is = (actions: readonly string[]) =>
    `head IN (${['-', ...actions].map((action) => text(action)).join(', ')})`;
  return `CASE WHEN ${is(clicks)} THEN click WHEN ${is(conversions)} THEN conversion END`;
}

/** Predictions of heads beside what users did with the shown items, in tenths or by value. */
export async function calibration(
  asking: Asking,
  every: AnalysisFilter,
  { by }: TableWanted,
): Promise<TablePage> {
  const { store, actions, signal } = asking;
  const { dialect } = store;
  const { number } = dialect;
  const panel = await countedPanel(asking, every);
  const place = dialect.place('r.item_ids', 'p.item_id');
  const heads =
    'SELECT p.recall_id AS recall_id, p.item_id AS item_id, p.click AS click, ' +
    `p.conversion AS conversion, r.catalogue_seq AS catalogue_seq, ` +
    `r.item_heads[${place}] AS heads FROM (${outcomePairs(panel, actions, dialect)}) AS p ` +
    `JOIN (${recallsOf(panel, dialect)}) AS r ON r.recall_id = p.recall_id ` +
    `WHERE ${dialect.length('r.item_heads')} > 0`;
  const columns = 'recall_id, item_id, click, conversion, catalogue_seq, heads';
  const keyed = dialect.each(columns, dialect.keys('heads'), 'head', `(${heads}) AS headed`);
  const judged =
    'SELECT recall_id, item_id, catalogue_seq, head, heads[head] AS predicted, ' +
    `${observedOf(actions, dialect)} AS observed FROM (${keyed}) AS keyed`;
  const known = `SELECT * FROM (${judged}) AS judged WHERE observed IS NOT NULL`;
  const parted = by === '' ? tenths(known) : await byValue(asking, panel, by, known);
  const [found = []] = await store.rows(
    [
      `SELECT head, part, ${number('count(*)')} AS shown, ${number('sum(predicted)')} AS total, ` +
        `${number('sum(observed)')} AS successes FROM (${parted}) AS parted ` +
        'GROUP BY head, part ORDER BY head, part',
    ],
    signal,
  );
  const rows = found.map((row) => {
    const shown = numberOf(row, 'shown');
    const observed = rateOf(numberOf(row, 'successes'), shown);
    const predicted = numberOf(row, 'total') / shown;
    const part = textOf(row, 'part');
    const told = { head: textOf(row, 'head'), part, shown, predicted };
    return Object.assign(told, rateCells('observed', observed), {
      excess: predicted - observed.rate,
      // Beyond chance: the prediction is outside the interval of the observed share.
      isWrong: predicted < observed.low || predicted > observed.high,
    });
  });
  const wrong = rows.filter(({ isWrong }) => isWrong).length;
  return {
    name: 'calibration',
    oneIn: panel.oneIn,
    figures: [
      { label: 'Heads', form: 'count', value: new Set(rows.map(({ head }) => head)).size },
      { label: 'Parts', form: 'count', value: rows.length },
      { label: 'Outside their interval', form: 'count', value: wrong },
    ],
    columns: COLUMNS,
    rows: rowsAs(COLUMNS, rows),
    isCut: rows.length > ROWS_MAX,
  };
}

/** Equal parts by the prediction: `01` has the lowest. */
function tenths(known: string): string {
  const order = 'PARTITION BY head ORDER BY predicted, recall_id, item_id';
  const placed =
    `SELECT *, row_number() OVER (${order}) AS place, ` +
    `count(*) OVER (PARTITION BY head) AS n FROM (${known}) AS known`;
  const tenth = `floor((place - 1) * ${PARTS} / n) + 1`;
  const named = Array.from({ length: PARTS }, (_, at) => at + 1)
    .map((part) => `WHEN ${part} THEN '${String(part).padStart(2, '0')}'`)
    .join(' ');
  return `SELECT *, CASE ${tenth} ${named} END AS part FROM (${placed}) AS placed`;
}

async function byValue(asking: Asking, filter: AnalysisFilter, by: string, known: string) {
  const { dialect } = asking.store;
  const attribute = await attributeNamed(asking, filter.catalogue, by);
  return (
    'SELECT r.head AS head, r.predicted AS predicted, r.observed AS observed, v.value AS part ' +
    `FROM (${known}) AS r JOIN (${valuedVersions(filter, attribute, dialect)}) AS v ` +
    `ON v.item_id = r.item_id WHERE ${seenBy(filter.catalogue, dialect)}`
  );
}
