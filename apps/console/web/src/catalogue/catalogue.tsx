import { Button, Group, Modal, NumberInput, Paper, Stack, Table, Text, Title } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { CataloguePage } from '../../../src/api-types.js';
import { post } from '../api.js';
import { formatBytes, formatCount, shortDigest } from '../ui/format.js';
import { Empty, Failure, PageTitle, Waiting } from '../ui/states.js';
import { useAsked } from '../ui/use-asked.js';
import { RoleButton } from '../ui/visitor.js';
import { ChangeLog } from './change-log.js';
import { ImportChanges } from './import-changes.js';
import { LandingOfText } from './landing.js';

function RollBack({ page }: { page: CataloguePage }) {
  const [sequence, setSequence] = useState<number | string>('');
  const [isAsked, setIsAsked] = useState(false);
  const queries = useQueryClient();
  const back = useMutation({
    mutationFn: () => post<{ sequence: number }>('catalogue/roll-back', { sequence }),
    onSuccess: () => {
      setIsAsked(false);
      return queries.invalidateQueries();
    },
  });
  const [first] = page.generations;
  if (first === undefined) return null;
  return (
    <Stack gap="xs">
      <Group align="flex-end">
        <NumberInput
          label="Go back to the items as of change"
          min={first.firstSequence}
          max={page.sequence}
          value={sequence}
          onChange={setSequence}
        />
        <RoleButton
          needs="admin"
          variant="default"
          disabled={sequence === ''}
          onClick={() => setIsAsked(true)}
        >
          Roll back
        </RoleButton>
      </Group>
      <Modal opened={isAsked} onClose={() => setIsAsked(false)} title="Roll the catalogue back?">
        <Text size="sm" mb="md">
          The items become those of change {sequence}, as a change of its own: it can be undone in
          the same way.
        </Text>
        <Group>
          <Button loading={back.isPending} onClick={() => back.mutate()}>
            Roll back
          </Button>
          <Button variant="default" onClick={() => setIsAsked(false)}>
            Keep
          </Button>
        </Group>
        {back.error !== null && <Failure error={back.error} />}
      </Modal>
    </Stack>
  );
}

function Generations({ generations }: Pick<CataloguePage, 'generations'>) {
  if (generations.length === 0) {
    return (
      <Empty title="None">
        Set catalogue.changesPath: then changes are kept, and any version of them can be gone back
        to.
      </Empty>
    );
  }
  return (
    <Table verticalSpacing={3}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Snapshot</Table.Th>
          <Table.Th className="number">First change</Table.Th>
          <Table.Th className="number">Last change</Table.Th>
          <Table.Th className="number">Log</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {generations.map((generation) => (
          <Table.Tr key={`${generation.firstSequence}-${generation.baseDigest}`}>
            <Table.Td title={generation.baseDigest}>{shortDigest(generation.baseDigest)}</Table.Td>
            <Table.Td className="number">{formatCount(generation.firstSequence)}</Table.Td>
            <Table.Td className="number">{formatCount(generation.lastSequence)}</Table.Td>
            <Table.Td className="number">{formatBytes(generation.logBytes)}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function Shown({ page }: { page: CataloguePage }) {
  return (
    <Stack>
      <Paper withBorder p="sm">
        <Group gap="xl">
          <Text size="sm">{formatCount(page.liveItemCount)} live items</Text>
          <Text size="sm">change {formatCount(page.sequence)}</Text>
          <Text size="sm">{formatCount(page.changedItemCount)} items differ from the snapshot</Text>
          <Text size="sm">bundle {page.bundleUuid === '' ? 'none' : page.bundleUuid}</Text>
        </Group>
      </Paper>
      <Paper withBorder p="sm">
        <Title order={4} mb="xs">
          Versions that are kept
        </Title>
        <Generations generations={page.generations} />
        <RollBack page={page} />
      </Paper>
      <Paper withBorder p="sm">
        <Title order={4} mb="xs">
          What changed
        </Title>
        <ChangeLog />
      </Paper>
      <Paper withBorder p="sm">
        <Title order={4} mb="xs">
          Where an ad lands
        </Title>
        <LandingOfText />
      </Paper>
      <Paper withBorder p="sm">
        <Title order={4} mb="xs">
          Import changes
        </Title>
        <ImportChanges />
      </Paper>
    </Stack>
  );
}

export function View() {
  const asked = useAsked<CataloguePage>('catalogue', 5000);
  return (
    <>
      <PageTitle title="Catalogue">What can be recalled, and its versions.</PageTitle>
      {asked.error !== null && <Failure error={asked.error} retry={() => asked.refetch()} />}
      {asked.isPending && <Waiting />}
      {asked.data !== undefined && <Shown page={asked.data} />}
    </>
  );
}
