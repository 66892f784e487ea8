import { Button, Group, Stack, Table, Text, Textarea } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { Landing } from '../../../src/api-types.js';
import { post } from '../api.js';
import { SCROLLED_BY_KEYS } from '../ui/scrolled.js';
import { Failure } from '../ui/states.js';

const DIGITS = 4;

/** Place of a new ad, level by level, and in a sentence. */
function Place({ landing }: { landing: Landing }) {
  const { codes, distances, sid, neighbours } = landing;
  const isFull = codes.join() !== sid.join();
  const full = `The nearest one, ${codes.join('-')}, has as many items as one takes.`;
  return (
    <Stack gap={4}>
      <Text size="sm">
        It goes to semantic ID <b>{sid.join('-')}</b>. {isFull && full}
      </Text>
      <Text size="sm" c="dimmed">
        Squared distance that each level leaves:{' '}
        {distances.map((distance) => distance.toFixed(DIGITS)).join(', ')}
      </Text>
      <Table.ScrollContainer minWidth={420} scrollAreaProps={SCROLLED_BY_KEYS}>
        <Table verticalSpacing={3} aria-label="Neighbours">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Item</Table.Th>
              <Table.Th>Title</Table.Th>
              <Table.Th>Semantic ID</Table.Th>
              <Table.Th className="number">First codes in common</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {neighbours.map((one) => (
              <Table.Tr key={one.itemId}>
                <Table.Td>{one.itemId}</Table.Td>
                <Table.Td>{one.title}</Table.Td>
                <Table.Td>{one.sid.join('-')}</Table.Td>
                <Table.Td className="number">{one.sharedLevels}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Stack>
  );
}

/** Asks where an ad of a text would go; nothing is changed. */
export function LandingOfText() {
  const [text, setText] = useState('');
  const asked = useMutation({ mutationFn: () => post<Landing>('catalogue/landing', { text }) });
  return (
    <Stack gap="xs">
      <Textarea
        label="Text of an ad"
        description="As it is, or was, upserted: its semantic ID, and who lives beside it"
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        autosize
      />
      <Group>
        <Button
          variant="default"
          disabled={text.trim() === ''}
          loading={asked.isPending}
          onClick={() => asked.mutate()}
        >
          Show its place
        </Button>
      </Group>
      {asked.error !== null && <Failure error={asked.error} />}
      {asked.data !== undefined && <Place landing={asked.data} />}
    </Stack>
  );
}
