import { Group, Progress, Stack, Table, Text } from '@mantine/core';
import type { RecordedRecall } from '../../../src/api-types.js';
import { formatUs } from '../ui/format.js';

type Answer = NonNullable<RecordedRecall['answer']>;

/** Of the engine's thread, one after the other; features and the prefetch of blocks come before. */
const STAGES = [
  ['featuresUs', 'features ∥ prefetch', 'indigo.7'],
  ['promptUs', 'prompt', 'violet.7'],
  ['queueUs', 'queue', 'gray.6'],
  ['prefillUs', 'prefill', 'cyan.8'],
  ['decodeUs', 'decode', 'teal.8'],
  ['headUs', 'head', 'green.8'],
  ['selectUs', 'select', 'orange.8'],
  ['exportUs', 'export', 'red.7'],
] as const;

/** Where the time of a recall went. */
export function StageBar({ timings, kv }: Pick<Answer, 'timings' | 'kv'>) {
  const sum = STAGES.reduce((total, [name]) => total + timings[name], 0);
  return (
    <Stack gap={6}>
      <Progress.Root size={20} aria-label="Where the time went">
        {STAGES.map(([name, label, color]) => (
          <Progress.Section
            key={name}
            value={(timings[name] / Math.max(sum, timings.totalUs)) * 100}
            color={color}
            aria-label={`${label}: ${formatUs(timings[name])}`}
            title={`${label}: ${formatUs(timings[name])}`}
          />
        ))}
      </Progress.Root>
      <Table withRowBorders={false} verticalSpacing={0} fz="xs" aria-label="Times of the stages">
        <Table.Thead>
          <Table.Tr>
            {STAGES.map(([name, label, color]) => (
              <Table.Th key={name}>
                <Group gap={4} wrap="nowrap">
                  <span
                    aria-hidden="true"
                    style={{
                      width: 8,
                      height: 8,
                      background: `var(--mantine-color-${color.replace('.', '-')})`,
                    }}
                  />
                  {label}
                </Group>
              </Table.Th>
            ))}
            <Table.Th>total</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          <Table.Tr>
            {STAGES.map(([name]) => (
              <Table.Td key={name}>{formatUs(timings[name])}</Table.Td>
            ))}
            <Table.Td fw={700}>{formatUs(timings.totalUs)}</Table.Td>
          </Table.Tr>
        </Table.Tbody>
      </Table>
      {kv.waitUs > 0 && (
        <Text size="xs">
          Of the queue, {formatUs(kv.waitUs)} were spent waiting for blocks from a lower tier.
        </Text>
      )}
    </Stack>
  );
}
