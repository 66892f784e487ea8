import type { Dialect } from '../../domain/dialect.js';
import type { AnalysisFilter } from '../../domain/filter.js';
import { outcomePairs } from '../../domain/outcomes.js';
import { listedVersions, recallsOf, seenBy } from '../../domain/relations.js';
import type { TablePage } from '../../domain/table-page.js';
import { attributeNamed } from '../attribute-bounds.js';
import { type Asking, countedPanel, numberOf, textOf } from '../question.js';
import { columnsOf, numberOrNull, ROWS_MAX, rowsAs, type TableWanted } from './table.js';

const COLUMNS = columnsOf(
  ['value', 'Value', 'text'],
  ['impressions', 'Impressions', 'count'],
  ['clicks', 'Clicks', 'count'],
  ['spend', 'Spend', 'number'],
  ['perClick', 'Spend of a click', 'number'],
  ['pace', 'Pace now', 'number'],
  ['lowestPace', 'Lowest pace', 'number'],
  ['paceChanges', 'Changes of pace', 'count'],
);

/** Bids of the clicks by value of an attribute, and its paces. */
export async function spend(
  asking: Asking,
  every: AnalysisFilter,
  { by, bid }: TableWanted,
): Promise<TablePage> {
  const { store, actions, signal } = asking;
  const { dialect } = store;
  const panel = await countedPanel(asking, every);
  const attribute = await attributeNamed(asking, panel.catalogue, by);
  const paid =
    'SELECT p.impression AS impression, p.click AS click, v.listed AS listed, ' +
    'CASE WHEN p.click = 1 THEN coalesce(v.amount, 0) ELSE 0 END AS bid ' +
    `FROM (${outcomePairs(panel, actions, dialect)}) AS p ` +
    `JOIN (${recallsOf(panel, dialect)}) AS r ON r.recall_id = p.recall_id ` +
    `JOIN (${listedVersions(panel, attribute, dialect, bid)}) AS v ON v.item_id = p.item_id ` +
    `WHERE ${seenBy(panel.catalogue, dialect)}`;
  // A pace holds until the next one, so those of before the span count as well.
  const paces =
    `SELECT value, ${dialect.newest('pace', 'time')} AS pace_now, min(pace) AS lowest, ` +
    `count(*) AS changes FROM change WHERE op = 'set_pace' ` +
    `AND catalogue = ${dialect.text(panel.catalogue)} AND attribute = ${dialect.text(by)} ` +
    `AND time < ${dialect.time(panel.toMs)} GROUP BY value`;
  const [[all, ...found] = [], paced = []] = await store.rows(
    [
      sums(paid, dialect),
      `SELECT value, ${dialect.number('pace_now')} AS pace, ` +
        `${dialect.number('lowest')} AS lowestPace, ` +
        `${dialect.number('changes')} AS paceChanges FROM (${paces}) AS paces`,
    ],
    signal,
  );
  const paceOf = new Map(paced.map((row) => [textOf(row, 'value'), row]));
  const rows = found.map((row) => {
    const own = paceOf.get(textOf(row, 'value'));
    const [clicks, spent] = [numberOf(row, 'clicks'), numberOf(row, 'spend')];
    return Object.assign({}, row, {
      perClick: clicks === 0 ? null : spent / clicks,
      pace: numberOrNull(own, 'pace'),
      lowestPace: numberOrNull(own, 'lowestPace'),
      paceChanges: numberOf(own, 'paceChanges'),
    });
  });
  return {
    name: 'spend',
    oneIn: panel.oneIn,
    figures: [
      { label: 'Spend', form: 'number', value: numberOf(all, 'spend') },
      { label: 'Clicks', form: 'count', value: numberOf(all, 'clicks') },
      { label: 'Paced now', form: 'count', value: rows.filter(({ pace }) => isLow(pace)).length },
    ],
    columns: COLUMNS,
    rows: rowsAs(COLUMNS, rows),
    isCut: rows.length > ROWS_MAX,
  };
}

/** Sums of all pairs, then by value: an item with several counts for each, and once in all. */
function sums(paid: string, { number, each }: Dialect): string {
  const valued = each('impression, click, bid', 'listed', 'value', 'paid');
  const all =
    `${number('sum(impression)')} AS impressions, ${number('sum(click)')} AS clicks, ` +
    `${number('sum(bid)')} AS spend`;
  return (
    `WITH paid AS (${paid}) SELECT * FROM (SELECT 1 AS is_all, '' AS value, ${all} FROM paid ` +
    `UNION ALL SELECT 0 AS is_all, value, ${all} FROM (${valued}) AS valued ` +
    'GROUP BY value) AS told ORDER BY is_all DESC, spend DESC, value'
  );
}

const isLow = (pace: number | null) => pace !== null && pace < 1;
