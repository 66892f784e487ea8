import {
  Anchor,
  Group,
  Paper,
  SegmentedControl,
  SimpleGrid,
  Stack,
  Text,
  Title,
} from '@mantine/core';
import { useMemo, useState } from 'react';
import { Link } from 'react-router';
import type { LivePage, Pulse } from '../../../src/api-types.js';
import { CanaryReportTables } from '../adapters/canary-report.js';
import { formatBytes, formatCount, formatShare, formatTime, shortDigest } from '../ui/format.js';
import { Empty, Failure, PageTitle, Waiting } from '../ui/states.js';
import { TimeChart } from '../ui/time-chart.js';
import { useAsked } from '../ui/use-asked.js';

const REFRESH_MS = 5000;
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

function Charts({ pulses }: { pulses: readonly Pulse[] }) {
  const times = useMemo(() => pulses.map((pulse) => pulse.timeMs / 1000), [pulses]);
  const line = (label: string, value: (pulse: Pulse) => number | null) => ({
    label,
    values: pulses.map(value),
  });
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }}>
      <TimeChart
        title="Recalls"
        unit="per second"
        times={times}
        lines={[
          line('answered', (pulse) => perSecond(pulse, pulse.answered)),
          line('refused', (pulse) => perSecond(pulse, refusedOf(pulse))),
          line('recorded', (pulse) => perSecond(pulse, pulse.recorded)),
        ]}
      />
      <TimeChart
        title="Time of a recall"
        unit="ms"
        times={times}
        lines={[
          line('median', stage('total', 'p50')),
          line('95 %', stage('total', 'p95')),
          line('99 %', stage('total', 'p99')),
        ]}
      />
      <TimeChart
        title="Time by stage, median"
        unit="ms"
        times={times}
        lines={STAGES.slice(1).map((name) => line(name, stage(name, 'p50')))}
      />
      <TimeChart
        title="Prompt tokens by source of keys and values"
        unit="%"
        times={times}
        lines={TIERS.map((tier) => line(tier, (pulse) => shareOf(pulse, tier)))}
      />
      <TimeChart
        title="Beam widths in use"
        unit="beams"
        times={times}
        lines={[
          line('mean', (pulse) => pulse.widthMean),
          line('widest', (pulse) => pulse.widthMax),
        ]}
      />
      <TimeChart
        title="Changes of the catalogue"
        unit="per second"
        times={times}
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
  return (
    <Paper withBorder p="sm">
      <Group gap="xl">
        <Text size="sm">
          In the engine now: {engine.running} running, {engine.queued} waiting
        </Text>
        {page.canaries.length === 0 && <Text size="sm">No canary of an adapter</Text>}
        <Text size="sm">Refused: {refusals.length === 0 ? 'none' : refusals.join(', ')}</Text>
        {store !== undefined && (
          <Text size="sm">
            Recorded: {formatCount(store.recalls)} recalls, {formatCount(store.items)} items,{' '}
            {formatBytes(store.usedBytes)}; {formatCount(store.dropped)} dropped
          </Text>
        )}
      </Group>
    </Paper>
  );
}

/** How the canaries of this moment fare; what crosses a limit is rolled back by itself. */
function Canaries({ canaries }: { canaries: LivePage['canaries'] }) {
  return canaries.map(({ name, digest, share, changedMs, report }) => (
    <Paper key={name} withBorder p="sm">
      <Title order={3} size="h5" mb="xs">
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
  const [minutes, setMinutes] = useState('60');
  const asked = useAsked<LivePage>(`live?minutes=${minutes}`, REFRESH_MS);
  return (
    <>
      <Group justify="space-between" align="flex-start">
        <PageTitle title="Live">A point every five seconds; kept over restarts.</PageTitle>
        <SegmentedControl
          aria-label="How far back"
          value={minutes}
          onChange={setMinutes}
          data={[
            { value: '5', label: '5 minutes' },
            { value: '60', label: '1 hour' },
          ]}
        />
      </Group>
      <Stack>
        {asked.error !== null && <Failure error={asked.error} retry={() => asked.refetch()} />}
        {asked.isPending && <Waiting rows={10} />}
        {asked.data !== undefined && <Now page={asked.data} />}
        {asked.data !== undefined && <Canaries canaries={asked.data.canaries} />}
        {asked.data?.pulses.length === 0 && (
          <Empty title="No pulse yet">The first one comes within five seconds of the start.</Empty>
        )}
        {asked.data !== undefined && asked.data.pulses.length > 0 && (
          <Charts pulses={asked.data.pulses} />
        )}
      </Stack>
    </>
  );
}
