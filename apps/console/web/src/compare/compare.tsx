import {
  Anchor,
  Button,
  Grid,
  Group,
  NumberInput,
  Paper,
  Stack,
  Table,
  Text,
  Textarea,
  Title,
} from '@mantine/core';
import { useState } from 'react';
import { Link, useSearchParams } from 'react-router';
import type { ComparisonSummary } from '../../../src/api-types.js';
import {
  DEFAULT_SETTINGS,
  type Settings,
  SettingsFields,
  settingsBody,
} from '../recall/settings.js';
import { formatCount, formatShare, formatTime } from '../ui/format.js';
import { Empty, Failure, PageTitle, Waiting } from '../ui/states.js';
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

function Asking() {
  const [query] = useSearchParams();
  const [left, setLeft] = useState<Settings>(() => namedBy(query, 'left') ?? DEFAULT_SETTINGS);
  const [right, setRight] = useState<Settings>(() => namedBy(query, 'right') ?? NARROW);
  const [sample, setSample] = useState<number | string>(20);
  const [users, setUsers] = useState('');
  const { run, error, isRunning, start, stop } = useComparison();
  const given = users.split(/[\s,]+/).filter((one) => one !== '');
  const submit = () =>
    start({
      left: settingsBody(left),
      right: settingsBody(right),
      ...(given.length > 0 ? { users: given } : { sample: Number(sample) }),
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
            <Paper withBorder p="sm">
              <Title order={4}>{name}</Title>
              <SettingsFields label={`${name} settings`} value={settings} onChange={set} />
            </Paper>
          </Grid.Col>
        ))}
      </Grid>
      <Group align="flex-end">
        <NumberInput label="Users, so many" min={1} value={sample} onChange={setSample} />
        <Textarea
          label="or these"
          placeholder="IDs, with spaces between"
          autosize
          flex={1}
          value={users}
          onChange={(event) => setUsers(event.currentTarget.value)}
        />
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

function Saved() {
  const asked = useAsked<{ comparisons: ComparisonSummary[] }>('comparisons');
  if (asked.error !== null) return <Failure error={asked.error} retry={() => asked.refetch()} />;
  if (asked.data === undefined) return <Waiting rows={3} />;
  const { comparisons } = asked.data;
  if (comparisons.length === 0) {
    return <Empty title="Nothing is saved">A comparison that comes to its end is kept here.</Empty>;
  }
  return (
    <Table verticalSpacing={3} fz="sm" aria-label="Saved comparisons">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Time</Table.Th>
          <Table.Th>What was compared</Table.Th>
          <Table.Th className="number">Users</Table.Th>
          <Table.Th className="number">Overlap</Table.Th>
          <Table.Th>By</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {comparisons.map(({ id, timeMs, title, userCount, overlap, author }) => (
          <Table.Tr key={id}>
            <Table.Td style={{ whiteSpace: 'nowrap' }}>{formatTime(timeMs)}</Table.Td>
            <Table.Td>
              <Anchor component={Link} to={`/compare/${id}`} size="sm">
                {title}
              </Anchor>
            </Table.Td>
            <Table.Td className="number">{formatCount(userCount)}</Table.Td>
            <Table.Td className="number">{formatShare(overlap)}</Table.Td>
            <Table.Td>{author}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
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
        <Paper withBorder p="sm">
          <Title order={4} mb="xs">
            Saved comparisons
          </Title>
          <Saved />
        </Paper>
      </Stack>
    </>
  );
}
