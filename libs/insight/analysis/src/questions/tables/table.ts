import type { Row } from '../../domain/analysis-store.js';
import type { Rate } from '../../domain/answers.js';
import type { TableColumn, TableForm, TableRow } from '../../domain/table-page.js';
import { textOf } from '../question.js';

/** Rows that a page has at most. */
export const ROWS_MAX = 500;

/** Column of recalls that says which of their places were drawn. */
export const DRAWN = 'explored';

/** Attribute by which a table is told, and the one that is the bid. */
export interface TableWanted {
  /** Name of an attribute. */
  readonly by: string;
  readonly bid: string;
}

/** `name`, label and form of each column. */
export const columnsOf = (
  ...given: readonly (readonly [name: string, label: string, form: TableForm])[]
): readonly TableColumn[] => given.map(([name, label, form]) => ({ name, label, form }));

/** Rows as a table has them: their columns, numbers as numbers; NULL stays null. */
export function rowsAs(columns: readonly TableColumn[], rows: readonly Row[]): TableRow[] {
  return rows.slice(0, ROWS_MAX).map((row) => {
    const cells = columns.map(({ name, form }) => {
      const isText = form === 'text' || form === 'item';
      const value = isText ? textOf(row, name) : numberOrNull(row, name);
      return [name, value] as const;
    });
    const title = row.title === undefined ? {} : { title: textOf(row, 'title') };
    return Object.assign(Object.fromEntries(cells), title);
  });
}

export function numberOrNull(row: Row | undefined, name: string): number | null {
  const value = row?.[name];
  return value === null || value === undefined ? null : Number(value);
}

/** A rate as three cells; null without trials. */
export function rateCells(name: string, { trials, rate, low, high }: Rate): TableRow {
  const told = (value: number) => (trials === 0 ? null : value);
  return { [name]: told(rate), [`${name}Low`]: told(low), [`${name}High`]: told(high) };
}

/** The lower one of the two in the middle, so that every database finds the same. */
export function median(values: readonly number[]): number | null {
  const ascending = [...values].sort((a, b) => a - b);
  return ascending[Math.floor((ascending.length - 1) / 2)] ?? null;
}

/** Statement of the median by key, over rows with `key` and `amount`. */
export const medianStatement = (rows: string) =>
  'SELECT key, max(CASE WHEN place = floor((n + 1) / 2) THEN amount END) AS middle FROM ' +
  '(SELECT key, amount, row_number() OVER (PARTITION BY key ORDER BY amount) AS place, ' +
  `count(*) OVER (PARTITION BY key) AS n FROM (${rows}) AS one ` +
  'WHERE amount IS NOT NULL) AS placed GROUP BY key';
