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
  /** Fewer of the same users, for overlaps, which are of users alone. */
  readonly overlap: PanelFilter;
}

/** Answered recalls of a filter, and those of them that name a user. */
export interface Answered {
  readonly recalls: number;
  readonly ofUsers: number;
}

/**
 * The filter for questions that read lists of items, which take a time by their number: all of the
 * recalls, or those of one user in so many. A panel is the same users at all times, and has no
 * recall without a user.
 */
export function panelsOf(
  { panelRecalls = PANEL_RECALLS }: Asking,
  filter: AnalysisFilter,
  { recalls, ofUsers }: Answered,
): Panels {
  const oneIn = (recallsMax: number) => Math.max(1, Math.ceil(ofUsers / recallsMax));
  const isPanel = recalls > panelRecalls;
  return {
    whole: { ...filter, oneIn: isPanel ? Math.max(2, oneIn(panelRecalls)) : 1 },
    overlap: { ...filter, oneIn: oneIn(panelRecalls / OVERLAP_COST) },
  };
}

export async function countedPanel(asking: Asking, filter: AnalysisFilter): Promise<PanelFilter> {
  const { dialect } = asking.store;
  const count =
    `SELECT ${dialect.number('count(*)')} AS recalls, ` +
    `${dialect.number('sum(CASE WHEN user_hash <> 0 THEN 1 ELSE 0 END)')} AS of_users ` +
    `FROM (${recallsOf(filter, dialect)}) AS r WHERE code = 'OK'`;
  const [rows = []] = await asking.store.rows([count], asking.signal);
  return panelsOf(asking, filter, answeredOf(rows)).whole;
}

/** Answer of rows with parts of them. */
export function answeredOf(rows: readonly Row[]): Answered {
  const sum = (name: string) => rows.reduce((all, row) => all + numberOf(row, name), 0);
  return { recalls: sum('recalls'), ofUsers: sum('of_users') };
}
