/** Valuations, as requests ask for them and answers tell them (docs/concepts/value.md). */

import type { Catalogue, Formula, Prices, ValuationUse } from '@tessera/engine';
import type { AppliedValuation } from '../answer/answer-types.js';
import { invalid } from './check-source.js';
import type { Valuation } from './request-types.js';

/** Member of a request that names a valuation: a search knows no heads. */
export type ValuationPath = 'valuation' | 'rank.valuation';

/** @throws TesseraError REQUEST_INVALID where there is none of the name, or none for this place */
export function formulaOf(
  { name }: Valuation,
  all: readonly Formula[],
  path: ValuationPath,
): Formula {
  const known = path === 'rank.valuation' ? all : all.filter((one) => one.headTerms.length === 0);
  const formula = known.find((one) => one.name === name);
  if (formula !== undefined) return formula;
  const names = known.map((one) => one.name).join(', ');
  const expected = names === '' ? 'none (recall.valuations names none)' : `one of ${names}`;
  const got = all.some((one) => one.name === name) ? ', which has terms of heads' : '';
  throw invalid(`${path}.name`, expected, `'${name.slice(0, 80)}'${got}`);
}

/** Terms of a formula, head terms last. */
const allTerms = ({ terms, headTerms }: Formula) => [...terms, ...headTerms];

/** In the order of the engine's terms, which that of an object's members need not be. */
export const termNames = (valuation: Valuation, known: readonly Formula[]): readonly string[] =>
  formulaOf(valuation, known, 'valuation').terms.map(({ name }) => name);

/** NaN stands for a number that the request leaves to the formula. */
function finite(path: string, value: number | undefined): number {
  if (value === undefined) return Number.NaN;
  if (Number.isFinite(value)) return value;
  throw invalid(path, 'a finite number', String(value));
}

/**
 * The valuation of a request, as the engine takes it; undefined where it has none.
 * @throws TesseraError REQUEST_INVALID with the path of the member at fault
 */
export function valuationUse(
  valuation: Valuation | undefined,
  known: readonly Formula[],
  at: ValuationPath = 'valuation',
): ValuationUse | undefined {
  if (valuation === undefined) return undefined;
  const formula = formulaOf(valuation, known, at);
  const names = allTerms(formula).map(({ name }) => name);
  const scoreWeight = finite(`${at}.scoreWeight`, valuation.scoreWeight);
  if (scoreWeight < 0) throw invalid(`${at}.scoreWeight`, '0 or more', scoreWeight);
  const weights = Object.entries(valuation.weights).map(([term, given]) => {
    const path = `${at}.weights.${term.slice(0, 80)}`;
    if (!names.includes(term)) {
      throw invalid(path, `a term of ${valuation.name} (${names.join(', ')})`, 'another name');
    }
    const weight = finite(path, given);
    if (term === formula.bid && weight <= 0) {
      throw invalid(path, 'above 0, as it is the bid', weight);
    }
    return { term, weight };
  });
  const floor = finite(`${at}.floor`, valuation.floor);
  return { name: valuation.name, scoreWeight, floor, weights };
}

/** Facts of a catalogue with its valuations, for those who choose one. */
export function valuedSummary({ summary, valuations: all }: Catalogue) {
  const valuations = all.map(({ name, headTerms }) => {
    return { name, hasHeads: headTerms.length > 0 };
  });
  return Object.assign({}, summary, { valuations });
}

/** Knowledge of the items behind an answer by value. */
export interface ValueProof {
  /** Value of the best item left out; not finite: none, or not proved. */
  readonly bestLeftOut: number;
  readonly prices: Prices | 'popular' | 'ranked';
}

export const UNPROVED: ValueProof = { bestLeftOut: Number.NaN, prices: 'uncertified' };

/** Reason why an order that heads make has no prices. */
export const BY_HEADS: ValueProof = { bestLeftOut: Number.NaN, prices: 'ranked' };

export function appliedValuation(
  valuation: Valuation,
  known: readonly Formula[],
  { bestLeftOut, prices }: ValueProof,
): AppliedValuation {
  const formula = formulaOf(valuation, known, 'rank.valuation');
  const own = new Map(Object.entries(valuation.weights));
  const weights = allTerms(formula).map(({ name, weight }) => [name, own.get(name) ?? weight]);
  const floor = valuation.floor ?? formula.floor;
  return {
    name: formula.name,
    scoreWeight: valuation.scoreWeight ?? formula.scoreWeight,
    weights: Object.fromEntries(weights),
    ...(Number.isFinite(floor) && { floor }),
    ...(Number.isFinite(bestLeftOut) && { bestLeftOut }),
    noPrices: formula.bid === '' ? 'no-bid' : prices === 'known' ? '' : prices,
  };
}
