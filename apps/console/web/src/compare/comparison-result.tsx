import { Anchor, Grid, Group, Paper, Progress, Stack, Table, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'react-router';
import type { Comparison, ComparisonLine, Distribution } from '../../../src/api-types.js';
import { CertificateMark } from '../ui/certificate-mark.js';
import { formatShare } from '../ui/format.js';

type UserLine = Extract<ComparisonLine, { kind: 'user' }>;
type SummaryLine = Extract<ComparisonLine, { kind: 'summary' }>;

export interface Run {
  readonly done: number;
  readonly total: number;
  readonly users: readonly UserLine[];
  readonly failures: readonly string[];
  readonly summary?: SummaryLine;
}

export const NO_RUN: Run = { done: 0, total: 0, users: [], failures: [] };

export function withLine(run: Run, line: ComparisonLine): Run {
  switch (line.kind) {
    case 'progress':
      return { ...run, done: line.done, total: line.total };
    case 'user':
      return { ...run, users: [...run.users, line] };
    case 'failed':
      return { ...run, failures: [...run.failures, `${line.userId}: ${line.message}`] };
    case 'summary':
      return { ...run, done: run.total, summary: line };
  }
}

function ItemShifts({ comparison }: { comparison: Comparison }) {
  return (
    <Table verticalSpacing={2} fz="sm" aria-label="Items of both answers">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Item</Table.Th>
          <Table.Th className="number">Left rank</Table.Th>
          <Table.Th className="number">Right rank</Table.Th>
          <Table.Th>Change</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {comparison.items.map(({ itemId, title, leftRank, rightRank }) => {
          const shift = (leftRank ?? 0) - (rightRank ?? 0);
          const change =
            leftRank === undefined
              ? 'gained'
              : rightRank === undefined
                ? 'lost'
                : shift === 0
                  ? 'same'
                  : `${shift > 0 ? 'up' : 'down'} ${Math.abs(shift)}`;
          return (
            <Table.Tr key={itemId}>
              <Table.Td>{title || itemId}</Table.Td>
              <Table.Td className="number">{leftRank ?? '–'}</Table.Td>
              <Table.Td className="number">{rightRank ?? '–'}</Table.Td>
              <Table.Td>{change}</Table.Td>
            </Table.Tr>
          );
        })}
      </Table.Tbody>
    </Table>
  );
}

function Users({ users }: { users: readonly UserLine[] }) {
  const [chosen, setChosen] = useState<string | undefined>(undefined);
  const shown = users.find(({ userId }) => userId === chosen) ?? users[0];
  return (
    <Grid>
      <Grid.Col span={{ base: 12, lg: 5 }}>
        <Table verticalSpacing={2} fz="sm" aria-label="Users">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>User</Table.Th>
              <Table.Th className="number">Overlap</Table.Th>
              <Table.Th className="number">Mean shift</Table.Th>
              <Table.Th className="number">Gained</Table.Th>
              <Table.Th className="number">Lost</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {users.map((user) => (
              <Table.Tr key={user.userId} className={user === shown ? 'chosen' : ''}>
                <Table.Td>
                  <Anchor component="button" size="sm" onClick={() => setChosen(user.userId)}>
                    {user.userId}
                  </Anchor>
                </Table.Td>
                <Table.Td className="number">{formatShare(user.overlap)}</Table.Td>
                <Table.Td className="number">{user.rankShift.toFixed(1)}</Table.Td>
                <Table.Td className="number">{user.gained}</Table.Td>
                <Table.Td className="number">{user.lost}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Grid.Col>
      <Grid.Col span={{ base: 12, lg: 7 }}>
        {shown !== undefined && (
          <>
            <Title order={5}>
              User{' '}
              <Anchor component={Link} to={`/users/${encodeURIComponent(shown.userId)}`}>
                {shown.userId}
              </Anchor>
            </Title>
            {shown.certificates !== undefined && (
              <Group gap="xs" my="xs">
                <Text size="sm">Left</Text>
                <CertificateMark {...shown.certificates.left} />
                <Text size="sm">Right</Text>
                <CertificateMark {...shown.certificates.right} />
              </Group>
            )}
            <ItemShifts comparison={shown} />
          </>
        )}
      </Grid.Col>
    </Grid>
  );
}

function Attributes({ attributes }: { attributes: Distribution }) {
  return Object.entries(attributes).map(([name, values]) => {
    const most = Math.max(...Object.values(values).flatMap(({ left, right }) => [left, right]));
    return (
      <Stack key={name} gap={2}>
        <Title order={5}>Items by {name}</Title>
        <Table verticalSpacing={1} fz="xs" aria-label={`Items by ${name}`}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{name}</Table.Th>
              <Table.Th className="number" colSpan={2}>
                left
              </Table.Th>
              <Table.Th colSpan={2}>right</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {Object.entries(values).map(([value, { left, right }]) => (
              <Table.Tr key={value}>
                <Table.Td w="25%">{value}</Table.Td>
                <Table.Td className="number">{left}</Table.Td>
                <Table.Td w="30%">
                  <Progress value={(left / most) * 100} aria-label={`left ${left}`} />
                </Table.Td>
                <Table.Td w="30%">
                  <Progress
                    value={(right / most) * 100}
                    color="orange.8"
                    aria-label={`right ${right}`}
                  />
                </Table.Td>
                <Table.Td className="number">{right}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Stack>
    );
  });
}

/** Findings of a comparison, also while it runs. */
export function ComparisonResult({ run }: { run: Run }) {
  const { summary, users, failures } = run;
  return (
    <Stack>
      {run.total > 0 && (
        <Progress
          value={(run.done / run.total) * 100}
          aria-label={`${run.done} of ${run.total} users`}
        />
      )}
      {summary !== undefined && (
        <Paper withBorder p="sm">
          <Text>
            {summary.users} users: overlap {formatShare(summary.overlap)}, mean shift of shared
            items {summary.rankShift.toFixed(2)} ranks, {summary.gained} gained, {summary.lost} lost
            {summary.failed > 0 && `, ${summary.failed} failed`}
          </Text>
        </Paper>
      )}
      {failures.length > 0 && <Text size="sm">Failed: {failures.slice(0, 5).join('; ')}</Text>}
      {users.length > 0 && (
        <Paper withBorder p="sm">
          <Users users={users} />
        </Paper>
      )}
      {summary !== undefined && (
        <Paper withBorder p="sm">
          <Stack gap="lg">
            <Attributes attributes={summary.attributes} />
          </Stack>
        </Paper>
      )}
    </Stack>
  );
}
