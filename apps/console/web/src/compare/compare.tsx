import { Anchor, Button, Grid, Group, NumberInput, Stack, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { Link, useSearchParams } from 'react-router';
import type { ComparisonSummary } from '../../../src/api-types.js';
import {
  DEFAULT_SETTINGS,
  type Settings,
  SettingsFields,
  settingsBody,
} from '../recall/settings.js';
import { type Column, DataTable, numberColumn } from '../ui/data-table.js';
import { formatCount, formatShare, formatTime } from '../ui/format.js';
import { PageTitle, Section } from '../ui/section.js';
import { Empty, Failure, Waiting } from '../ui/states.js';
import { useAsked } from '../ui/use-asked.js';
import { ComparisonResult } from './comparison-result.js';
import { useComparison } from './use-comparison.js';

const NARROW: Settings = { ...DEFAULT_SETTINGS, widths: '5' };

/** The settings of a side where the address names an adapter or a version of the catalogue. */
function namedBy(query: URLSearchParams, side: 'left' | 'right'): Settings | undefined {
  const [adapter, sequence] = [query.get(side), query.get(`${side}Change`)];
  if (adapter === null && sequence === null) return undefined;
  return { ...DEFAULT_SETTINGS, adapter: adapter ?? '', catalogueSequence: sequence ?? '' };
}

function SavedAt({ id }: { id: string }) {
  return (
    <Text size="sm">
      Saved:{' '}
      <Anchor component={Link} to={`/compare/${id}`}>
        its own address
      </Anchor>
    </Text>
  );
}

interface Users {
  readonly sample: number | string;
  readonly seed: number | string;
  /** IDs with spaces between; '' for a sample. */
  readonly given: string;
}

/** Users that are asked for: by chance, or these. */
function UserFields({ users, set }: { users: Users; set: (users: Users) => void }) {
  return (
    <>
      <NumberInput
        label="Users drawn by chance"
        min={1}
        max={1000}
        value={users.sample}
        onChange={(sample) => set({ ...users, sample })}
      />
      <NumberInput
        label="Seed of the chance"
        min={0}
        value={users.seed}
        onChange={(seed) => set({ ...users, seed })}
      />
      <Textarea
        label="or these users"
        placeholder="IDs, with spaces between"
        miw={200}
        autosize
        flex={1}
        value={users.given}
        onChange={(event) => set({ ...users, given: event.currentTarget.value })}
      />
    </>
  );
}

function Asking() {
  const [query] = useSearchParams();
  const [left, setLeft] = useState<Settings>(() => namedBy(query, 'left') ?? DEFAULT_SETTINGS);
  const [right, setRight] = useState<Settings>(() => namedBy(query, 'right') ?? NARROW);
  const [users, setUsers] = useState<Users>({ sample: 20, seed: 1, given: '' });
  const { run, error, isRunning, start, stop } = useComparison();
  const given = users.given.split(/[\s,]+/).filter((one) => one !== '');
  const submit = () =>
    start({
      left: settingsBody(left),
      right: settingsBody(right),
      ...(given.length > 0
        ? { users: given }
        : { sample: Number(users.sample), seed: Number(users.seed) }),
    });
  const sides = [
    ['Left', left, setLeft],
    ['Right', right, setRight],
  ] as const;
  return (
    <Stack>
      <Grid>
        {sides.map(([name, settings, set]) => (
          <Grid.Col key={name} span={{ base: 12, md: 6 }}>
            <Section title={name}>
              <SettingsFields label={`${name} settings`} value={settings} onChange={set} />
            </Section>
          </Grid.Col>
        ))}
      </Grid>
      <Group align="flex-end">
        <UserFields users={users} set={setUsers} />
        {isRunning ? (
          <Button variant="default" onClick={stop}>
            Stop
          </Button>
        ) : (
          <Button onClick={submit}>Compare</Button>
        )}
      </Group>
      {error !== undefined && <Failure error={error} />}
      {run.summary?.id && <SavedAt id={run.summary.id} />}
      <ComparisonResult run={run} />
    </Stack>
  );
}

const SAVED_COLUMNS: readonly Column<ComparisonSummary>[] = [
  {
    key: 'time',
    label: 'Time',
    value: ({ timeMs }) => timeMs,
    cell: ({ timeMs }) => <span style={{ whiteSpace: 'nowrap' }}>{formatTime(timeMs)}</span>,
  },
  {
    key: 'title',
    label: 'Compared settings',
    value: ({ title }) => title,
    cell: ({ id, title }) => (
      <Anchor component={Link} to={`/compare/${id}`} size="sm">
        {title}
      </Anchor>
    ),
  },
  numberColumn('users', 'Users', ({ userCount }) => userCount, formatCount),
  numberColumn('overlap', 'Overlap', ({ overlap }) => overlap, formatShare),
  { key: 'author', label: 'By', value: ({ author }) => author },
];

function Saved() {
  const asked = useAsked<{ comparisons: ComparisonSummary[] }>('comparisons');
  if (asked.error !== null) return <Failure error={asked.error} retry={() => asked.refetch()} />;
  if (asked.data === undefined) return <Waiting rows={3} />;
  const { comparisons } = asked.data;
  if (comparisons.length === 0) {
    return <Empty title="Nothing is saved">A comparison that comes to its end is kept here.</Empty>;
  }
  return (
    <DataTable
      label="Saved comparisons"
      rows={comparisons}
      columns={SAVED_COLUMNS}
      keyOf={({ id }) => id}
      minWidth={600}
    />
  );
}

export function View() {
  return (
    <>
      <PageTitle title="Compare two settings">
        Adapters, versions of the catalogue or widths: both are asked for the same users, behind the
        recalls of others.
      </PageTitle>
      <Stack>
        <Asking />
        <Section title="Saved comparisons">
          <Saved />
        </Section>
      </Stack>
    </>
  );
}
