import { Progress, Text } from '@mantine/core';
import type { RecordedRecall } from '../../../src/api-types.js';

type Answer = NonNullable<RecordedRecall['answer']>;
type Item = Answer['items'][number];
export type Worth = NonNullable<Item['value']>;

/** That of the score, then those of terms. */
const COLORS = ['gray.7', 'teal.8', 'orange.8', 'indigo.6', 'grape.7', 'cyan.8', 'red.7', 'lime.9'];

export type Part = readonly [name: string, amount: number];

/** Summands of a value: the weighted score, and the terms in their order. */
export function partsOf({ value, terms }: Worth): readonly Part[] {
  const named = Object.entries(terms);
  const sum = named.reduce((total, [, amount]) => total + amount, 0);
  // A score of weight 0 leaves what rounding does.
  const score = value - sum;
  return Math.abs(score) < 1e-5 ? named : [['score', score], ...named];
}

/** Size of the bar of a value: its parts end to end. */
export const sizeOf = (worth: Worth) =>
  partsOf(worth).reduce((total, [, amount]) => total + Math.abs(amount), 0);

/** The largest size of a bar of these items: all are drawn to one scale. */
export const scaleOf = (worths: readonly (Worth | undefined)[]) =>
  Math.max(0, ...worths.map((worth) => (worth === undefined ? 0 : sizeOf(worth))));

const signed = (amount: number) => `${amount < 0 ? '−' : '+'}${Math.abs(amount).toFixed(3)}`;

/** A value, and its parts by their size: in what an item is strong, and how it got its place. */
export function ValueBar({
  worth,
  scale,
  name = 'value',
}: {
  worth: Worth;
  scale: number;
  /** Name of what the bar shows, for screen readers. */
  name?: string;
}) {
  const parts = partsOf(worth);
  const text = parts.map(([part, amount]) => `${part} ${signed(amount)}`).join(', ');
  return (
    <>
      <Text size="sm">{worth.value.toFixed(3)}</Text>
      <Progress.Root size={10} aria-label={`Parts of the ${name}: ${text}`} title={text} miw={80}>
        {parts.map(([part, amount], at) => (
          <Progress.Section
            key={part}
            value={scale === 0 ? 0 : (Math.abs(amount) / scale) * 100}
            color={COLORS[at % COLORS.length] ?? 'gray.7'}
            striped={amount < 0}
            aria-label={`${part} ${signed(amount)}`}
            title={`${part} ${signed(amount)}`}
          />
        ))}
      </Progress.Root>
      <Text size="xs" c="dimmed">
        {text}
        {worth.pace < 1 && `; bid paced to ${worth.pace}`}
        {worth.criticalBid !== undefined && `; critical bid ${worth.criticalBid.toPrecision(4)}`}
      </Text>
    </>
  );
}
