import { Code, Group, Paper, Progress, Stack, Table, Text } from '@mantine/core';
import type { ClusterPage, ClusterState, ShownNode } from '../../../src/api-types.js';
import { formatCount, formatShare, formatUs } from '../ui/format.js';
import { Mark } from '../ui/mark.js';
import { PageTitle } from '../ui/section.js';
import { Empty, Failure } from '../ui/states.js';
import { Unanswered } from '../ui/unanswered.js';
import { useAsked } from '../ui/use-asked.js';

const REFRESH_MS = 2000;
const COLOURS: Readonly<Record<string, string>> = {
  up: 'teal',
  draining: 'blue',
  different: 'orange',
  down: 'red',
};

function NodeRow({ node, partitions }: { node: ShownNode; partitions: number }) {
  const share = node.ownedPartitions / partitions;
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm" fw={600}>
          {node.name}
        </Text>
        <Text size="xs">gRPC {node.grpc}</Text>
        <Text size="xs">HTTP {node.http}</Text>
      </Table.Td>
      <Table.Td>
        <Mark color={COLOURS[node.state] ?? 'gray'}>{node.state}</Mark>
        {node.reason !== '' && (
          <Text size="xs" maw={320} style={{ overflowWrap: 'anywhere' }}>
            {node.reason}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <Text size="sm" style={{ whiteSpace: 'nowrap' }}>
          {formatCount(node.ownedPartitions)} ({formatShare(share)})
        </Text>
        <Progress value={share * 100} aria-label={`Share of ${node.name}`} />
      </Table.Td>
      <Table.Td className="number">{formatCount(node.inFlight)}</Table.Td>
      <Table.Td className="number">{formatUs(node.outstandingUs)}</Table.Td>
      <Table.Td className="number">{formatCount(node.chains)}</Table.Td>
    </Table.Tr>
  );
}

function Nodes({ table: { nodes, partitions } }: { table: ClusterState }) {
  return (
    <Paper withBorder p="md">
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Node</Table.Th>
            <Table.Th>State</Table.Th>
            <Table.Th>Partitions</Table.Th>
            <Table.Th className="number">Requests</Table.Th>
            <Table.Th className="number">Predicted work</Table.Th>
            <Table.Th className="number">Users kept</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {nodes.map((node) => (
            <NodeRow key={node.name} node={node} partitions={partitions} />
          ))}
        </Table.Tbody>
      </Table>
    </Paper>
  );
}

/** The gateway's view: of a node that does not answer, the reason and its last known state. */
export function View() {
  const asked = useAsked<ClusterPage>('cluster', REFRESH_MS);
  const { data, refetch } = asked;
  if (data === undefined) {
    return <Unanswered title="Cluster" asked={asked} />;
  }
  const { gateway, table, fault } = data;
  if (gateway === '') {
    return (
      <>
        <PageTitle title="Cluster" />
        <Empty title="This node is no part of a cluster">
          Name the gateway before it in <Code>console.gateway</Code> (docs/operate/cluster.md).
        </Empty>
      </>
    );
  }
  const away = table?.nodes.filter(({ state }) => state !== 'up') ?? [];
  return (
    <Stack>
      <PageTitle title="Cluster">
        <Group gap="xs">
          <Text size="sm">gateway {gateway}</Text>
          {table !== null && (
            <Text size="sm">
              table {table.digest}, revision {table.revision}
            </Text>
          )}
          {away.length > 0 && (
            <Text size="sm" fw={600}>
              without requests: {away.length} of {table?.nodes.length} nodes
            </Text>
          )}
        </Group>
      </PageTitle>
      {table === null ? <Failure error={fault} retry={() => refetch()} /> : <Nodes table={table} />}
    </Stack>
  );
}
