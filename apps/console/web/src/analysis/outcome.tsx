import { Text } from '@mantine/core';
import { useCallback } from 'react';
import type { OutcomeRow, Rate } from '../../../src/api-types.js';
import { type Column, DataTable } from '../ui/data-table.js';
import { formatCount, formatShare } from '../ui/format.js';
import { COLOURS, type Plot, PlotChart } from '../ui/plot-chart.js';

/** A rate with its 95 % interval, or a dash. */
const rateText = ({ trials, rate, low, high }: Rate) =>
  trials === 0 ? '–' : `${formatShare(rate)} (${formatShare(low)} to ${formatShare(high)})`;

/** Least share of a version's most shown place at which another place says enough. */
const SHOWN_MIN = 0.01;

/** Without places that hardly any item was shown at: their intervals would scale the picture. */
function tellingRows(rows: readonly OutcomeRow[]): readonly OutcomeRow[] {
  const single = rows.filter(({ position }) => position > 0);
  const most = new Map<string, number>();
  for (const { adapter, clicks } of single) {
    most.set(adapter, Math.max(most.get(adapter) ?? 0, clicks.trials));
  }
  return single.filter(
    ({ adapter, clicks }) => clicks.trials > (most.get(adapter) ?? 0) * SHOWN_MIN,
  );
}

/** Clicks by position with intervals, a colour for each version. */
export function OutcomeChart({
  rows,
  nameOf,
}: {
  rows: readonly OutcomeRow[];
  nameOf: (adapter: string) => string;
}) {
  const draw = useCallback(
    (plot: Plot) => {
      const points = tellingRows(rows).map(({ adapter, position, clicks }) => ({
        position,
        version: nameOf(adapter),
        rate: clicks.rate * 100,
        low: clicks.low * 100,
        high: clicks.high * 100,
      }));
      const versions = [...new Set(points.map(({ version }) => version))];
      const dodge = (d: { position: number; version: string }) =>
        d.position + (versions.indexOf(d.version) - (versions.length - 1) / 2) * 0.18;
      const text = (d: (typeof points)[number]) =>
        `${d.version}, position ${d.position}: ${d.rate.toFixed(2)} % ` +
        `(${d.low.toFixed(2)} to ${d.high.toFixed(2)})`;
      return {
        color: { domain: versions, range: COLOURS.slice(0, versions.length), legend: true },
        marginBottom: 44,
        x: { label: 'position', ticks: 10, labelOffset: 36, inset: 16 },
        y: { label: 'click rate, %', zero: true, grid: true },
        marks: [
          plot.ruleX(points, { x: dodge, y1: 'low', y2: 'high', stroke: 'version' }),
          plot.dot(points, { x: dodge, y: 'rate', fill: 'version', r: 3 }),
          plot.tip(points, plot.pointerX({ x: dodge, y: 'rate', title: text })),
        ],
      };
    },
    [rows, nameOf],
  );
  return <PlotChart label="Click rate by position; the table below has the same" draw={draw} />;
}

function columnsOf(nameOf: (adapter: string) => string): Column<OutcomeRow>[] {
  const count = (key: 'recalled' | 'impressions', label: string): Column<OutcomeRow> => ({
    key,
    label,
    isNumber: true,
    value: (row) => row[key],
    cell: (row) => formatCount(row[key]),
  });
  const rate = (key: 'clicks' | 'conversions', label: string): Column<OutcomeRow> => ({
    key,
    label,
    isNumber: true,
    value: (row) => (row[key].trials === 0 ? undefined : row[key].rate),
    cell: (row) => rateText(row[key]),
  });
  return [
    {
      key: 'version',
      label: 'Version',
      value: ({ adapter }) => nameOf(adapter),
    },
    {
      key: 'position',
      label: 'Position',
      isNumber: true,
      value: ({ position }) => position,
      cell: ({ position }) => (position === 0 ? 'all' : position),
    },
    count('recalled', 'Recalled'),
    count('impressions', 'Impressions'),
    rate('clicks', 'Clicked'),
    rate('conversions', 'Converted'),
  ];
}

/** Table of the outcomes, all positions together first. */
export function OutcomeTable({
  rows,
  nameOf,
  shownBy,
}: {
  rows: readonly OutcomeRow[];
  nameOf: (adapter: string) => string;
  shownBy: 'impressions' | 'recalls' | undefined;
}) {
  return (
    <>
      <DataTable
        label="Outcome by version and position"
        rows={rows.filter(({ clicks }) => clicks.trials > 0)}
        columns={columnsOf(nameOf)}
        keyOf={({ adapter, position }) => `${adapter} ${position}`}
        first={{ key: 'position', isDescending: false }}
        minWidth={640}
      />
      {shownBy === 'recalls' && (
        <Text size="sm" c="dimmed">
          No impressions in this span: every recalled item counts as shown.
        </Text>
      )}
    </>
  );
}
