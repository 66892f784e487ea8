import { Group, SegmentedControl, Stack, Text } from '@mantine/core';
import { useCallback, useMemo, useState } from 'react';
import type {
  AdapterChanges,
  AdapterView,
  AnalysisAbout,
  OverviewPage,
} from '../../../src/api-types.js';
import { rangeOf, SPANS } from '../analysis/filter.js';
import { PanelNote } from '../analysis/panel-note.js';
import { withQuery } from '../api.js';
import { type Column, DataTable } from '../ui/data-table.js';
import { formatShare, formatTime, shortDigest } from '../ui/format.js';
import { COLOURS, type Plot, PlotChart, TIME_AXIS } from '../ui/plot-chart.js';
import { Section } from '../ui/section.js';
import { useAsked } from '../ui/use-asked.js';
import { type ServedSpan, servedSpans } from './timeline.js';

const CHANGES = 'adapters/changes?limit=500';
const REFRESH_MS = 10_000;
const MS_PER_MINUTE = 60_000;
const BUCKETS = '60';
const MARGIN_LEFT = 120;
const LANE_HEIGHT = 26;
const LINE = '#0072b2';
const ENDED = '#d6336c';
const FIRST_SPAN = '1h';
const NO_WRAP = { whiteSpace: 'nowrap' } as const;

interface Frame {
  readonly fromMs: number;
  readonly toMs: number;
}

const endOf = ({ toMs }: ServedSpan, frame: Frame) => Math.min(toMs ?? frame.toMs, frame.toMs);
const ageOf = ({ learnedUntilMs, fromMs }: ServedSpan) =>
  learnedUntilMs === 0 ? undefined : Math.round((fromMs - learnedUntilMs) / 1000);

const xOf = ({ fromMs, toMs }: Frame) => ({
  ...TIME_AXIS,
  domain: [new Date(fromMs), new Date(toMs)],
});

/** Click rate over time, with a line where a version began or was rolled back. */
function ClickRate({ page, spans }: { page: OverviewPage; spans: readonly ServedSpan[] }) {
  const draw = useCallback(
    (plot: Plot) => {
      const points = page.series
        .filter(({ clickRate }) => clickRate.trials > 0)
        .map(({ timeMs, clickRate }) => ({
          time: new Date(timeMs + page.bucketMs / 2),
          rate: clickRate.rate * 100,
          low: clickRate.low * 100,
          high: clickRate.high * 100,
        }));
      const begun = spans.filter(({ fromMs }) => fromMs >= page.fromMs);
      const ended = spans.filter(
        ({ isRolledBack, toMs }) => isRolledBack && toMs !== undefined && toMs <= page.toMs,
      );
      const beginOf = ({ fromMs }: ServedSpan) => new Date(fromMs);
      return {
        marginLeft: MARGIN_LEFT,
        x: xOf(page),
        y: { label: 'click rate, %', grid: true, zero: true },
        marks: [
          plot.ruleX(
            begun.filter(({ as }) => as === 'active'),
            { x: beginOf, strokeOpacity: 0.35 },
          ),
          plot.ruleX(
            begun.filter(({ as }) => as === 'canary'),
            { x: beginOf, strokeOpacity: 0.35, strokeDasharray: '2,3' },
          ),
          plot.ruleX(ended, { x: ({ toMs = 0 }: ServedSpan) => new Date(toMs), stroke: ENDED }),
          plot.areaY(points, { x: 'time', y1: 'low', y2: 'high', fillOpacity: 0.15 }),
          plot.lineY(points, { x: 'time', y: 'rate', strokeWidth: 2, stroke: LINE }),
          plot.dot(points, { x: 'time', y: 'rate', r: 2, fill: LINE, tip: true }),
        ],
      };
    },
    [page, spans],
  );
  return <PlotChart label="Click rate, with the begins of versions" height={200} draw={draw} />;
}

const laneOf = ({ name, as }: ServedSpan) => (as === 'canary' ? `${name} (canary)` : name);

/** Which version served when, a lane for each name and its canaries. */
function Lanes({ spans, frame }: { spans: readonly ServedSpan[]; frame: Frame }) {
  const lanes = useMemo(() => [...new Set(spans.map(laneOf))].sort(), [spans]);
  const draw = useCallback(
    (plot: Plot) => {
      const digests = [...new Set(spans.map(({ digest }) => digest))];
      const bars = spans.map((span) => ({
        lane: laneOf(span),
        from: new Date(Math.max(span.fromMs, frame.fromMs)),
        to: new Date(endOf(span, frame)),
        colour: COLOURS[digests.indexOf(span.digest) % COLOURS.length],
        edge: span.isRolledBack ? ENDED : 'none',
        title: [
          `${span.name} ${shortDigest(span.digest)}`,
          span.as === 'canary' ? `canary, ${formatShare(span.share)} of the users` : 'active',
          ...(span.holder === '' ? [] : [`by ${span.holder}`]),
          ...(span.learnedUntilMs === 0
            ? []
            : [`learned until ${formatTime(span.learnedUntilMs)}`]),
          ...(span.reason === '' ? [] : [span.reason]),
        ].join('\n'),
      }));
      return {
        marginLeft: MARGIN_LEFT,
        x: xOf(frame),
        y: { label: null, domain: lanes, padding: 0.2 },
        marks: [
          plot.barX(bars, {
            x1: 'from',
            x2: 'to',
            y: 'lane',
            fill: 'colour',
            stroke: 'edge',
            strokeWidth: 2,
            title: 'title',
            tip: true,
          }),
        ],
      };
    },
    [spans, lanes, frame],
  );
  const height = 40 + lanes.length * LANE_HEIGHT;
  return <PlotChart label="Versions that served" height={height} draw={draw} />;
}

const COLUMNS: readonly Column<ServedSpan>[] = [
  {
    key: 'from',
    label: 'From',
    value: ({ fromMs }) => fromMs,
    cell: ({ fromMs }) => <span style={NO_WRAP}>{formatTime(fromMs)}</span>,
  },
  {
    key: 'to',
    label: 'To',
    value: ({ toMs }) => toMs,
    cell: ({ toMs }) => (
      <span style={NO_WRAP}>{toMs === undefined ? 'serves' : formatTime(toMs)}</span>
    ),
  },
  {
    key: 'version',
    label: 'Version',
    value: ({ name, digest }) => `${name} ${digest}`,
    cell: ({ name, digest }) => (
      <span title={digest} style={NO_WRAP}>
        {name} {shortDigest(digest)}
      </span>
    ),
  },
  {
    key: 'as',
    label: 'As',
    value: ({ as }) => as,
    cell: ({ as, share }) => (
      <span style={NO_WRAP}>{as === 'canary' ? `canary, ${formatShare(share)}` : as}</span>
    ),
  },
  {
    key: 'holder',
    label: 'Holder',
    value: ({ holder }) => holder,
    cell: ({ holder }) => <span style={NO_WRAP}>{holder}</span>,
  },
  {
    key: 'age',
    label: 'Learned until',
    unit: 's before',
    isNumber: true,
    value: ageOf,
    cell: (span) => ageOf(span) ?? '–',
  },
  {
    key: 'reason',
    label: 'Ended because',
    value: ({ reason }) => reason,
    cell: ({ reason }) => (
      <Text size="sm" lineClamp={2} title={reason} style={{ overflowWrap: 'anywhere' }}>
        {reason}
      </Text>
    ),
  },
];

/** Frame of a span until now; a new service's first minutes fill the picture. */
function useFrame(span: string, keptFromMs: number): Frame {
  const minute = Math.ceil(Date.now() / MS_PER_MINUTE);
  return useMemo(() => {
    const nowMs = minute * MS_PER_MINUTE;
    const range = rangeOf(new URLSearchParams({ span }), nowMs);
    const firstMs = Math.floor(keptFromMs / MS_PER_MINUTE) * MS_PER_MINUTE;
    const latestMs = nowMs - MS_PER_MINUTE;
    return { fromMs: Math.max(range.fromMs, Math.min(firstMs, latestMs)), toMs: range.toMs };
  }, [span, minute, keptFromMs]);
}

/** Versions on a time line, over the click rate. */
export function VersionTimeline({ versions }: { versions: readonly AdapterView[] }) {
  const [span, setSpan] = useState<string>(FIRST_SPAN);
  const log = useAsked<AdapterChanges>(CHANGES, REFRESH_MS);
  const about = useAsked<AnalysisAbout>('analysis/about');
  const { isKept: isCounted = false, keptFromMs = 0 } = about.data ?? {};
  const frame = useFrame(span, keptFromMs);
  const spans = useMemo(
    () => servedSpans(log.data?.changes ?? [], versions, frame),
    [log.data, versions, frame],
  );
  return (
    <Section
      title="Versions over the click rate"
      help={
        'A line begins a version (dashed: a canary); a red one rolled one back. ' +
        'Band: 95 % interval of the click rate.'
      }
    >
      <Stack gap="xs">
        <Group>
          <SegmentedControl
            size="xs"
            aria-label="Span of the time line"
            data={SPANS.map(({ value, label }) => ({ value, label }))}
            value={span}
            onChange={setSpan}
          />
        </Group>
        {isCounted && <Counted frame={frame} spans={spans} />}
        {about.data?.isKept === false && (
          <Text size="sm">No facts are kept here, so that the click rate is not known.</Text>
        )}
        {spans.length === 0 ? (
          <Text size="sm">No version served in this span.</Text>
        ) : (
          <>
            <Lanes spans={spans} frame={frame} />
            <DataTable
              label="Versions that served"
              rows={spans.toReversed()}
              columns={COLUMNS}
              keyOf={({ name, as, digest, fromMs }) => `${name} ${as} ${digest} ${fromMs}`}
              pageSize={10}
              minWidth={900}
            />
          </>
        )}
        {log.data?.isWhole === false && (
          <Text size="sm" c="dimmed">
            Of the newest {log.data.changes.length} changes.
          </Text>
        )}
      </Stack>
    </Section>
  );
}

function Counted({ frame, spans }: { frame: Frame; spans: readonly ServedSpan[] }) {
  const { fromMs, toMs } = frame;
  const query = { from: String(fromMs), to: String(toMs), buckets: BUCKETS };
  const { data: page } = useAsked<OverviewPage>(withQuery('analysis/overview', query));
  if (page === undefined) return null;
  if (page.now.clickRate.trials === 0) {
    return <Text size="sm">No item was shown to anybody in this span.</Text>;
  }
  return (
    <>
      <ClickRate page={page} spans={spans} />
      <PanelNote oneIn={page.oneIn} figures="Click rate" />
    </>
  );
}
