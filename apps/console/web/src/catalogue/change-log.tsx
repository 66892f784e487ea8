import { Anchor, Button, Group, Table, Text } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'react-router';
import type { RecordedChange } from '../../../src/api-types.js';
import { withQuery } from '../api.js';
import { formatCount, formatTime } from '../ui/format.js';
import { Empty, Failure, Waiting } from '../ui/states.js';
import { useAsked } from '../ui/use-asked.js';

const PAGE = 20;
const ITEMS_SHOWN = 5;
const WORDS: Readonly<Record<string, string>> = {
  upsert: 'put in or changed',
  pause: 'paused',
  resume: 'resumed',
  remove: 'removed',
  set_attributes: 'given attributes',
  patch_attributes: 'edits of attributes',
  set_priority: 'given a priority',
  set_pace: 'paces set',
  roll_back: 'back to an earlier version',
};

const numbersOf = ({ sequence, changeCount }: RecordedChange) =>
  changeCount === 1
    ? formatCount(sequence)
    : `${formatCount(sequence - changeCount + 1)} to ${formatCount(sequence)}`;

function Items({ change: { told, changeCount } }: { change: RecordedChange }) {
  const shown = told.slice(0, ITEMS_SHOWN).map(({ itemId }) => itemId);
  const more = changeCount - shown.length;
  return (
    <Text size="sm" title={told.map(({ op, itemId }) => `${op} ${itemId}`).join('\n')}>
      {shown.join(', ')}
      {shown.length > 0 && more > 0 && ` and ${formatCount(more)} more`}
    </Text>
  );
}

/** The changes between this one and the next older one that nobody recorded. */
function missing(change: RecordedChange, older: RecordedChange | undefined): number {
  return older === undefined ? 0 : change.sequence - change.changeCount - older.sequence;
}

function Row({ change, older }: { change: RecordedChange; older: RecordedChange | undefined }) {
  const gap = missing(change, older);
  const before = change.sequence - change.changeCount;
  return (
    <>
      <Table.Tr>
        <Table.Td style={{ whiteSpace: 'nowrap' }}>{formatTime(change.timeMs)}</Table.Td>
        <Table.Td className="number">{numbersOf(change)}</Table.Td>
        <Table.Td>
          {Object.entries(change.ops)
            .map(([op, count]) => `${formatCount(count)} ${WORDS[op] ?? op}`)
            .join(', ')}
        </Table.Td>
        <Table.Td>
          <Items change={change} />
        </Table.Td>
        <Table.Td>{change.source || 'not known'}</Table.Td>
        <Table.Td>
          <Anchor
            component={Link}
            size="sm"
            to={withQuery('/compare', {
              leftChange: String(before),
              rightChange: String(change.sequence),
            })}
          >
            Before and after
          </Anchor>
        </Table.Td>
      </Table.Tr>
      {gap > 0 && (
        <Table.Tr>
          <Table.Td colSpan={6}>
            <Text size="sm" c="dimmed">
              {formatCount(gap)} changes here were too fast to be recorded one by one.
            </Text>
          </Table.Td>
        </Table.Tr>
      )}
    </>
  );
}

/** Changes of the first catalogue, newest first. */
export function ChangeLog() {
  const [limit, setLimit] = useState(PAGE);
  const asked = useAsked<{ changes: RecordedChange[] }>(`catalogue/changes?limit=${limit}`, 5000);
  if (asked.error !== null) return <Failure error={asked.error} retry={() => asked.refetch()} />;
  if (asked.data === undefined) return <Waiting rows={4} />;
  const changes = asked.data.changes.filter(({ catalogue }) => catalogue === '');
  if (changes.length === 0) {
    return (
      <Empty title="No change is recorded">
        Changes come from an import below, over gRPC or over their topic.
      </Empty>
    );
  }
  return (
    <>
      <Table.ScrollContainer minWidth={700}>
        <Table verticalSpacing={3} fz="sm" aria-label="Changes, newest first">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Time</Table.Th>
              <Table.Th className="number">Change</Table.Th>
              <Table.Th>Change</Table.Th>
              <Table.Th>Items</Table.Th>
              <Table.Th>From</Table.Th>
              <Table.Th>Compare</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {changes.map((change, index) => (
              <Row key={change.sequence} change={change} older={changes[index + 1]} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {asked.data.changes.length === limit && limit < 1000 && (
        <Group>
          <Button size="xs" variant="default" onClick={() => setLimit(Math.min(1000, limit * 4))}>
            Show more
          </Button>
        </Group>
      )}
    </>
  );
}
