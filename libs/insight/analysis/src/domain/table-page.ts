/** Answers that are a table: its columns say how pages write them. */

/** `item`: an item ID, the row's `title` beside it; `time`: milliseconds since 1970. */
export type TableForm = 'text' | 'item' | 'time' | 'count' | 'share' | 'number' | 'hours';

/** Questions whose answer is a table. */
export const TABLE_NAMES = ['bids', 'spend', 'arrivals', 'exploration', 'calibration'] as const;
export type TableName = (typeof TABLE_NAMES)[number];

export interface TableColumn {
  readonly name: string;
  readonly label: string;
  readonly form: TableForm;
}

interface TableFigure {
  readonly label: string;
  readonly form: TableForm;
  /** Null where there is nothing to tell from. */
  readonly value: number | null;
}

export type TableRow = Readonly<Record<string, string | number | null>>;

export interface TablePage {
  readonly name: TableName;
  /** Counts are of a panel: one user in so many; 1: of all recalls. */
  readonly oneIn: number;
  readonly figures: readonly TableFigure[];
  readonly columns: readonly TableColumn[];
  readonly rows: readonly TableRow[];
  /** There are more rows. */
  readonly isCut: boolean;
}
