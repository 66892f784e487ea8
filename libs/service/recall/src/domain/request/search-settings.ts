import { invalid } from './check-source.js';
import { BEAM_WIDTH } from './recall-choices.js';
import type { SearchLimits } from './request-limits.js';
import type { RecallRequest, Search } from './request-types.js';

/** The engine's own limit (native/abi/limits.json). */
export const ROW_BUDGET_MAX = 65_536;

/** Rows of a certified search at most where nobody says: some, and some for each item wanted. */
const BUDGET_ROWS = 256;
const BUDGET_ROWS_PER_ITEM = 8;

export interface SearchMembers {
  readonly search: Search;
  /** Widths of the beam that a certified search continues as when its proof is out of reach. */
  readonly widths: readonly number[];
  /** 0: a beam. */
  readonly rowBudget: number;
}

/**
 * How a request is searched: by its `search`, as a beam where it has widths, else as is configured.
 * @throws TesseraError REQUEST_INVALID naming `widths` or `rowBudget`
 */
export function searchOf(
  request: RecallRequest,
  resultCount: number,
  limits: SearchLimits,
): SearchMembers {
  const search = request.search ?? (request.widths.length > 0 ? 'beam' : limits.defaultSearch);
  checkMembers(search, request, limits);
  return {
    search,
    widths: request.widths.length > 0 ? request.widths : [widthFor(resultCount, limits)],
    rowBudget:
      search === 'beam'
        ? 0
        : (request.rowBudget ?? rowBudgetFor(resultCount, limits.defaultRowBudget)),
  };
}

/** Each search has members of its own. */
function checkMembers(
  search: Search,
  { widths, rowBudget }: RecallRequest,
  limits: SearchLimits,
): void {
  checkWidths(widths, limits);
  if (search === 'certified' && widths.length > 0) {
    throw invalid('widths', 'none (search is certified)', `${widths.length} widths`);
  }
  if (rowBudget === undefined) return;
  if (search === 'beam') throw invalid('rowBudget', 'none (search is beam)', rowBudget);
  if (Number.isInteger(rowBudget) && rowBudget >= 1 && rowBudget <= ROW_BUDGET_MAX) return;
  throw invalid('rowBudget', `1..${ROW_BUDGET_MAX}`, rowBudget);
}

function checkWidths(widths: readonly number[], limits: SearchLimits): void {
  if (widths.length > limits.stepsMax) {
    throw invalid('widths', `at most ${limits.stepsMax} widths, one per step`, widths.length);
  }
  widths.forEach((width, index) => {
    if (Number.isInteger(width) && width >= 1 && width <= limits.widthMax) return;
    throw invalid(`widths[${index}]`, `1..${limits.widthMax}`, width);
  });
}

/** Width of every step, at least the result count: a narrower beam could not fill the answer. */
function widthFor(resultCount: number, { widthMax }: SearchLimits): number {
  return Math.min(Math.max(BEAM_WIDTH, resultCount), widthMax);
}

/** Rows of a certified search at most where the request says none. */
export function rowBudgetFor(resultCount: number, configured: number): number {
  if (configured > 0) return configured;
  return Math.min(BUDGET_ROWS + BUDGET_ROWS_PER_ITEM * resultCount, ROW_BUDGET_MAX);
}
