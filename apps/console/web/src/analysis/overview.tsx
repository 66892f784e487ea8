import { Anchor, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import type { AnalysisAbout, Mark, OverviewFigures, OverviewPage } from '../../../src/api-types.js';
import { get, withQuery } from '../api.js';
import { Figure, Figures, Sparkline } from '../ui/figure.js';
import { formatBytes, formatCount, formatShare, formatShort, formatTime } from '../ui/format.js';
import { Section } from '../ui/section.js';
import { Empty } from '../ui/states.js';
import { useAnalysis, useFilter, viewAt } from './filter.js';
import { AnalysisPage, Answered } from './page.js';
import { PanelNote } from './panel-note.js';

const MS_PER_HOUR = 3_600_000;
const BUCKETS = '48';
/** Actions that are named where none is a click. */
const ACTIONS_SHOWN = 5;

const refusedOf = ({ refused }: Pick<OverviewFigures, 'refused'>) =>
  Object.values(refused).reduce((sum, count) => sum + count, 0);

interface Shown {
  readonly label: string;
  /** Null where there is nothing to tell. */
  readonly of: (figures: OverviewFigures) => number | null;
  readonly text: (value: number) => string;
  /** Difference to the span before, in words. */
  readonly delta: (now: number, before: number) => string;
}

function points(now: number, before: number): string {
  const difference = (now - before) * 100;
  if (Math.abs(difference) < 0.05) return 'as before';
  return `${difference > 0 ? '+' : '−'}${Math.abs(difference).toFixed(1)} points`;
}

function times(now: number, before: number): string {
  if (before === 0) return now === 0 ? 'as before' : 'none before';
  const change = ((now - before) / before) * 100;
  if (Math.abs(change) < 0.5) return 'as before';
  return `${change > 0 ? '+' : '−'}${Math.abs(change).toFixed(0)} %`;
}

const decimals = (now: number, before: number) => {
  const difference = now - before;
  if (Math.abs(difference) < 0.0005) return 'as before';
  return `${difference > 0 ? '+' : '−'}${Math.abs(difference).toFixed(3)}`;
};

const FIGURES: readonly Shown[] = [
  { label: 'Recalls', of: ({ recalls }) => recalls, text: formatShort, delta: times },
  {
    label: 'Coverage of live items',
    of: ({ coverage }) => coverage,
    text: formatShare,
    delta: points,
  },
  {
    label: 'Gini of exposure',
    of: ({ gini }) => gini,
    text: (gini) => gini.toFixed(3),
    delta: decimals,
  },
  {
    label: 'Click rate',
    of: ({ clickRate }) => (clickRate.trials === 0 ? null : clickRate.rate),
    text: formatShare,
    delta: points,
  },
  {
    label: 'Overlap with before',
    of: ({ overlap }) => overlap,
    text: formatShare,
    delta: points,
  },
  { label: 'Refused', of: refusedOf, text: formatShort, delta: times },
];

/** The numbers of the span, each with its course and what it was before. */
function Numbers({ page }: { page: OverviewPage }) {
  const { now, before, series, marks, fromMs, toMs } = page;
  const places = marks.map(({ timeMs }) => (timeMs - fromMs) / (toMs - fromMs));
  const { clickRate } = now;
  return (
    <Figures>
      {FIGURES.map(({ label, of, text, delta }) => {
        const [value, old] = [of(now), before.recalls === 0 ? null : of(before)];
        const course = series.map((bucket) => (bucket.recalls === 0 ? null : of(bucket)));
        const interval =
          label === 'Click rate' && value !== null
            ? `${formatShare(clickRate.low)} to ${formatShare(clickRate.high)}; `
            : '';
        return (
          <Figure
            key={label}
            label={label}
            value={value === null ? '–' : text(value)}
            note={
              value === null
                ? 'nothing to tell from'
                : `${interval}${old === null ? 'nothing before' : delta(value, old)}`
            }
          >
            <Sparkline label={`${label} over the span`} values={course} marks={places} />
          </Figure>
        );
      })}
    </Figures>
  );
}

/** Says why no click is known; nothing where one is, or nobody did anything. */
function NoClick({ otherActions }: Pick<OverviewPage, 'otherActions'>) {
  if (otherActions.length === 0) return null;
  return (
    <Text size="sm" role="status">
      No behaviour of this span is a click: expected one of <code>behaviours.clickActions</code>,
      got {otherActions.slice(0, ACTIONS_SHOWN).join(', ')}
      {otherActions.length > ACTIONS_SHOWN && ` and ${otherActions.length - ACTIONS_SHOWN} others`}.
    </Text>
  );
}

/** Ways to look at a moment. */
function MarkLinks({ mark, query }: { mark: Mark; query: URLSearchParams }) {
  const { kind, timeMs, firstSequence, sequence, digest } = mark;
  const around = viewAt('/reach', query, { at: String(timeMs) });
  return (
    <Group gap="sm">
      <Anchor component={Link} size="sm" to={around}>
        Gains and losses of reach
      </Anchor>
      {kind === 'catalogue' && sequence > 0 && (
        <Anchor
          component={Link}
          size="sm"
          to={withQuery('/compare', {
            leftChange: String(firstSequence - 1),
            rightChange: String(sequence),
          })}
        >
          Ask again before and after
        </Anchor>
      )}
      {kind === 'adapter' && digest !== '' && (
        <Anchor component={Link} size="sm" to={viewAt('/versions', query)}>
          Beside the other versions
        </Anchor>
      )}
    </Group>
  );
}

function WhatChanged({ page }: { page: OverviewPage }) {
  const { query } = useFilter();
  if (page.marks.length === 0) {
    return <Text size="sm">No import, roll-back or activation in this span.</Text>;
  }
  return (
    <ol className="marks">
      {page.marks.toReversed().map((mark) => (
        <li key={`${mark.timeMs} ${mark.kind} ${mark.sequence} ${mark.digest}`}>
          <Text size="sm" c="dimmed" className="when">
            {formatTime(mark.timeMs)}
          </Text>
          <Text size="sm">
            <b>{mark.kind}</b>: {mark.text}
          </Text>
          <MarkLinks mark={mark} query={query} />
        </li>
      ))}
    </ol>
  );
}

/** The usual questions, each one click from here. */
function Questions() {
  const { query } = useFilter();
  const at = (path: string, own = {}) => viewAt(path, query, own);
  const links = [
    ['What share has a category, by scene?', at('/composition')],
    ['Which eligible items were never recalled?', at('/reach', { show: 'unreached' })],
    ['Who loses by a low bid, and what bid brings them in?', at('/auction')],
    ['Who spends how much, and who is paced?', at('/auction', { show: 'spend' })],
    ['How do new ads fare in their first day?', at('/auction', { show: 'arrivals' })],
    ['What did exploration bring?', at('/auction', { show: 'exploration' })],
    ['Which head is wrong, and where?', at('/auction', { show: 'calibration' })],
    ['Where do two versions differ most?', at('/versions')],
    ["Why did a user's recall change?", at('/change')],
    ['What is clicked, by version and position?', at('/versions', { show: 'outcome' })],
    ['Who lost reach after an import?', at('/reach')],
    ['Why is an item not in a recall?', '/recalls'],
    ['Where does an item stand, and who gets it?', at('/items')],
    ['Is recall getting narrower?', at('/composition', { span: '7d' })],
    ['Export the data of a day', '/ask'],
  ] as const;
  return (
    <SimpleGrid
      cols={{ base: 1, sm: 2, lg: 3 }}
      spacing="xs"
      component="nav"
      aria-label="Questions"
    >
      {links.map(([label, to]) => (
        <Anchor key={label} component={Link} to={to} size="sm">
          {label}
        </Anchor>
      ))}
    </SimpleGrid>
  );
}

/** The facts that the numbers rest on, as of the same moment. */
function Kept({ asOf }: { asOf: number }) {
  const { data } = useQuery({
    queryKey: ['analysis/about', asOf],
    queryFn: ({ signal }) => get<AnalysisAbout>('analysis/about', signal),
  });
  if (data === undefined || !data.isKept) return null;
  const { keptFromMs, recalls, behaviours, bytes, keepMs, keepBytes, factShare, recordShare } =
    data;
  return (
    <Text size="sm" c="dimmed">
      Facts: {formatShare(factShare)} of all recalls, {formatCount(recalls)} recalls and{' '}
      {formatCount(behaviours)} behaviours
      {keptFromMs > 0 && ` since ${formatTime(keptFromMs)}`}, {formatBytes(bytes)}; kept for{' '}
      {formatCount(keepMs / MS_PER_HOUR)} hours or {formatBytes(keepBytes)}, whichever comes first.
      Recorded with tree, stages and history: {formatShare(recordShare)} of the recalls.
    </Text>
  );
}

export function View() {
  const asked = useAnalysis<OverviewPage>('overview', { buckets: BUCKETS });
  return (
    <AnalysisPage
      title="Overview"
      help="Figures of the recalls of this span, beside the span of equal length before."
    >
      <Answered asked={asked}>
        {(page) => (
          <Stack>
            {page.now.recalls === 0 && (
              <Empty title="No recall in this span">
                Choose a longer span, or take a filter out.
              </Empty>
            )}
            {page.now.recalls > 0 && <Numbers page={page} />}
            <NoClick otherActions={page.otherActions} />
            <PanelNote oneIn={page.oneIn} figures="Click rate" />
            <PanelNote oneIn={page.overlapOneIn} figures="Overlap" />
            <Section title="Changes" help="Also as dashed lines in the pictures above.">
              <WhatChanged page={page} />
            </Section>
          </Stack>
        )}
      </Answered>
      <Section title="Questions">
        <Questions />
      </Section>
      {asked.dataUpdatedAt > 0 && <Kept asOf={asked.dataUpdatedAt} />}
    </AnalysisPage>
  );
}
