import { visible } from '@tessera/errors';

/** Width of a title column; longer texts are cut. */
const CELL_LENGTH_MAX = 80;

export interface Column {
  readonly name: string;
  readonly right?: boolean;
  /** Its texts are shown to their end, however long; for the last column. */
  readonly isWhole?: boolean;
}

/** A table in columns of equal width, with a header line. */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map((text, at) => shown(text, columns[at]?.isWhole)));
  const widths = columns.map((column, at) =>
    Math.max(column.name.length, ...cells.map((row) => [...(row[at] ?? '')].length)),
  );
  const line = (row: readonly string[]) =>
    row.map((cell, at) => pad(cell, widths[at] ?? 0, columns[at]?.right === true)).join('  ');
  const header = columns.map((column) => column.name);
  const rule = widths.map((width) => '-'.repeat(width));
  return [header, rule, ...cells].map((row) => line(row).trimEnd()).join('\n');
}

function shown(text: string, isWhole = false): string {
  const clean = [...visible(text.replace(/\s+/g, ' '))];
  return isWhole || clean.length <= CELL_LENGTH_MAX
    ? clean.join('')
    : `${clean.slice(0, CELL_LENGTH_MAX - 1).join('')}…`;
}

function pad(text: string, width: number, right: boolean): string {
  const space = ' '.repeat(Math.max(width - [...text].length, 0));
  return right ? space + text : text + space;
}
