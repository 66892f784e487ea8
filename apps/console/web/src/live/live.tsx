import { Anchor, Paper, SegmentedControl, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useMemo } from 'react';
import { Link, useSearchParams } from 'react-router';
import type { LivePage, Pulse } from '../../../src/api-types.js';
import { CanaryReportTables } from '../adapters/canary-report.js';
import { Figure, Figures } from '../ui/figure.js';
import {
  formatBytes,
  formatCount,
  formatShare,
  formatShort,
  formatTime,
  shortDigest,
  ZONE,
} from '../ui/format.js';
import { PageTitle } from '../ui/section.js';
import { Empty, Failure, Waiting } from '../ui/states.js';
import { TimeChart } from '../ui/time-chart.js';
import { useLive } from './use-live.js';

const MS_PER_MINUTE = 60_000;
const SPANS = [
  { value: '5', label: '5 min' },
  { value: '15', label: '15 min' },
  { value: '60', label: '1 hour' },
  { value: '360', label: '6 hours' },
  { value: '1440', label: '1 day' },
];
const STAGES = ['total', 'queue', 'prefill', 'decode', 'features'] as const;
const TIERS = ['device', 'host', 'disk', 'shared', 'computed'] as const;

const perSecond = (pulse: Pulse, count: number) => (pulse.seconds > 0 ? count / pulse.seconds : 0);
const refusedOf = (pulse: Pulse) => Object.values(pulse.refused).reduce((a, b) => a + b, 0);

function shareOf(pulse: Pulse, tier: (typeof TIERS)[number]): number | null {
  const all = Object.values(pulse.tokens).reduce((a, b) => a + b, 0);
  return all === 0 ? null : (pulse.tokens[tier] / all) * 100;
}

/** Per pulse, changes of the catalogue since the one before it. */
function changesOf(pulses: readonly Pulse[]): number[] {
  return pulses.map((pulse, index) => {
    const before = pulses[index - 1]?.catalogueSequence ?? pulse.catalogueSequence;
    return perSecond(pulse, Math.max(0, pulse.catalogueSequence - before));
  });
}

type Stage = (typeof STAGES)[number];

/** Milliseconds of a stage; null where no recall went through it. */
const stage = (name: Stage, quantile: 'p50' | 'p95' | 'p99') => (pulse: Pulse) => {
  const us = pulse.stagesUs[name]?.[quantile];
  return us === undefined ? null : us / 1000;
};

interface Chart {
  readonly title: string;
  readonly unit: string;
  readonly lines: readonly (readonly [label: string, of: (pulse: Pulse) => number | null])[];
}

const CHARTS: readonly Chart[] = [
  {
    title: 'Recalls',
    unit: 'per second',
    lines: [
      ['answered', (pulse) => perSecond(pulse, pulse.answered)],
      ['refused', (pulse) => perSecond(pulse, refusedOf(pulse))],
      ['recorded', (pulse) => perSecond(pulse, pulse.recorded)],
    ],
  },
  {
    title: 'Time of a recall',
    unit: 'ms',
    lines: [
      ['median', stage('total', 'p50')],
      ['95 %', stage('total', 'p95')],
      ['99 %', stage('total', 'p99')],
    ],
  },
  {
    title: 'Time by stage, median',
    unit: 'ms',
    lines: STAGES.slice(1).map((name) => [name, stage(name, 'p50')] as const),
  },
  {
    title: 'Prompt tokens by source of keys and values',
    unit: '%',
    lines: TIERS.map((tier) => [tier, (pulse) => shareOf(pulse, tier)] as const),
  },
  {
    title: 'Beam widths in use',
    unit: 'beams',
    lines: [
      ['mean', (pulse) => pulse.widthMean],
      ['widest', (pulse) => pulse.widthMax],
    ],
  },
];

function Charts({ pulses, minutes }: { pulses: readonly Pulse[]; minutes: number }) {
  const toMs = pulses.at(-1)?.timeMs ?? 0;
  const span = [(toMs - minutes * MS_PER_MINUTE) / 1000, toMs / 1000] as const;
  const times = useMemo(() => pulses.map((pulse) => pulse.timeMs / 1000), [pulses]);
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }}>
      {CHARTS.map(({ title, unit, lines }) => (
        <TimeChart
          key={title}
          title={title}
          unit={unit}
          times={times}
          span={span}
          lines={lines.map(([label, of]) => ({ label, values: pulses.map(of) }))}
        />
      ))}
      <TimeChart
        title="Changes of the catalogue"
        unit="per second"
        times={times}
        span={span}
        lines={[{ label: 'changes', values: changesOf(pulses) }]}
      />
    </SimpleGrid>
  );
}

function Now({ page }: { page: LivePage }) {
  const { engine, store } = page;
  const refused: Record<string, number> = {};
  for (const pulse of page.pulses) {
    for (const [code, count] of Object.entries(pulse.refused)) {
      refused[code] = (refused[code] ?? 0) + count;
    }
  }
  const refusals = Object.entries(refused).map(([code, count]) => `${code} ${formatCount(count)}`);
  const last = page.pulses.at(-1);
  const median = last && stage('total', 'p50')(last);
  return (
    <>
      <Figures>
        <Figure
          label="Answered"
          value={last === undefined ? '–' : perSecond(last, last.answered).toFixed(1)}
          note="per second, in the last pulse"
        />
        <Figure
          label="Time of a recall"
          value={median == null ? '–' : `${median.toFixed(1)} ms`}
          note="median of the last pulse"
        />
        <Figure
          label="In the engine"
          value={formatCount(engine.running)}
          note={`${formatCount(engine.queued)} waiting`}
        />
        <Figure
          label="Refused in this span"
          value={formatCount(Object.values(refused).reduce((a, b) => a + b, 0))}
          note={refusals.length === 0 ? 'none' : refusals.join(', ')}
        />
        {store !== undefined && (
          <Figure
            label="Recorded recalls kept"
            value={formatShort(store.recalls)}
            note={
              `${formatBytes(store.usedBytes)}; ${formatCount(store.dropped)} dropped` +
              (store.oldestMs > 0 ? `; since ${formatTime(store.oldestMs)}` : '')
            }
          />
        )}
      </Figures>
      {page.canaries.length === 0 && <Text size="sm">No canary of an adapter runs.</Text>}
    </>
  );
}

/** How the canaries of this moment fare; what crosses a limit is rolled back by itself. */
function Canaries({ canaries }: { canaries: LivePage['canaries'] }) {
  return canaries.map(({ name, digest, share, changedMs, report }) => (
    <Paper key={name} withBorder p="sm">
      <Title order={2} size="h5" mb="xs">
        Canary{' '}
        <Anchor component={Link} to="/adapters">
          {name} {shortDigest(digest)}
        </Anchor>{' '}
        for {formatShare(share)} of the users, since {formatTime(changedMs)}
      </Title>
      <CanaryReportTables report={report} />
    </Paper>
  ));
}

export function View() {
  const [query, setQuery] = useSearchParams();
  const given = query.get('minutes') ?? '60';
  const chosen = SPANS.some(({ value }) => value === given) ? given : '60';
  const minutes = Number(chosen);
  const asked = useLive(minutes);
  return (
    <>
      <PageTitle
        title="Live"
        actions={
          <SegmentedControl
            aria-label="How far back"
            size="xs"
            value={chosen}
            onChange={(value) => setQuery({ minutes: value })}
            data={SPANS}
          />
        }
      >
        A point every five seconds, times in {ZONE}; kept over restarts. Rates of many nodes, alerts
        and older times: the Grafana dashboard in deploy/grafana.
      </PageTitle>
      <Stack>
        {asked.error !== null && <Failure error={asked.error} retry={() => asked.refetch()} />}
        {asked.isPending && <Waiting rows={10} />}
        {asked.data !== undefined && <Now page={asked.data} />}
        {asked.data !== undefined && <Canaries canaries={asked.data.canaries} />}
        {asked.data?.pulses.length === 0 && (
          <Empty title="No pulse yet">The first one comes within five seconds of the start.</Empty>
        )}
        {asked.data !== undefined && asked.data.pulses.length > 0 && (
          <Charts pulses={asked.data.pulses} minutes={minutes} />
        )}
      </Stack>
    </>
  );
}
