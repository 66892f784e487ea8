import { Anchor, Stack, Text } from '@mantine/core';
import { useMemo } from 'react';
import { Link } from 'react-router';
import type { QueryResult } from '../../../src/api-types.js';
import { type Column, DataTable } from '../ui/data-table.js';
import { formatCount } from '../ui/format.js';
import { Empty } from '../ui/states.js';

const NUMBERS = /INT|FLOAT|DOUBLE|DECIMAL/;
const WHOLE = /INT/;
const TEXT_MAX = 300;
const DIGITS = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 6 });

export const isNumber = (type: string) => NUMBERS.test(type) && !type.endsWith('[]');
export const isTime = (type: string) => type.startsWith('TIMESTAMP') || type === 'DATE';

type Row = QueryResult['rows'][number];

/** Number of a cell: beyond what JSON has a number for, numbers come as text. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  const read = typeof value === 'string' && value !== '' ? Number(value) : Number.NaN;
  return Number.isNaN(read) ? undefined : read;
}

function sortable(value: unknown, type: string): number | string | undefined {
  if (value === null || value === undefined) return undefined;
  if (isNumber(type)) return numberOf(value);
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function Cell({ value, name, type }: { value: unknown; name: string; type: string }) {
  if (value === null) return <span className="null">null</span>;
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  if (isNumber(type)) {
    const number = numberOf(value);
    if (number === undefined || !Number.isFinite(number)) return text;
    const isExact = WHOLE.test(type) && Number.isSafeInteger(number);
    return <span title={text}>{isExact ? formatCount(number) : DIGITS.format(number)}</span>;
  }
  const isRecall =
    name === 'recall' || name === 'recall_id' || (name === 'id' && text.length === 36);
  if (isRecall) {
    return (
      <Anchor component={Link} to={`/recalls/${text}`} size="sm">
        {text}
      </Anchor>
    );
  }
  return <span title={text}>{text.slice(0, TEXT_MAX)}</span>;
}

/** The rows of an answer; each column can be sorted by. */
export function ResultTable({ result, waitedMs }: { result: QueryResult; waitedMs: number }) {
  const { columns, rows, isCut, milliseconds } = result;
  const shown = useMemo(
    () =>
      columns.map(
        ({ name, type }, at): Column<{ readonly row: Row; readonly key: string }> => ({
          key: `${at}`,
          label: name,
          ...(isTime(type) && { unit: 'UTC' }),
          isNumber: isNumber(type),
          value: ({ row }) => sortable(row[at], type),
          cell: ({ row }) => <Cell value={row[at]} name={name} type={type} />,
        }),
      ),
    [columns],
  );
  const keyed = useMemo(() => rows.map((row, at) => ({ row, key: `${at}` })), [rows]);
  const waited = waitedMs - milliseconds;
  return (
    <Stack gap="xs">
      <Text size="sm" c="dimmed" role="status">
        {formatCount(rows.length)} rows in {formatCount(Math.round(milliseconds))} ms
        {waited > 500 && `, after ${(waited / 1000).toFixed(1)} s of waiting`}
        {isCut && '; there are more: add a LIMIT, or export them all'}
      </Text>
      {rows.length === 0 ? (
        <Empty title="No rows">The question was understood; nothing fits.</Empty>
      ) : (
        <DataTable label="Answer" rows={keyed} columns={shown} keyOf={({ key }) => key} />
      )}
    </Stack>
  );
}
