import { Group, Select } from '@mantine/core';
import { useCallback } from 'react';
import { useSearchParams } from 'react-router';
import type { QueryResult } from '../../../src/api-types.js';
import { type Plot, PlotChart, TIME_AXIS } from '../ui/plot-chart.js';
import { isNumber, isTime, numberOf } from './result-table.js';

const KINDS = [
  { value: 'none', label: 'table alone' },
  { value: 'bar', label: 'bars' },
  { value: 'line', label: 'lines' },
  { value: 'dot', label: 'points' },
];

interface Point {
  readonly x: string | number | Date;
  readonly y: number;
}

function pointsOf(result: QueryResult, xName: string, yName: string): readonly Point[] {
  const at = (name: string) => result.columns.findIndex((column) => column.name === name);
  const [x, y] = [at(xName), at(yName)];
  const type = result.columns[x]?.type ?? '';
  return result.rows.flatMap((row): Point[] => {
    const value = numberOf(row[y]);
    if (value === undefined) return [];
    const given = row[x];
    if (isTime(type)) return [{ x: new Date(`${String(given).replace(' ', 'T')}Z`), y: value }];
    return [{ x: isNumber(type) ? Number(given) : String(given), y: value }];
  });
}

function marksOf(plot: Plot, kind: string, points: readonly Point[]) {
  const channels = { x: 'x', y: 'y', tip: true } as const;
  if (kind === 'bar') {
    const isCategory = typeof points[0]?.x === 'string';
    const fill = 'var(--bar)';
    return isCategory
      ? [plot.barX(points, { x: 'y', y: 'x', fill, tip: true, sort: { y: '-x', limit: 40 } })]
      : [plot.ruleX(points, Object.assign({ stroke: fill, strokeWidth: 6 }, channels))];
  }
  const stroke = 'var(--bar)';
  return kind === 'line'
    ? [plot.lineY(points, { ...channels, stroke })]
    : [plot.dot(points, { ...channels, stroke })];
}

/** Which columns are drawn, and how: of the address, as far as the answer has them. */
function useChoice({ columns }: QueryResult) {
  const [query, setQuery] = useSearchParams();
  const names = columns.map(({ name }) => name);
  const numbers = columns.filter(({ type }) => isNumber(type)).map(({ name }) => name);
  const known = (name: string, among: readonly string[], fallback: string | undefined) => {
    const given = query.get(name);
    return given !== null && among.includes(given) ? given : (fallback ?? '');
  };
  const kind = known('chart', ['bar', 'line', 'dot'], 'none');
  const y = known('y', numbers, numbers[0]);
  const x = known(
    'x',
    names,
    names.find((name) => name !== y),
  );
  const set = (name: string) => (value: string | null) =>
    setQuery(
      (before) => {
        before.set(name, value ?? '');
        return before;
      },
      { replace: true },
    );
  return { names: [...new Set(names)], numbers: [...new Set(numbers)], kind, x, y, set };
}

function Picture({
  result,
  kind,
  x,
  y,
}: {
  result: QueryResult;
  kind: string;
  x: string;
  y: string;
}) {
  const draw = useCallback(
    (plot: Plot) => {
      const points = pointsOf(result, x, y);
      const isFlat = kind === 'bar' && typeof points[0]?.x === 'string';
      const axis = { label: isFlat ? y : x, grid: isFlat, labelOffset: 36 };
      return {
        marks: marksOf(plot, kind, points),
        marginLeft: isFlat ? 160 : 60,
        marginBottom: 44,
        x: Object.assign(axis, points[0]?.x instanceof Date && TIME_AXIS),
        y: { label: isFlat ? null : y, grid: !isFlat },
      };
    },
    [result, x, y, kind],
  );
  return (
    <PlotChart label={`${y} by ${x}; the table below has the same`} height={320} draw={draw} />
  );
}

/** A picture of the answer; which one stands in the address. */
export function ResultChart({ result }: { result: QueryResult }) {
  const { names, numbers, kind, x, y, set } = useChoice(result);
  if (numbers.length === 0 || names.length < 2 || result.rows.length === 0) return null;
  return (
    <>
      <Group gap="xs">
        <Select label="Chart" size="xs" data={KINDS} value={kind} onChange={set('chart')} />
        {kind !== 'none' && (
          <>
            <Select label="Along" size="xs" data={names} value={x} onChange={set('x')} />
            <Select label="Height" size="xs" data={numbers} value={y} onChange={set('y')} />
          </>
        )}
      </Group>
      {kind !== 'none' && <Picture result={result} kind={kind} x={x} y={y} />}
    </>
  );
}
