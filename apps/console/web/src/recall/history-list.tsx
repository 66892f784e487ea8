import { Table, Text } from '@mantine/core';
import type { DescribedItem, RecordedRecall } from '../../../src/api-types.js';
import { sourcesOf, usPerToken } from '../kv/kv-sources.js';
import { formatCount, formatTime, formatUs } from '../ui/format.js';

type Answer = NonNullable<RecordedRecall['answer']>;
type Seen = Answer['history'][number];

/** Cost or saving of the item's tokens; undefined where it is not known. */
function costOf(tokens: readonly [number, number], { kv, timings }: Answer): string | undefined {
  const rate = usPerToken(kv, timings.prefillUs);
  if (rate === undefined) return undefined;
  const [first, end] = tokens;
  const sources = sourcesOf(tokens, kv);
  const computed = sources.find(({ source }) => source === 'computed')?.tokens ?? 0;
  const [cost, saved] = [computed * rate, (end - first - computed) * rate];
  return [cost > 0 ? `cost ${formatUs(cost)}` : '', saved > 0 ? `saved ${formatUs(saved)}` : '']
    .filter((part) => part !== '')
    .join(', ');
}

function KvCells({ seen, answer }: { seen: Seen; answer: Answer }) {
  if (seen.tokens === undefined) {
    return (
      <Table.Td colSpan={3} c="dimmed">
        not in the prompt
      </Table.Td>
    );
  }
  const [first, end] = seen.tokens;
  const sources = sourcesOf(seen.tokens, answer.kv);
  const cost = costOf(seen.tokens, answer);
  return (
    <>
      <Table.Td className="number">{formatCount(end - first)}</Table.Td>
      <Table.Td>
        {sources.length === 1
          ? sources[0]?.source
          : sources.map(({ source, tokens }) => `${source} ${tokens}`).join(', ')}
      </Table.Td>
      {cost !== undefined && <Table.Td style={{ whiteSpace: 'nowrap' }}>{cost}</Table.Td>}
    </>
  );
}

/** The history in the prompt, newest first, with the cost of each item. */
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
  const rate = usPerToken(answer.kv, answer.timings.prefillUs);
  const hasActions = answer.history.some(({ action }) => action !== '');
  const hasTimes = answer.history.some(({ time }) => time !== 0);
  return (
    <>
      {profile.length > 0 && (
        <Text size="sm" mt="xs">
          Profile: {profile.map(([key, value]) => `${key} ${value}`).join(', ')}
        </Text>
      )}
      <Text size="xs" c="dimmed" mt="xs">
        {rate === undefined
          ? 'Too few tokens were computed to tell what one costs.'
          : `Times at ${formatUs(rate)} a token, as this recall computed its own.`}
      </Text>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys */}
      <section className="history" tabIndex={0} aria-label="History, newest first">
        <Table verticalSpacing={2} fz="sm" stickyHeader>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Item</Table.Th>
              <Table.Th>SID</Table.Th>
              {hasActions && <Table.Th>Action</Table.Th>}
              {hasTimes && <Table.Th>Time</Table.Th>}
              <Table.Th className="number">Tokens</Table.Th>
              <Table.Th>Keys and values</Table.Th>
              {rate !== undefined && <Table.Th>Cost or saving</Table.Th>}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {[...answer.history].reverse().map((seen, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: an item may be there more than once
              <Table.Tr key={index} onClick={() => onChoose(seen.sid)}>
                <Table.Td>{described[seen.itemId]?.title || seen.itemId}</Table.Td>
                <Table.Td style={{ whiteSpace: 'nowrap' }}>{seen.sid.join('-')}</Table.Td>
                {hasActions && <Table.Td>{seen.action || '–'}</Table.Td>}
                {hasTimes && (
                  <Table.Td style={{ whiteSpace: 'nowrap' }}>
                    {seen.time === 0 ? '–' : formatTime(seen.time * 1000)}
                  </Table.Td>
                )}
                <KvCells seen={seen} answer={answer} />
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </section>
    </>
  );
}
