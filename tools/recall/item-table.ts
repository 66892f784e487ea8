import { readFile } from 'node:fs/promises';
import { parseValuations } from '@tessera/catalogue';
import type { Formula, Term } from '@tessera/engine';
import type { RecallAnswer, RecalledItem, RecallRequest } from '@tessera/recall';
import { type Column, table } from '../terminal/table.js';

interface ItemColumn extends Column {
  readonly of: (item: RecalledItem) => string;
}

export const number = (value: number | undefined) => value?.toFixed(4) ?? '-';
const ITEM_COLUMNS: readonly ItemColumn[] = [
  { name: 'rank', right: true, of: ({ rank }) => String(rank) },
  { name: 'item', right: true, of: ({ itemId }) => itemId },
  { name: 'SID', of: ({ sid }) => sid.join(',') },
  { name: 'score', right: true, of: ({ score }) => number(score) },
];
const TITLE: ItemColumn = { name: 'title', of: ({ title }) => title };

/** The formula that a request names, of a file; undefined: it names none, or the file has none. */
export async function formulaAsked(
  { valuation }: RecallRequest,
  path: string,
): Promise<Formula | undefined> {
  if (valuation === undefined || path === '') return undefined;
  const all = parseValuations(await readFile(path, 'utf8'), path);
  return all.find(({ name }) => name === valuation.name);
}

const bidAttribute = ({ terms, bid }: Formula) => terms.find(({ name }) => name === bid)?.attribute;

/** A request whose items carry their bid: their terms have its logarithm, or what else. */
export function withBid(request: RecallRequest, formula: Formula | undefined): RecallRequest {
  const attribute = formula && bidAttribute(formula);
  return attribute === undefined ? request : { ...request, attributes: [attribute] };
}

export function itemTable(answer: RecallAnswer, formula: Formula | undefined): string {
  const columns = [...ITEM_COLUMNS, ...extraColumns(answer, formula), TITLE];
  return table(
    columns,
    answer.items.map((item) => columns.map(({ of }) => of(item))),
  );
}

/** Values of the items, their draw, and what heads say of them. */
function extraColumns(
  { valuation, exploration, ranking }: RecallAnswer,
  formula: Formula | undefined,
): readonly ItemColumn[] {
  const drawn: readonly ItemColumn[] = [
    { name: 'drawn', of: ({ explored }) => (explored ? 'yes' : '') },
    { name: 'propensity', right: true, of: ({ propensity }) => number(propensity) },
  ];
  const ranked: readonly ItemColumn[] = [
    { name: 'recalled', right: true, of: (item) => String(item.ranking?.recallRank ?? '-') },
    ...(ranking?.heads ?? []).map((name) => ({
      name,
      right: true,
      of: (item: RecalledItem) => number(item.ranking?.heads[name]),
    })),
    { name: 'ranked value', right: true, of: (item) => number(item.ranking?.value?.value) },
  ];
  const valued = valuation ? valueColumns(Object.keys(valuation.weights), formula) : [];
  return [...valued, ...(exploration ? drawn : []), ...(ranking ? ranked : [])];
}

/** A bid and a critical bid are in the unit of bids; a term is named for what it does to it. */
function valueColumns(
  terms: readonly string[],
  formula: Formula | undefined,
): readonly ItemColumn[] {
  const attribute = formula && bidAttribute(formula);
  const bid: ItemColumn = {
    name: 'bid',
    right: true,
    of: ({ attributes }) => {
      const { [attribute ?? '']: value } = JSON.parse(attributes || '{}') as Record<string, number>;
      return number(value);
    },
  };
  const termOf = (name: string) => formula?.terms.find((term) => term.name === name);
  return [
    { name: 'value', right: true, of: ({ value }) => number(value?.value) },
    ...terms.map((name) => ({
      name: termText(name, termOf(name)),
      right: true,
      of: ({ value }: RecalledItem) => number(value?.terms[name]),
    })),
    ...(attribute === undefined ? [] : [bid]),
    { name: 'critical bid', right: true, of: ({ value }) => number(value?.criticalBid) },
  ];
}

function termText(name: string, term: Term | undefined): string {
  if (term === undefined) return name;
  const of = term.function === 'identity' ? term.attribute : `${term.function}(${term.attribute})`;
  return `term ${term.weight === 1 ? of : `${term.weight} x ${of}`}`;
}
