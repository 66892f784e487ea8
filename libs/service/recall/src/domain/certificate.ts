/**
 * How items are found (docs/concepts/search.md). `certified`: until it is proved that no other item
 * is better, or a budget of rows is spent; `beam`: the best of each step go on.
 */
export const SEARCHES = ['certified', 'beam'] as const;
export type Search = (typeof SEARCHES)[number];

/** The part of an answer that says how it was searched, and what that proves. */
export interface Certificate {
  readonly search: Search;
  /** No live and eligible item that the answer leaves out is better than those in it. */
  readonly certified: boolean;
  /**
   * The best score that an item missed by the search could have; left out where the answer is
   * certified, and where nothing is known.
   */
  readonly gap?: number;
  /** Rows of beams that were computed. */
  readonly rows: number;
}

export function certificateOf(
  search: Search,
  { certified, gap, rows }: Omit<Certificate, 'search'>,
): Certificate {
  if (certified || gap === undefined || !Number.isFinite(gap)) return { search, certified, rows };
  return { search, certified, gap, rows };
}

/** Of an answer that the engine was not asked for. */
export function uncertified(search: Search): Certificate {
  return { search, certified: false, rows: 0 };
}
