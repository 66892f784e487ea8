import { MILLISECONDS_PER_DAY, MILLISECONDS_PER_HOUR } from '@tessera/units';
import type { Dialect } from '../../domain/dialect.js';
import type { AnalysisFilter } from '../../domain/filter.js';
import { outcomePairs } from '../../domain/outcomes.js';
import { attributesFit } from '../../domain/relations.js';
import type { TablePage } from '../../domain/table-page.js';
import { type Asking, countedPanel, numberOf } from '../question.js';
import { columnsOf, median, numberOrNull, ROWS_MAX, rowsAs } from './table.js';

const COLUMNS = columnsOf(
  ['item', 'Ad', 'item'],
  ['bornMs', 'Began', 'time'],
  ['hours', 'Until the first impression', 'hours'],
  ['impressions', 'Impressions, first day', 'count'],
  ['clicks', 'Clicks, first day', 'count'],
  ['share', 'Share of all impressions', 'share'],
);

/** Items whose first version began in the span: those of the first listing were there before. */
function bornStatement(filter: AnalysisFilter, dialect: Dialect): string {
  const { fromMs, toMs } = filter;
  const own = `catalogue = ${dialect.text(filter.catalogue)}`;
  const fits = attributesFit(filter, dialect, 'attributes');
  const every =
    `SELECT item_id, min(from_seq) AS born_seq, ${dialect.ms('min(from_time)')} AS born_ms, ` +
    `${dialect.newest('title', 'from_seq')} AS any_title, ` +
    `max(CASE WHEN ${fits} THEN 1 ELSE 0 END) AS is_fitting ` +
    `FROM item_version WHERE ${own} GROUP BY item_id`;
  return (
    `SELECT item_id, born_ms, any_title FROM (${every}) AS every_item WHERE is_fitting = 1 ` +
    `AND born_ms >= ${fromMs} AND born_ms < ${toMs} ` +
    `AND born_seq > (SELECT min(from_seq) FROM item_version WHERE ${own})`
  );
}

/** The first day of ads that began in the span, as far as the span has it. */
export async function arrivals(asking: Asking, every: AnalysisFilter): Promise<TablePage> {
  const { store, actions, signal } = asking;
  const { dialect } = store;
  const { number } = dialect;
  const panel = await countedPanel(asking, every);
  const pairs =
    `SELECT item_id, ${dialect.ms('time')} AS time_ms, impression, click ` +
    `FROM (${outcomePairs(panel, actions, dialect)}) AS pairs`;
  const isFirstDay = `p.time_ms < b.born_ms + ${MILLISECONDS_PER_DAY}`;
  const sum = (what: string, name: string) =>
    `${number(`sum(CASE WHEN p.${what} = 1 AND ${isFirstDay} THEN 1 ELSE 0 END)`)} AS ${name}`;
  const firstMs = number('min(CASE WHEN p.impression = 1 THEN p.time_ms END)');
  const [found = [], all = []] = await store.rows(
    [
      'SELECT b.item_id AS item, max(b.any_title) AS title, ' +
        `${number('b.born_ms')} AS bornMs, ${firstMs} AS firstMs, ` +
        `${sum('impression', 'impressions')}, ${sum('click', 'clicks')} ` +
        `FROM (${bornStatement(panel, dialect)}) AS b LEFT JOIN (${pairs}) AS p ` +
        'ON p.item_id = b.item_id GROUP BY b.item_id, b.born_ms ORDER BY bornMs DESC, item',
      `SELECT ${number('sum(impression)')} AS impressions FROM (${pairs}) AS pairs`,
    ],
    signal,
  );
  const total = numberOf(all[0], 'impressions');
  const rows = found.map((row) => {
    const first = numberOrNull(row, 'firstMs');
    const hours =
      first === null ? null : Math.max(0, first - numberOf(row, 'bornMs')) / MILLISECONDS_PER_HOUR;
    const share = total === 0 ? null : numberOf(row, 'impressions') / total;
    return Object.assign({}, row, { hours, share });
  });
  const waits = rows.flatMap(({ hours }) => (hours === null ? [] : [hours]));
  const shown = rows.reduce((sum, row) => sum + numberOf(row, 'impressions'), 0);
  return {
    name: 'arrivals',
    oneIn: panel.oneIn,
    figures: [
      { label: 'New ads', form: 'count', value: rows.length },
      { label: 'Shown so far', form: 'count', value: waits.length },
      { label: 'Until the first impression', form: 'hours', value: median(waits) },
      { label: 'Share of all impressions', form: 'share', value: total ? shown / total : null },
    ],
    columns: COLUMNS,
    rows: rowsAs(COLUMNS, rows),
    isCut: rows.length > ROWS_MAX,
  };
}
