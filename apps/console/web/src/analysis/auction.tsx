import { Group, SegmentedControl, Select, Text } from '@mantine/core';
import { useCallback } from 'react';
import type { TableColumn, TableName, TablePage, TableRow } from '../../../src/table-types.js';
import { type Column, DataTable } from '../ui/data-table.js';
import { Figure, Figures } from '../ui/figure.js';
import { formatCount, formatMinute, formatShare, ZONE } from '../ui/format.js';
import { ItemLink } from '../ui/item-column.js';
import { type Plot, PlotChart } from '../ui/plot-chart.js';
import { Section } from '../ui/section.js';
import { Empty, Waiting } from '../ui/states.js';
import { useAttribute } from './composition.js';
import { useAnalysis, useFilter } from './filter.js';
import { AnalysisPage, Answered } from './page.js';
import { PanelNote } from './panel-note.js';

/** A question of the page: which rows tell, and by what. */
interface Shown {
  readonly label: string;
  readonly help: string;
  /** Other choices beside attributes; undefined: it is told by no attribute. */
  readonly more?: readonly { readonly value: string; readonly label: string }[];
  /** Said in place of a table without rows. */
  readonly empty: string;
}

const SHOWN: Readonly<Record<TableName, Shown>> = {
  bids: {
    label: 'Bids',
    help:
      'Recalls by value whose answer is certified. Lost: the best ad that an answer left out. ' +
      'Critical bid: the lowest with which a winner keeps its place. Bids are medians.',
    more: [{ value: 'item', label: 'each ad' }],
    empty: 'No recall of this span has prices: they need a valuation with a bid.',
  },
  spend: {
    label: 'Spend and pace',
    help:
      'Spend: the bid, as the recall saw it, of each shown ad that was clicked. A pace is the ' +
      'factor of bids that was set last.',
    more: [],
    empty: 'Nothing was shown in this span.',
  },
  arrivals: {
    label: 'New ads',
    help:
      'Ads that began in this span. Hours go from then to the first recall with an impression; ' +
      'the first day has 24 of them, as far as the span has them.',
    empty: 'No ad began in this span.',
  },
  exploration: {
    label: 'Exploration',
    help:
      'Drawn places beside fixed ones of the same position, which users look at alike. Cost: ' +
      'clicks that fixed ads would have had there, less those on drawn ones. Lines: 95 %.',
    empty: 'No recall of this span drew a place.',
  },
  calibration: {
    label: 'Heads',
    help:
      'Predictions for shown ads beside the share that users clicked or bought, in tenths by the ' +
      'prediction or by an attribute. A head counts where an action has its name.',
    more: [{ value: '', label: 'tenths of the prediction' }],
    empty: 'No ranked recall of this span was shown, or no head has the name of an action.',
  },
};
const NAMES = Object.keys(SHOWN) as TableName[];

function cellOf({ name, form }: TableColumn, row: TableRow) {
  const value = row[name];
  if (value === null || value === undefined) return '–';
  if (form === 'item') return <ItemLink itemId={String(value)} title={String(row.title ?? '')} />;
  return form === 'text' ? String(value) || '(without)' : written(form, Number(value));
}

const written = (form: TableColumn['form'], value: number) =>
  ({
    count: formatCount,
    share: signedShare,
    number: (amount: number) => String(Number(amount.toPrecision(4))),
    hours: (hours: number) => `${hours.toFixed(hours < 10 ? 2 : 1)} h`,
    time: formatMinute,
    text: String,
    item: String,
  })[form](value);

const signedShare = (share: number) => (share < 0 ? `−${formatShare(-share)}` : formatShare(share));

const columnOf = (column: TableColumn): Column<TableRow> => {
  const { name, label, form } = column;
  return {
    key: name,
    label,
    ...(form === 'time' && { unit: ZONE }),
    isNumber: form !== 'text' && form !== 'item',
    value: (row) => row[name] ?? undefined,
    cell: (row) => cellOf(column, row),
  };
};

/** Rates with their intervals: of a head beside its predictions, or of drawn and fixed places. */
const RATES: Partial<Record<TableName, readonly [place: string, rate: string, other: string]>> = {
  exploration: ['position', 'drawn', 'fixed'],
  calibration: ['part', 'observed', 'predicted'],
};

function RateChart({ page }: { page: TablePage }) {
  const [place, rate, other] = RATES[page.name] ?? ['', '', ''];
  const { rows } = page;
  const draw = useCallback(
    (plot: Plot) => {
      const told = rows.filter((row) => row[rate] !== null);
      const isByHead = new Set(rows.map(({ head }) => head)).size > 1;
      const facet = isByHead ? { fy: 'head' } : {};
      return {
        marginLeft: 60,
        marginBottom: 60,
        x: { type: 'band' as const, label: place, tickRotate: place === 'part' ? -30 : 0 },
        y: { label: 'share', grid: true, tickFormat: '%', zero: true },
        color: { legend: true, domain: [rate, other] },
        marks: [
          plot.ruleX(told, { x: place, y1: `${rate}Low`, y2: `${rate}High`, ...facet }),
          plot.dot(told, { x: place, y: rate, r: 4, fill: () => rate, ...facet }),
          plot.dot(rows, {
            x: place,
            y: other,
            r: 4,
            fill: () => other,
            symbol: 'cross',
            ...facet,
          }),
        ],
      };
    },
    [rows, place, rate, other],
  );
  return <PlotChart label={`${rate} beside ${other}`} height={280} draw={draw} />;
}

function Told({ page }: { page: TablePage }) {
  const { name, figures, columns, rows, isCut } = page;
  const { label, help, empty } = SHOWN[name];
  if (rows.length === 0) return <Empty title="Nothing to tell">{empty}</Empty>;
  return (
    <>
      <Figures>
        {figures.map((one) => (
          <Figure
            key={one.label}
            label={one.label}
            value={one.value === null ? '–' : written(one.form, one.value)}
          />
        ))}
      </Figures>
      <Section title={label} help={help}>
        {RATES[name] !== undefined && <RateChart page={page} />}
        <DataTable
          label={label}
          rows={rows}
          columns={columns.map(columnOf)}
          keyOf={(row) => [columns[0], columns[1]].map((one) => row[one?.name ?? '']).join(' ')}
          minWidth={90 * columns.length}
        />
        {isCut && <Text size="sm">There are more: choose a shorter span, or a filter.</Text>}
        <PanelNote oneIn={page.oneIn} figures="Counts" />
      </Section>
    </>
  );
}

export function View() {
  const { query, set } = useFilter();
  const show = NAMES.find((name) => name === query.get('show')) ?? 'bids';
  const { more } = SHOWN[show];
  const { attributes, by, setBy } = useAttribute();
  const given = query.get('by');
  const first = more?.[0]?.value ?? by;
  const told = more === undefined ? '' : (given ?? first);
  const choices = [...(more ?? []), ...attributes.map((value) => ({ value, label: value }))];
  return (
    <AnalysisPage title="Auction" help="Ads by what they win, lose, pay and bring, from the facts.">
      <Group gap="xs" align="flex-end">
        <SegmentedControl
          size="xs"
          aria-label="Question"
          className="wraps"
          value={show}
          onChange={(next) => set({ show: next === 'bids' ? undefined : next, by: undefined })}
          data={NAMES.map((value) => ({ value, label: SHOWN[value].label }))}
        />
        {more !== undefined && (
          <Select label="By" size="xs" data={choices} value={told} onChange={setBy} />
        )}
      </Group>
      {show === 'spend' && told === '' ? <Waiting /> : <Asked show={show} by={told} />}
    </AnalysisPage>
  );
}

function Asked({ show, by }: { show: TableName; by: string }) {
  const asked = useAnalysis<TablePage>(`tables/${show}`, { by });
  return <Answered asked={asked}>{(page) => <Told page={page} />}</Answered>;
}
