import { Text } from '@mantine/core';
import { useEffect } from 'react';
import type { AdapterChange, AdapterChanges } from '../../../src/api-types.js';
import { type Column, DataTable } from '../ui/data-table.js';
import { formatTime, shortDigest } from '../ui/format.js';
import { Mark } from '../ui/mark.js';
import { Section } from '../ui/section.js';
import { Failure, Waiting } from '../ui/states.js';
import { useAsked } from '../ui/use-asked.js';

const REFRESH_MS = 10_000;

type Line = AdapterChange & { readonly at: number };

const COLUMNS: readonly Column<Line>[] = [
  {
    key: 'time',
    label: 'Time',
    value: ({ timeMs }) => timeMs,
    cell: ({ timeMs }) => <span style={{ whiteSpace: 'nowrap' }}>{formatTime(timeMs)}</span>,
  },
  { key: 'action', label: 'Action', value: ({ action }) => action },
  {
    key: 'version',
    label: 'Version',
    value: ({ name, digest }) => `${name} ${digest}`,
    cell: ({ name, digest }) => (
      <span title={digest} style={{ whiteSpace: 'nowrap' }}>
        {name} {shortDigest(digest)}
      </span>
    ),
  },
  {
    key: 'actor',
    label: 'By',
    value: ({ actor }) => actor,
    cell: ({ actor, role }) =>
      `${actor === '' ? 'somebody unknown' : actor}${role === '' ? '' : ` (${role})`}`,
  },
  {
    key: 'outcome',
    label: 'Outcome',
    value: ({ outcome }) => outcome,
    cell: ({ outcome }) => <Mark color={outcome === 'OK' ? 'teal' : 'red'}>{outcome}</Mark>,
  },
  {
    key: 'detail',
    label: 'Detail',
    cell: ({ detail }) => (
      <Text size="sm" lineClamp={3} title={detail} style={{ overflowWrap: 'anywhere' }}>
        {detail}
      </Text>
    ),
  },
];

/**
 * Actions on adapters, with actor and outcome.
 * @param props.state of the versions: where it changes, something was done
 */
export function AdapterChangeLog({ state }: { state: string }) {
  const asked = useAsked<AdapterChanges>('adapters/changes?limit=50', REFRESH_MS);
  const { refetch } = asked;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another state, another answer
  useEffect(() => {
    void refetch();
  }, [state, refetch]);
  return (
    <Section title="Changes, newest first">
      {asked.error !== null && <Failure error={asked.error} retry={() => asked.refetch()} />}
      {asked.isPending && <Waiting rows={3} />}
      {asked.data?.changes.length === 0 && <Text size="sm">Nothing has been done yet.</Text>}
      {asked.data !== undefined && asked.data.changes.length > 0 && (
        <DataTable
          label="Changes"
          rows={asked.data.changes.map((change, at) => Object.assign({ at }, change))}
          columns={COLUMNS}
          keyOf={({ at }) => String(at)}
          minWidth={760}
        />
      )}
      {asked.data?.isWhole === false && (
        <Text size="sm" c="dimmed" mt="xs">
          Older ones are in the file of audits (access.auditPath).
        </Text>
      )}
    </Section>
  );
}
