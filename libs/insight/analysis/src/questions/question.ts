import type { AnalysisStore, Row } from '../domain/analysis-store.js';
import type { AnalysisFilter } from '../domain/filter.js';
import type { OutcomeActions } from '../domain/outcomes.js';
import { recallsOf } from '../domain/relations.js';

/** The database that answers, and what its answers depend on. */
export interface Asking {
  readonly store: AnalysisStore;
  readonly actions: OutcomeActions;
  readonly signal?: AbortSignal | undefined;
  /** Recalls that a panel has at most, about; left out: 50,000. */
  readonly panelRecalls?: number | undefined;
}

export const numberOf = (row: Row | undefined, name: string) => Number(row?.[name] ?? 0);
export const textOf = (row: Row | undefined, name: string) => String(row?.[name] ?? '');

/** Recalls that a panel of users has at most, about. */
const PANEL_RECALLS = 50_000;

/** To compare two lists takes longer than to read one. */
const OVERLAP_COST = 2.5;

export type PanelFilter = AnalysisFilter & { readonly oneIn: number };

export interface Panels {
  readonly whole: PanelFilter;
  /** Fewer of the same users, for overlaps. */
  readonly overlap: PanelFilter;
}

/**
 * The filter for questions that read lists of items, which take a time by their number: all of the
 * recalls, or those of one user in so many. A panel is the same users at all times.
 * @param recalls answered ones of users
 */
export function panelsOf(
  { panelRecalls = PANEL_RECALLS }: Asking,
  filter: AnalysisFilter,
  recalls: number,
): Panels {
  const panel = (recallsMax: number) => ({
    ...filter,
    oneIn: Math.max(1, Math.ceil(recalls / recallsMax)),
  });
  return { whole: panel(panelRecalls), overlap: panel(panelRecalls / OVERLAP_COST) };
}

export async function countedPanel(asking: Asking, filter: AnalysisFilter): Promise<PanelFilter> {
  const { store, signal } = asking;
  const count =
    `SELECT ${store.dialect.number('count(*)')} AS recalls ` +
    `FROM (${recallsOf(filter, store.dialect)}) AS r WHERE code = 'OK' AND user_hash <> 0`;
  const [rows = []] = await store.rows([count], signal);
  return panelsOf(asking, filter, numberOf(rows[0], 'recalls')).whole;
}
