import { Button, Table, Text } from '@mantine/core';
import type { DescribedItem, RecordedRecall } from '../../../src/api-types.js';
import { formatShare } from '../ui/format.js';

type Items = NonNullable<RecordedRecall['answer']>['items'];

function attributesOf(item: DescribedItem | undefined): string {
  if (item === undefined) return 'no longer in the catalogue';
  const entries = Object.entries(JSON.parse(item.attributes) as Record<string, unknown>);
  return entries.map(([name, value]) => `${name} ${String(value)}`).join(' · ');
}

/** The items in their order; choosing one shows its way through the tree. */
export function ItemTable({
  items,
  described,
  sid,
  onChoose,
}: {
  items: Items;
  described: Readonly<Record<string, DescribedItem>>;
  sid: readonly number[] | undefined;
  onChoose: (sid: readonly number[]) => void;
}) {
  return (
    <Table.ScrollContainer minWidth={420}>
      <Table verticalSpacing={3} highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th className="number">Rank</Table.Th>
            <Table.Th>Item</Table.Th>
            <Table.Th>SID</Table.Th>
            <Table.Th className="number">Probability</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {items.map((item) => (
            <Table.Tr key={item.rank} className={sid?.join() === item.sid.join() ? 'chosen' : ''}>
              <Table.Td className="number">{item.rank}</Table.Td>
              <Table.Td>
                <Text size="sm">{item.title || item.itemId}</Text>
                <Text
                  size="xs"
                  c="dimmed"
                  lineClamp={2}
                  title={attributesOf(described[item.itemId])}
                >
                  {item.itemId} · {attributesOf(described[item.itemId])}
                </Text>
              </Table.Td>
              <Table.Td>
                <Button
                  size="compact-xs"
                  variant="default"
                  title="Show its way in the tree"
                  onClick={() => onChoose(item.sid)}
                >
                  {item.sid.join('-')}
                </Button>
              </Table.Td>
              <Table.Td className="number">
                <Text size="sm">{formatShare(Math.exp(item.score))}</Text>
                <Text size="xs" c="dimmed">
                  score {item.score.toFixed(3)}
                </Text>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
