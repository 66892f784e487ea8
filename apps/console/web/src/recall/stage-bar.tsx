import { Progress, Stack, Text } from '@mantine/core';
import type { RecordedRecall } from '../../../src/api-types.js';
import { formatUs } from '../ui/format.js';

type Answer = NonNullable<RecordedRecall['answer']>;

/** Stages of the engine's thread, one after another; features and the prefetch come before. */
const STAGES = [
  ['featuresUs', 'features ∥ prefetch', 'indigo.7'],
  ['promptUs', 'prompt', 'violet.7'],
  ['queueUs', 'queue', 'gray.7'],
  ['prefillUs', 'prefill', 'cyan.8'],
  ['decodeUs', 'decode', 'teal.8'],
  ['headUs', 'head', 'green.8'],
  ['selectUs', 'select', 'orange.8'],
  ['exportUs', 'export', 'red.7'],
] as const;

/** Times of a recall's stages; time that no stage measured is named as well. */
export function StageBar({ timings, kv }: Pick<Answer, 'timings' | 'kv'>) {
  const sum = STAGES.reduce((total, [name]) => total + timings[name], 0);
  const whole = Math.max(sum, timings.totalUs);
  const stages = STAGES.map(([name, label, color]) => ({ label, color, us: timings[name] }));
  const rest = { label: 'between the stages', color: 'gray.5', us: whole - sum };
  const all = [...stages, rest];
  return (
    <Stack gap={6}>
      <Progress.Root size={20} aria-label="Where the time went">
        {all.map(({ label, color, us }) => (
          <Progress.Section
            key={label}
            value={(us / whole) * 100}
            color={color}
            aria-label={`${label}: ${formatUs(us)}`}
            title={`${label}: ${formatUs(us)}`}
          />
        ))}
      </Progress.Root>
      <dl className="legend" aria-label="Times of the stages">
        {all.map(({ label, color, us }) => (
          <div key={label}>
            <dt>
              <span
                aria-hidden="true"
                className="swatch"
                style={{ background: `var(--mantine-color-${color.replace('.', '-')})` }}
              />
              {label}
            </dt>
            <dd>{formatUs(us)}</dd>
          </div>
        ))}
        <div>
          <dt>total</dt>
          <dd>
            <b>{formatUs(timings.totalUs)}</b>
          </dd>
        </div>
      </dl>
      <Text size="xs" c="dimmed">
        Between the stages: turns of other requests, and the ways between threads.
        {kv.waitUs > 0 &&
          ` Of the queue, ${formatUs(kv.waitUs)} were spent waiting for blocks from a lower tier.`}
      </Text>
    </Stack>
  );
}
