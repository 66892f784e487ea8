import type { ReachPage, UnreachedPage } from '../domain/answers.js';
import { wholeSpan } from '../domain/buckets.js';
import type { AnalysisFilter } from '../domain/filter.js';
import {
  attributesFit,
  exposures,
  liveItems,
  recallsOf,
  valuedVersions,
} from '../domain/relations.js';
import { type Asking, countedPanel, numberOf, textOf } from './question.js';

const HOUR_MS = 3_600_000;

/** Recalls that had an item, or an item with a value of an attribute, before and after a time. */
export async function reach(
  asking: Asking,
  filter: AnalysisFilter,
  { by, atMs, limit }: { readonly by: string; readonly atMs: number; readonly limit: number },
): Promise<ReachPage> {
  const { store, signal } = asking;
  const { dialect } = store;
  const { number } = dialect;
  const { fromMs, toMs } = filter;
  const counted = by === 'item' ? { ...filter, oneIn: 1 } : await countedPanel(asking, filter);
  const answered = `SELECT * FROM (${recallsOf(counted, dialect)}) AS r WHERE code = 'OK'`;
  const isAfter = `CASE WHEN time >= ${dialect.time(atMs)} THEN 1 ELSE 0 END`;
  const counts =
    by === 'item'
      ? await countsOfItems(store, filter, atMs)
      : countsOfValues(answered, isAfter, by, filter, dialect);
  const totals =
    `SELECT ${number(`sum(${isAfter})`)} AS after, ${number('count(*)')} AS recalls ` +
    `FROM (${answered}) AS r`;
  const [total, found = []] = await store.rows([totals, counts], signal);
  const recallsAfter = numberOf(total?.[0], 'after');
  const recallsBefore = numberOf(total?.[0], 'recalls') - recallsAfter;
  const share = (count: number, of: number) => (of === 0 ? 0 : count / of);
  const rows = found
    .map((row) => {
      const [before, after] = [numberOf(row, 'before'), numberOf(row, 'after')];
      const shares = {
        shareBefore: share(before, recallsBefore),
        shareAfter: share(after, recallsAfter),
      };
      return Object.assign(
        { key: textOf(row, 'key'), title: textOf(row, 'title'), before, after },
        shares,
      );
    })
    .map((row) => ({ row, shift: Math.abs(row.shareAfter - row.shareBefore) }))
    .sort((a, b) => b.shift - a.shift || (a.row.key < b.row.key ? -1 : 1))
    .map(({ row }) => row);
  const span = { by, fromMs, atMs, toMs, oneIn: counted.oneIn, recallsBefore, recallsAfter };
  return Object.assign(span, { rows: rows.slice(0, limit), isCut: rows.length > limit });
}

async function countsOfItems(store: Asking['store'], filter: AnalysisFilter, atMs: number) {
  const { dialect } = store;
  const { number } = dialect;
  const { fromMs, toMs } = filter;
  const hours = await store.hours();
  const part = (from: number, to: number) => {
    const span = { ...filter, fromMs: from, toMs: to };
    return exposures(span, wholeSpan(span), hours, dialect);
  };
  const parts = [
    `SELECT item_id, n AS earlier, 0 AS later FROM (${part(fromMs, atMs)}) AS earlier_part`,
    `SELECT item_id, 0 AS earlier, n AS later FROM (${part(atMs, toMs)}) AS later_part`,
  ];
  const items = liveAt(filter, store);
  return (
    `SELECT c.item_id AS key, max(v.title) AS title, ${number('sum(c.earlier)')} AS before, ` +
    `${number('sum(c.later)')} AS after FROM (${parts.join(' UNION ALL ')}) AS c ` +
    `JOIN (${items}) AS v ON v.item_id = c.item_id GROUP BY c.item_id`
  );
}

/** Items by what they were last, live or not. */
function liveAt(filter: AnalysisFilter, { dialect }: Asking['store']): string {
  const at = dialect.time(filter.toMs);
  const title = dialect.newest('title', 'from_seq');
  const attributes = dialect.newest('attributes', 'from_seq');
  return (
    `SELECT item_id, title, attributes FROM (SELECT item_id, ${title} AS title, ` +
    `${attributes} AS attributes FROM item_version WHERE ` +
    `catalogue = ${dialect.text(filter.catalogue)} AND from_time <= ${at} GROUP BY item_id) ` +
    `AS last_version WHERE ${attributesFit(filter, dialect, 'attributes')}`
  );
}

function countsOfValues(
  answered: string,
  isAfter: string,
  by: string,
  filter: AnalysisFilter,
  dialect: Asking['store']['dialect'],
): string {
  const { number } = dialect;
  const columns = `${isAfter} AS later, recall_id, catalogue, catalogue_seq`;
  const items = dialect.items(columns, `(${answered}) AS answered_recall`);
  const valued =
    `SELECT DISTINCT i.later AS later, i.recall_id AS recall_id, ` +
    `v.value AS value FROM (${items}) AS i JOIN (${valuedVersions(filter, by, dialect)}) AS v ` +
    'ON v.catalogue = i.catalogue AND v.item_id = i.item_id ' +
    'WHERE v.from_seq <= i.catalogue_seq AND i.catalogue_seq < v.to_seq';
  return (
    `SELECT value AS key, '' AS title, ${number('sum(1 - later)')} AS before, ` +
    `${number('sum(later)')} AS after FROM (${valued}) AS valued GROUP BY value`
  );
}

/** Items that recalls of the span could have had and none had, the most eligible first. */
export async function unreached(
  { store, signal }: Asking,
  filter: AnalysisFilter,
  limit: number,
): Promise<UnreachedPage> {
  const { dialect } = store;
  const { number } = dialect;
  const { catalogue } = filter;
  const answered = `SELECT * FROM (${recallsOf(filter, dialect)}) AS r WHERE code = 'OK'`;
  const hourOf = (column: string) => dialect.quotient(dialect.ms(column), HOUR_MS);
  const asked =
    `SELECT predicate_id, ${hourOf('time')} AS hour_number, count(*) AS recalls ` +
    `FROM (${answered}) AS answered_recall GROUP BY predicate_id, hour_number`;
  const evaluated =
    `SELECT predicate_id, ${hourOf('time')} AS hour_number, ` +
    `${dialect.newest('item_ids', 'catalogue_seq')} AS item_ids FROM predicate ` +
    `WHERE catalogue = ${dialect.text(catalogue)} GROUP BY predicate_id, hour_number`;
  const known =
    'SELECT a.recalls AS recalls, p.item_ids AS item_ids, p.predicate_id AS predicate_id ' +
    `FROM (${asked}) AS a JOIN (${evaluated}) AS p ON p.predicate_id = a.predicate_id ` +
    'AND p.hour_number = a.hour_number';
  const live = liveItems(filter, dialect);
  const sum = 'SELECT sum(recalls) AS free_recalls';
  const free = `${sum} FROM (${asked}) AS free WHERE predicate_id = ''`;
  const had = exposures(filter, wholeSpan(filter), await store.hours(), dialect);
  const listed = dialect.items('recalls', `(${known}) AS known`);
  const eligible =
    `SELECT item_id, recalls FROM (${listed}) AS listed ` +
    `UNION ALL SELECT l.item_id AS item_id, f.free_recalls AS recalls FROM (${live}) AS l ` +
    `CROSS JOIN (${free}) AS f`;
  const rows =
    'SELECT e.item_id AS item_id, max(l.title) AS title, sum(e.recalls) AS eligible ' +
    `FROM (${eligible}) AS e JOIN (${live}) AS l ON l.item_id = e.item_id ` +
    `WHERE e.item_id NOT IN (SELECT item_id FROM (${had}) AS had) GROUP BY e.item_id`;
  const answers = await store.rows(
    [
      `SELECT item_id, title, ${number('eligible')} AS eligible, ` +
        `${number('count(*) OVER ()')} AS total FROM (${rows}) AS missed ` +
        `WHERE eligible > 0 ORDER BY eligible DESC, item_id LIMIT ${limit}`,
      `SELECT ${number('sum(recalls)')} AS asked_recalls, ` +
        `${number("sum(CASE WHEN predicate_id = '' THEN recalls ELSE 0 END)")} AS free ` +
        `FROM (${asked}) AS asked`,
      `SELECT ${number('sum(recalls)')} AS asked_recalls FROM (${known}) AS known`,
    ],
    signal,
  );
  const [missed = []] = answers;
  const [all, understood] = answers.slice(1).map(([row]) => row);
  const recalls = numberOf(all, 'asked_recalls');
  return {
    items: missed.map((row) => ({
      itemId: textOf(row, 'item_id'),
      title: textOf(row, 'title'),
      eligibleRecalls: numberOf(row, 'eligible'),
    })),
    total: numberOf(missed[0], 'total'),
    recalls,
    unknownRecalls: recalls - numberOf(all, 'free') - numberOf(understood, 'asked_recalls'),
  };
}
