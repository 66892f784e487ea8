import { Paper, Table, Text, Title } from '@mantine/core';
import { useEffect } from 'react';
import type { AdapterChanges } from '../../../src/api-types.js';
import { formatTime, shortDigest } from '../ui/format.js';
import { Mark } from '../ui/mark.js';
import { Failure, Waiting } from '../ui/states.js';
import { useAsked } from '../ui/use-asked.js';

const REFRESH_MS = 10_000;

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
    <Paper withBorder p="sm">
      <Title order={4} mb="xs">
        Changes, newest first
      </Title>
      {asked.error !== null && <Failure error={asked.error} retry={() => asked.refetch()} />}
      {asked.isPending && <Waiting rows={3} />}
      {asked.data?.changes.length === 0 && <Text size="sm">Nothing has been done yet.</Text>}
      {asked.data !== undefined && asked.data.changes.length > 0 && (
        <Table verticalSpacing={3} fz="sm" aria-label="Changes">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Time</Table.Th>
              <Table.Th>What</Table.Th>
              <Table.Th>Version</Table.Th>
              <Table.Th>By</Table.Th>
              <Table.Th>Outcome</Table.Th>
              <Table.Th>Detail</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {asked.data.changes.map((change, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: two lines may be the same
              <Table.Tr key={index}>
                <Table.Td style={{ whiteSpace: 'nowrap' }}>{formatTime(change.timeMs)}</Table.Td>
                <Table.Td>{change.action}</Table.Td>
                <Table.Td title={change.digest}>
                  {change.name} {shortDigest(change.digest)}
                </Table.Td>
                <Table.Td>
                  {change.actor === '' ? 'somebody unknown' : change.actor}
                  {change.role !== '' && ` (${change.role})`}
                </Table.Td>
                <Table.Td>
                  <Mark color={change.outcome === 'OK' ? 'teal' : 'red'}>{change.outcome}</Mark>
                </Table.Td>
                <Table.Td>{change.detail}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      {asked.data?.isWhole === false && (
        <Text size="sm" c="dimmed" mt="xs">
          Older ones are in the file of audits (access.auditPath).
        </Text>
      )}
    </Paper>
  );
}
