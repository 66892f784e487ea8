import { Table, Text } from '@mantine/core';
import type { DescribedItem, RecordedRecall } from '../../../src/api-types.js';
import { formatTime } from './format.js';

type Answer = NonNullable<RecordedRecall['answer']>;

/** What the prompt was made of, newest first. */
export function HistoryList({
  answer,
  described,
  onChoose,
}: {
  answer: Answer;
  described: Readonly<Record<string, DescribedItem>>;
  onChoose: (sid: readonly number[]) => void;
}) {
  const profile = Object.entries(answer.profile);
  return (
    <>
      {profile.length > 0 && (
        <Text size="sm" mt="xs">
          Profile: {profile.map(([key, value]) => `${key} ${value}`).join(', ')}
        </Text>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys */}
      <section className="history" tabIndex={0} aria-label="History, newest first">
        <Table verticalSpacing={2} fz="sm">
          <Table.Tbody>
            {[...answer.history].reverse().map((seen, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: an item may be there more than once
              <Table.Tr key={index} onClick={() => onChoose(seen.sid)}>
                <Table.Td>{described[seen.itemId]?.title || seen.itemId}</Table.Td>
                <Table.Td>{seen.sid.join('-')}</Table.Td>
                <Table.Td>{seen.action}</Table.Td>
                <Table.Td>{seen.time === 0 ? '' : formatTime(seen.time * 1000)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </section>
    </>
  );
}
