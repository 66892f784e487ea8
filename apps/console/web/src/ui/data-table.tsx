import { Box, Button, Group, Table, Text, UnstyledButton } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { formatCount } from './format.js';
import { csvOf, fileName, saveFile } from './save.js';
import { SaveButton } from './save-button.js';

export interface Column<Row> {
  readonly key: string;
  readonly label: string;
  /** Unit behind the label. */
  readonly unit?: string;
  readonly isNumber?: boolean;
  /** Rows are sorted by this; left out: they are not by this column. */
  readonly value?: (row: Row) => number | string | undefined;
  /** Left out: the value. */
  readonly cell?: (row: Row) => ReactNode;
}

/** Numbers by which rows are sorted, as `format` writes them. */
export const numberColumn = <Row,>(
  key: string,
  label: string,
  value: (row: Row) => number,
  format: (value: number) => string,
  unit?: string,
): Column<Row> => ({
  key,
  label,
  isNumber: true,
  value,
  cell: (row) => format(value(row)),
  ...(unit !== undefined && { unit }),
});

export interface Order {
  readonly key: string;
  readonly isDescending: boolean;
}

type Value = number | string | undefined;

function compare(a: Value, b: Value): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return String(a).localeCompare(String(b), undefined, { numeric: true });
}

/** In the order of a column; rows without a value come last either way. */
function sortedBy<Row>(
  rows: readonly Row[],
  value: (row: Row) => Value,
  isDescending: boolean,
): readonly Row[] {
  const sign = isDescending ? -1 : 1;
  return [...rows].sort((left, right) => {
    const [a, b] = [value(left), value(right)];
    if (a === undefined || b === undefined)
      return Number(a === undefined) - Number(b === undefined);
    return sign * compare(a, b);
  });
}

function inOrder<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  order: Order | undefined,
): readonly Row[] {
  const value = columns.find(({ key }) => key === order?.key)?.value;
  if (order === undefined || value === undefined) return rows;
  return sortedBy(rows, value, order.isDescending);
}

/** All rows as they are sorted, by the values of their columns. */
function saveTable<Row>(label: string, rows: readonly Row[], columns: readonly Column<Row>[]) {
  const valued = columns.filter(({ value }) => value !== undefined);
  const head = valued.map(headOf);
  const cells = rows.map((row) => valued.map(({ value }) => value?.(row)));
  saveFile(new Blob([csvOf([head, ...cells])], { type: 'text/csv' }), fileName(label, 'csv'));
}

const headOf = ({ label, unit }: Pick<Column<never>, 'label' | 'unit'>) =>
  unit === undefined ? label : `${label}, ${unit}`;

function Heading<Row>({
  column,
  order,
  onOrder,
}: {
  column: Column<Row>;
  order: Order | undefined;
  onOrder: (order: Order) => void;
}) {
  const { key, isNumber = false, value } = column;
  const text = headOf(column);
  const mine = order?.key === key ? order : undefined;
  const sorted = mine && (mine.isDescending ? 'descending' : 'ascending');
  // Of numbers the largest are wanted first.
  const next = { key, isDescending: mine === undefined ? isNumber : !mine.isDescending };
  const arrow = mine === undefined ? '' : mine.isDescending ? ' ↓' : ' ↑';
  return (
    <Table.Th className={isNumber ? 'number' : ''} {...(sorted && { 'aria-sort': sorted })}>
      {value === undefined ? (
        text
      ) : (
        <UnstyledButton className="sort" onClick={() => onOrder(next)}>
          {text}
          <span aria-hidden="true">{arrow}</span>
        </UnstyledButton>
      )}
    </Table.Th>
  );
}

function More({
  shown,
  all,
  step,
  onMore,
}: {
  shown: number;
  all: number;
  step: number;
  onMore: (shown: number) => void;
}) {
  return (
    <Group gap="xs">
      <Button size="xs" variant="default" onClick={() => onMore(shown + step)}>
        Show {formatCount(Math.min(step, all - shown))} more
      </Button>
      <Text size="sm" c="dimmed">
        {formatCount(shown)} of {formatCount(all)} shown
      </Text>
    </Group>
  );
}

/** A table with sortable columns; a click on a heading sorts, another one turns the order. */
export function DataTable<Row>({
  label,
  rows,
  columns,
  keyOf,
  first,
  isChosen,
  minWidth = 480,
  pageSize = 60,
}: {
  label: string;
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  keyOf: (row: Row) => string;
  /** The order at first; left out: that of the rows. */
  first?: Order;
  isChosen?: (row: Row) => boolean;
  minWidth?: number;
  /** Rows at first, and that each further click adds. */
  pageSize?: number;
}) {
  const [shownCount, setShownCount] = useState(pageSize);
  const [order, setOrder] = useState<Order | undefined>(first);
  const sorted = inOrder(rows, columns, order);
  return (
    <>
      <Table.ScrollContainer minWidth={minWidth}>
        <Table verticalSpacing={4} fz="sm" highlightOnHover aria-label={label}>
          <Table.Thead>
            <Table.Tr>
              {columns.map((column) => (
                <Heading key={column.key} column={column} order={order} onOrder={setOrder} />
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {sorted.slice(0, shownCount).map((row) => (
              <Table.Tr key={keyOf(row)} className={isChosen?.(row) === true ? 'chosen' : ''}>
                {columns.map(({ key, isNumber = false, value, cell = value }) => (
                  <Table.Td key={key} className={isNumber ? 'number' : ''}>
                    {cell?.(row)}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Group gap="xs" justify="space-between">
        {sorted.length > shownCount && (
          <More shown={shownCount} all={sorted.length} step={pageSize} onMore={setShownCount} />
        )}
        <Box ms="auto">
          <SaveButton label={label} form="csv" save={() => saveTable(label, sorted, columns)} />
        </Box>
      </Group>
    </>
  );
}
