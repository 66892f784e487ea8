import { Group, Select, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { RecordedRecall } from '../../../src/api-types.js';
import { type Column, DataTable } from '../ui/data-table.js';
import { type Difference, differencesOf } from './row-difference.js';

type Items = NonNullable<RecordedRecall['answer']>['items'];

const number = (key: 'left' | 'right' | 'difference', label: string): Column<Difference> => ({
  key,
  label,
  isNumber: true,
  value: (row) => row[key],
  cell: (row) => row[key].toFixed(3),
});

const nameOf = ({ rank, title, itemId }: Items[number]) => `${rank}. ${title || itemId}`;

/** Two rows of an answer, term by term: why one stands above the other. */
export function TwoRows({ items }: { items: Items }) {
  const [chosen, setChosen] = useState<readonly [string, string]>(['0', '1']);
  const [left, right] = chosen.map((at) => items[Number(at)]);
  if (left === undefined || right === undefined) return null;
  const data = items.map((item, at) => ({ value: String(at), label: nameOf(item) }));
  const isDrawn = left.explored === true || right.explored === true;
  const [ours, theirs] = [`Rank ${left.rank}`, `Rank ${right.rank}`];
  const columns: readonly Column<Difference>[] = [
    { key: 'name', label: 'Part', value: ({ name }) => name },
    number('left', ours),
    number('right', theirs),
    number('difference', 'Difference'),
  ];
  return (
    <Stack gap="xs">
      <Group grow>
        <Select
          label="One row"
          size="xs"
          data={data}
          value={chosen[0]}
          onChange={(at) => setChosen([at ?? '0', chosen[1]])}
        />
        <Select
          label="The other"
          size="xs"
          data={data}
          value={chosen[1]}
          onChange={(at) => setChosen([chosen[0], at ?? '1'])}
        />
      </Group>
      <DataTable
        label="Differences by part"
        rows={differencesOf(left, right)}
        columns={columns}
        keyOf={({ name }) => name}
        minWidth={300}
      />
      {isDrawn && (
        <Text size="sm" c="dimmed">
          One of these rows was drawn: its place is by chance, and not by its value.
        </Text>
      )}
    </Stack>
  );
}
