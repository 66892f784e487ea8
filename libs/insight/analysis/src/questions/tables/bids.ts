import type { Row } from '../../domain/analysis-store.js';
import type { Dialect } from '../../domain/dialect.js';
import type { AnalysisFilter } from '../../domain/filter.js';
import { recallsOf, seenBy, valuedVersions } from '../../domain/relations.js';
import type { TablePage } from '../../domain/table-page.js';
import { attributeNamed } from '../attribute-bounds.js';
import { type Asking, numberOf, textOf } from '../question.js';
import {
  columnsOf,
  DRAWN,
  medianStatement,
  numberOrNull,
  ROWS_MAX,
  rowsAs,
  type TableWanted,
} from './table.js';

const AD = columnsOf(['value', 'Ad', 'item']);
const VALUE = columnsOf(['value', 'Value', 'text']);
const COLUMNS = columnsOf(
  ['lost', 'Lost as the next', 'count'],
  ['ads', 'Ads that lost', 'count'],
  ['lostBid', 'Their bid', 'number'],
  ['neededBid', 'Bid that brings them in', 'number'],
  ['won', 'Places won', 'count'],
  ['wonBid', 'Bid of the winners', 'number'],
  ['critical', 'Critical bid', 'number'],
);

const BY_ITEM = 'item';

type Side = 'losers' | 'winners';

/** Bids of one side: key, item_id, any_title, own (its bid), price (needed, or critical). */
function sideStatement(
  side: Side,
  priced: string,
  { filter, versions, isByItem }: { filter: AnalysisFilter; versions: string; isByItem: boolean },
  dialect: Dialect,
): string {
  const listed = dialect.items(`catalogue_seq, ${DRAWN}, critical_bids`, `(${priced}) AS priced`);
  const recalled =
    side === 'losers'
      ? 'SELECT runner_up AS item_id, runner_up_bid AS price, catalogue_seq ' +
        `FROM (${priced}) AS priced WHERE runner_up <> ''`
      : 'SELECT item_id, critical_bids[rank] AS price, catalogue_seq ' +
        `FROM (${listed}) AS listed WHERE CASE WHEN ${DRAWN}[rank] THEN 0 ELSE 1 END = 1`;
  return (
    `SELECT ${isByItem ? 'v.item_id' : 'v.value'} AS key, v.item_id AS item_id, ` +
    'v.title AS any_title, v.amount AS own, r.price AS price ' +
    `FROM (${recalled}) AS r JOIN (${versions}) AS v ON v.item_id = r.item_id ` +
    `WHERE ${seenBy(filter.catalogue, dialect)}`
  );
}

/** Counts of a side by key, and its two medians. */
function figureStatements(rows: string, { number }: Dialect): string[] {
  const middle = (column: 'own' | 'price') => {
    const amounts = `SELECT key, ${column} AS amount FROM (${rows}) AS bid_row`;
    return `SELECT key, ${number('middle')} AS middle FROM (${medianStatement(amounts)}) AS m`;
  };
  const counted =
    `SELECT key, max(any_title) AS title, ${number('count(*)')} AS places, ` +
    `${number('count(DISTINCT item_id)')} AS ads FROM (${rows}) AS one GROUP BY key`;
  return [counted, middle('own'), middle('price')];
}

/**
 * Recalls by value whose prices are known: which values won places and at which critical bid, and
 * which were the best that was left out, with the bid that would have brought them in. Bids are
 * medians. `item` in place of an attribute tells ads apart.
 */
export async function bids(
  asking: Asking,
  filter: AnalysisFilter,
  { by, bid }: TableWanted,
): Promise<TablePage> {
  const { store, signal } = asking;
  const { dialect } = store;
  const isByItem = by === BY_ITEM;
  const attribute = await attributeNamed(asking, filter.catalogue, isByItem ? '' : by);
  const versions = valuedVersions(filter, attribute, dialect, bid);
  const priced =
    `SELECT * FROM (${recallsOf(filter, dialect)}) AS a ` +
    `WHERE ${dialect.length('critical_bids')} > 0`;
  const told = { filter, versions, isByItem };
  const figures = (['losers', 'winners'] as const).flatMap((side) =>
    figureStatements(sideStatement(side, priced, told, dialect), dialect),
  );
  const count = `SELECT ${dialect.number('count(*)')} AS recalls FROM (${priced}) AS priced`;
  const [recalls = [], ...answers] = await store.rows([count, ...figures], signal);
  const rows = rowsOf(answers, isByItem);
  const columns = [...(isByItem ? AD : VALUE), ...COLUMNS];
  const total = numberOf(recalls[0], 'recalls');
  return {
    name: 'bids',
    oneIn: 1,
    figures: [{ label: 'Recalls with prices', form: 'count', value: total }],
    columns,
    rows: rowsAs(columns, rows),
    isCut: rows.length > ROWS_MAX,
  };
}

/** Rows by key, the most losses first. */
function rowsOf(answers: readonly (readonly Row[])[], isByItem: boolean) {
  const byKey = (rows: readonly Row[] = []) =>
    new Map(rows.map((row) => [textOf(row, 'key'), row]));
  const [losers = NONE, lostBids = NONE, needed = NONE] = answers.slice(0, 3).map(byKey);
  const [winners = NONE, wonBids = NONE, critical = NONE] = answers.slice(3).map(byKey);
  const middle = (rows: ReadonlyMap<string, Row>, key: string) =>
    numberOrNull(rows.get(key), 'middle');
  return [...new Set([...losers.keys(), ...winners.keys()])]
    .map((value) => ({
      value,
      ...(isByItem && { title: textOf(losers.get(value) ?? winners.get(value), 'title') }),
      lost: numberOf(losers.get(value), 'places'),
      ads: numberOf(losers.get(value), 'ads'),
      lostBid: middle(lostBids, value),
      neededBid: middle(needed, value),
      won: numberOf(winners.get(value), 'places'),
      wonBid: middle(wonBids, value),
      critical: middle(critical, value),
    }))
    .sort((a, b) => b.lost - a.lost || b.won - a.won || (a.value < b.value ? -1 : 1));
}

const NONE: ReadonlyMap<string, Row> = new Map();
