import {
  Anchor,
  Button,
  Group,
  SegmentedControl,
  Select,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useCallback, useState } from 'react';
import { Link } from 'react-router';
import type {
  AnalysisAbout,
  Mark,
  OverviewPage,
  ReachPage,
  ReachRow,
  UnreachedPage,
} from '../../../src/api-types.js';
import { withQuery } from '../api.js';
import { type Column, DataTable, numberColumn } from '../ui/data-table.js';
import { Figure, Figures } from '../ui/figure.js';
import { formatCount, formatShare, formatTime, ZONE } from '../ui/format.js';
import { ITEM_COLUMN, ItemLink } from '../ui/item-column.js';
import { type Plot, PlotChart } from '../ui/plot-chart.js';
import { Section } from '../ui/section.js';
import { Empty, Waiting } from '../ui/states.js';
import { useAsked } from '../ui/use-asked.js';
import { useAnalysis, useFilter } from './filter.js';
import { AnalysisPage, Answered, markText } from './page.js';
import { PanelNote } from './panel-note.js';

const PICTURED = 25;
const ROW_HEIGHT = 22;

const nameOf = ({ key, title }: ReachRow) => title || key || '(without)';
const gainOf = ({ shareBefore, shareAfter }: ReachRow) => shareAfter - shareBefore;

function gainText(row: ReachRow): string {
  const gain = gainOf(row) * 100;
  return `${gain > 0 ? '+' : gain < 0 ? '−' : ''}${Math.abs(gain).toFixed(2)}`;
}

/** An item leads to its page, a value to its items; a row without live items says since when. */
function Name({ row, by }: { row: ReachRow; by: string }) {
  const { key, pausedMs } = row;
  const items = withQuery('/items', { attribute: `${by}=${key}` });
  return (
    <>
      {by === 'item' ? (
        <ItemLink itemId={key} title={nameOf(row)} />
      ) : key === '' ? (
        nameOf(row)
      ) : (
        <Anchor component={Link} size="sm" to={items}>
          {nameOf(row)}
        </Anchor>
      )}
      {pausedMs > 0 && (
        <Text span size="xs" c="dimmed">
          {' '}
          paused since {formatTime(pausedMs)}
        </Text>
      )}
    </>
  );
}

function columnsOf(by: string): Column<ReachRow>[] {
  return [
    {
      key: 'name',
      label: by === 'item' ? 'Item' : by,
      value: nameOf,
      cell: (row) => <Name row={row} by={by} />,
    },
    numberColumn('before', 'Before', ({ before }) => before, formatCount, 'recalls'),
    numberColumn('after', 'After', ({ after }) => after, formatCount, 'recalls'),
    numberColumn('shareBefore', 'Share before', ({ shareBefore }) => shareBefore, formatShare),
    numberColumn('shareAfter', 'Share after', ({ shareAfter }) => shareAfter, formatShare),
    {
      key: 'gain',
      label: 'Change',
      unit: 'points',
      isNumber: true,
      value: gainOf,
      cell: gainText,
    },
  ];
}

/** Before and after as two ends of a line, those that changed most. */
function Dumbbells({ page }: { page: ReachPage }) {
  const rows = page.rows.slice(0, PICTURED);
  const draw = useCallback(
    (plot: Plot, width: number) => {
      const length = width < 500 ? 14 : 26;
      const shortened = (name: string) =>
        name.length > length ? `${name.slice(0, length - 1)}…` : name;
      const points = rows.map((row) => ({
        key: row.key,
        name: nameOf(row),
        before: row.shareBefore * 100,
        after: row.shareAfter * 100,
      }));
      const names = new Map(points.map(({ key, name }) => [key, shortened(name)]));
      const text = (d: (typeof points)[number]) =>
        `${d.name}: ${d.before.toFixed(2)} % before, ${d.after.toFixed(2)} % after`;
      return {
        marginLeft: width < 500 ? 110 : 190,
        marginBottom: 44,
        x: { label: 'share of the recalls, %', grid: true, zero: true, labelOffset: 36 },
        y: {
          domain: [...names.keys()],
          label: null,
          tickFormat: (key: string) => names.get(key) ?? key,
        },
        color: { legend: true, domain: ['before', 'after'], range: ['#868e96', '#d9480f'] },
        marks: [
          plot.ruleY(points, { y: 'key', x1: 'before', x2: 'after', stroke: '#868e96' }),
          plot.dot(points, { y: 'key', x: 'before', fill: '#868e96' }),
          plot.dot(points, { y: 'key', x: 'after', fill: '#d9480f', r: 4 }),
          plot.tip(points, plot.pointerY({ y: 'key', x: 'after', title: text })),
        ],
      };
    },
    [rows],
  );
  return (
    <PlotChart
      label="Share of the recalls before and after; the table below has the same"
      height={60 + rows.length * ROW_HEIGHT}
      draw={draw}
    />
  );
}

function Changed({ page }: { page: ReachPage }) {
  const { rows, recallsBefore, recallsAfter, atMs, by } = page;
  const gained = rows.filter((row) => gainOf(row) > 0).length;
  const lost = rows.filter((row) => gainOf(row) < 0).length;
  if (rows.length === 0) {
    return (
      <Empty title="No recall around this moment">Choose another one, or a longer span.</Empty>
    );
  }
  return (
    <Stack>
      <Figures>
        <Figure label="Recalls before" value={formatCount(recallsBefore)} />
        <Figure label="Recalls after" value={formatCount(recallsAfter)} />
        <Figure label="Gained" value={formatCount(gained)} note={page.isCut && 'of those shown'} />
        <Figure label="Lost" value={formatCount(lost)} note={page.isCut && 'of those shown'} />
      </Figures>
      <Section
        title="Most changed"
        help={`Share of the recalls that had it, before and after ${formatTime(atMs)}.`}
      >
        <Dumbbells page={page} />
        <DataTable
          label="Reach before and after"
          rows={rows}
          columns={columnsOf(by)}
          keyOf={({ key }) => key}
          minWidth={780}
        />
        {page.isCut && (
          <Text size="sm" c="dimmed">
            The {formatCount(rows.length)} that changed most; there are more.
          </Text>
        )}
        <PanelNote oneIn={page.oneIn} figures="Recalls and reach" />
      </Section>
    </Stack>
  );
}

function BeforeAndAfter({ by, at }: { by: string; at: number }) {
  const asked = useAnalysis<ReachPage>('reach', { by, at: String(at) });
  return <Answered asked={asked}>{(page) => <Changed page={page} />}</Answered>;
}

type Unreached = UnreachedPage['items'][number];
type UnreachedValue = UnreachedPage['values'][number];

function valueColumns(by: string): readonly Column<UnreachedValue>[] {
  const count = (key: 'items' | 'live', label: string): Column<UnreachedValue> => ({
    key,
    label,
    unit: 'items',
    isNumber: true,
    value: (row) => row[key],
    cell: (row) => formatCount(row[key]),
  });
  return [
    {
      key: 'value',
      label: by,
      value: ({ value }) => value,
      cell: ({ value }) => value || '(without)',
    },
    count('items', 'Never recalled'),
    count('live', 'Live'),
  ];
}

const UNREACHED_COLUMNS: readonly Column<Unreached>[] = [
  ITEM_COLUMN,
  { key: 'id', label: 'ID', value: ({ itemId }) => itemId },
  numberColumn(
    'eligible',
    'Eligible in',
    ({ eligibleRecalls }) => eligibleRecalls,
    formatCount,
    'recalls',
  ),
];

/** Rows at first, and the most that the service lists. */
const UNREACHED_FIRST = 200;
const UNREACHED_MAX = 10_000;

/** Items that recalls could have had and none had. */
function NeverRecalled({ attributes }: { attributes: readonly string[] }) {
  const { query, set } = useFilter();
  const [limit, setLimit] = useState(UNREACHED_FIRST);
  const by = query.get('group') ?? '';
  const asked = useAnalysis<UnreachedPage>('unreached', { limit: String(limit), by });
  return (
    <Answered asked={asked}>
      {({ items, values, total, recalls, unknownRecalls }) => (
        <Stack>
          <Figures>
            <Figure
              label="Eligible, never recalled"
              value={formatCount(total)}
              note={`items, in ${formatCount(recalls)} recalls`}
            />
          </Figures>
          {unknownRecalls > 0 && (
            <Text size="sm">
              Of {formatCount(unknownRecalls)} recalls it is not known what was eligible; they are
              not counted.
            </Text>
          )}
          <Select
            label="Group by"
            size="xs"
            w={200}
            clearable
            data={[...attributes]}
            value={by === '' ? null : by}
            onChange={(next) => set({ group: next ?? undefined })}
          />
          {by !== '' && values.length > 0 && (
            <DataTable
              label={`Items never recalled by ${by}`}
              rows={values}
              columns={valueColumns(by)}
              keyOf={({ value }) => value}
            />
          )}
          {items.length > 0 && (
            <DataTable
              label="Items that were eligible and never recalled"
              rows={items}
              columns={UNREACHED_COLUMNS}
              keyOf={({ itemId }) => itemId}
            />
          )}
          {items.length < Math.min(total, UNREACHED_MAX) && (
            <Button size="xs" variant="default" onClick={() => setLimit(UNREACHED_MAX)}>
              List {formatCount(Math.min(total, UNREACHED_MAX))} of {formatCount(total)}
            </Button>
          )}
          <Text size="sm" c="dimmed">
            The page of an item says for a sample of recalls at which step it was given up.
          </Text>
        </Stack>
      )}
    </Answered>
  );
}

/** The moment of the address, else the newest mark, else the middle of the span. */
function useMoment() {
  const { query, range } = useFilter();
  const overview = useAnalysis<OverviewPage>('overview', { buckets: '1' });
  const marks = overview.data?.marks ?? [];
  const middle = Math.round((range.fromMs + range.toMs) / 2);
  const at = Number(query.get('at') ?? marks.at(-1)?.timeMs ?? middle);
  return { marks, at, isKnown: query.has('at') || !overview.isPending };
}

/** Fields of the moment: a mark of the span, or any time of it. */
function Moment({ marks, at }: { marks: readonly Mark[]; at: number }) {
  const { set } = useFilter();
  const local = new Date(at - new Date(at).getTimezoneOffset() * 60_000);
  return (
    <>
      <Select
        label="Around"
        size="xs"
        w={320}
        maw="100%"
        placeholder={marks.length === 0 ? 'no change in this span' : 'an import or activation'}
        data={marks.map((mark, n) => ({ value: `${mark.timeMs} ${n}`, label: markText(mark) }))}
        value={
          marks
            .map(({ timeMs }, n) => `${timeMs} ${n}`)
            .find((value) => value.startsWith(`${at} `)) ?? null
        }
        onChange={(value) => set({ at: value?.split(' ')[0] })}
      />
      <TextInput
        label={`or at (${ZONE})`}
        type="datetime-local"
        size="xs"
        key={at}
        defaultValue={local.toISOString().slice(0, 16)}
        onBlur={(event) => {
          const time = new Date(event.currentTarget.value).getTime();
          if (!Number.isNaN(time) && Math.abs(time - at) >= 60_000) set({ at: String(time) });
        }}
      />
    </>
  );
}

export function View() {
  const { query, set } = useFilter();
  const about = useAsked<AnalysisAbout>('analysis/about');
  const by = query.get('by') ?? 'item';
  const shows = query.get('show') === 'unreached' ? 'unreached' : 'changed';
  const { marks, at, isKnown } = useMoment();
  const choices = ['item', ...(about.data?.attributes ?? [])];
  return (
    <AnalysisPage title="Reach" help="Which items, or advertisers, or campaigns, recalls had.">
      <SegmentedControl
        size="xs"
        aria-label="View"
        style={{ alignSelf: 'flex-start' }}
        value={shows}
        onChange={(show) => set({ show: show === 'changed' ? undefined : show })}
        data={[
          { value: 'changed', label: 'Before and after' },
          { value: 'unreached', label: 'Eligible, never recalled' },
        ]}
      />
      {shows === 'unreached' ? (
        <NeverRecalled attributes={about.data?.attributes ?? []} />
      ) : (
        <>
          <Group gap="xs" align="flex-end">
            <Select
              label="By"
              size="xs"
              data={choices}
              value={by}
              onChange={(next) => set({ by: next === 'item' ? undefined : (next ?? undefined) })}
            />
            <Moment marks={marks} at={at} />
          </Group>
          {isKnown ? <BeforeAndAfter by={by} at={at} /> : <Waiting />}
        </>
      )}
    </AnalysisPage>
  );
}
