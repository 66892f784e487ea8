import { Box, SimpleGrid, Text } from '@mantine/core';
import type { ReactNode } from 'react';

const WIDTH = 160;
const HEIGHT = 36;
const INSET = 3;

/** Runs of points between gaps. */
function runsOf(values: readonly (number | null)[]): readonly (readonly [number, number][])[] {
  const runs: [number, number][][] = [];
  for (const [at, value] of values.entries()) {
    if (value === null) continue;
    const isNext = at > 0 && values[at - 1] !== null && runs.length > 0;
    if (isNext) runs.at(-1)?.push([at, value]);
    else runs.push([[at, value]]);
  }
  return runs;
}

/** A line without axes: its course at a glance; the number beside it is what counts. */
export function Sparkline({
  values,
  marks = [],
  label,
}: {
  /** Values, the oldest first; null where there is none. */
  values: readonly (number | null)[];
  /** Places between the first (0) and the last (1). */
  marks?: readonly number[];
  label: string;
}) {
  const known = values.filter((value) => value !== null);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const x = (at: number) => INSET + (at / Math.max(1, values.length - 1)) * (WIDTH - 2 * INSET);
  const y = (value: number) => {
    const share = high === low ? 0.5 : (value - low) / (high - low);
    return HEIGHT - INSET - share * (HEIGHT - 2 * INSET);
  };
  const runs = runsOf(values);
  return (
    <svg
      className="sparkline"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {marks.map((mark) => (
        <line
          key={mark}
          className="mark"
          x1={x(mark * (values.length - 1))}
          x2={x(mark * (values.length - 1))}
          y1={0}
          y2={HEIGHT}
        />
      ))}
      {runs.map((run) => (
        <polyline
          key={run[0]?.[0]}
          points={run.map(([at, value]) => `${x(at)},${y(value)}`).join(' ')}
        />
      ))}
      {runs
        .filter((run) => run.length === 1)
        .map(([[at, value] = [0, 0]]) => (
          <circle key={at} cx={x(at)} cy={y(value)} r={1.5} />
        ))}
    </svg>
  );
}

/** A number that one came for, as the first thing to be seen. */
export function Figure({
  label,
  value,
  note,
  children,
}: {
  label: string;
  value: string;
  note?: ReactNode;
  children?: ReactNode;
}) {
  return (
    <Box component="figure" className="figure">
      <Text component="figcaption" size="sm" c="dimmed">
        {label}
      </Text>
      <Text className="value">{value}</Text>
      {note !== undefined && (
        <Text size="xs" c="dimmed" component="div">
          {note}
        </Text>
      )}
      {children}
    </Box>
  );
}

export function Figures({ children }: { children: ReactNode }) {
  return (
    <SimpleGrid cols={{ base: 2, xs: 3, xl: 6 }} spacing="lg">
      {children}
    </SimpleGrid>
  );
}
