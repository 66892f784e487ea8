import 'uplot/dist/uPlot.min.css';
import { Title, useComputedColorScheme } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { type RefObject, useEffect, useRef } from 'react';
import UPlot from 'uplot';

const HEIGHT = 190;
/** Told apart in light and dark, and by those who do not see all colours. */
const COLOURS = ['#1c7ed6', '#f08c00', '#0ca678', '#ae3ec9', '#e03131', '#868e96'];

const SECONDS_PER_MINUTE = 60;
/** In the reader's zone and way of writing times. */
const toTheMinute = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const toTheSecond = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

function timesOf(splits: readonly number[], step: number): string[] {
  const format = step < SECONDS_PER_MINUTE ? toTheSecond : toTheMinute;
  return splits.map((seconds) => format.format(seconds * 1000));
}

/** Points that no line reaches, having nothing on either side. */
function lonelyOf(values: ArrayLike<number | null | undefined>): number[] {
  const isThere = (at: number) => typeof values[at] === 'number';
  const all = Array.from({ length: values.length }, (_, at) => at);
  return all.filter((at) => isThere(at) && !isThere(at - 1) && !isThere(at + 1));
}

function showNewest(chart: UPlot): void {
  if (chart.cursor.idx != null) return;
  chart.setLegend({ idx: chart.data[0].length - 1 }, false);
}

/** Of a chart with a line for each label. */
function optionsOf(
  labels: readonly string[],
  isDark: boolean,
  span: RefObject<readonly [number, number]>,
): Omit<UPlot.Options, 'width'> {
  const ink = isDark ? '#ced4da' : '#343a40';
  const grid = isDark ? '#373a40' : '#e9ecef';
  const axis = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid } };
  return {
    height: HEIGHT,
    axes: [
      {
        ...axis,
        space: 90,
        values: (_chart, splits, _axis, _space, step) => timesOf(splits, step),
      },
      { ...axis, size: 64 },
    ],
    // Without a pointer the newest values stand in the legend.
    hooks: { setData: [showNewest], ready: [showNewest], setCursor: [showNewest] },
    scales: {
      x: { range: () => [...span.current] },
      y: { range: (_chart, _low, high) => [0, high > 0 ? high * 1.1 : 1] },
    },
    series: [
      {
        label: 'time',
        value: (_chart, seconds) => (seconds === null ? '–' : toTheSecond.format(seconds * 1000)),
      },
      ...labels.map((label, index) => ({
        label,
        stroke: COLOURS[index % COLOURS.length] as string,
        width: 1.5,
        points: {
          show: true,
          size: 4,
          filter: (chart: UPlot, line: number) => lonelyOf(chart.data[line] ?? []),
        },
      })),
    ],
  };
}

export interface ChartLine {
  readonly label: string;
  readonly values: readonly (number | null)[];
}

/** Lines over time, in the reader's zone. */
export function TimeChart({
  title,
  unit,
  times,
  lines,
  span,
}: {
  title: string;
  unit: string;
  /** Seconds since 1970. */
  times: readonly number[];
  lines: readonly ChartLine[];
  /** Seconds since 1970: from and to, also where nothing is known. */
  span: readonly [number, number];
}) {
  const spanNow = useRef(span);
  spanNow.current = span;
  const { ref: frame, width } = useElementSize();
  const target = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme('light', { getInitialValueInEffect: false });
  const labels = lines.map((line) => line.label).join();
  const chart = useRef<UPlot | undefined>(undefined);
  const data = useRef<UPlot.AlignedData>([[]]);
  data.current = [[...times], ...lines.map((line) => [...line.values])];

  useEffect(() => {
    if (target.current === null || width === 0) return;
    const options = { width, ...optionsOf(labels.split(','), scheme === 'dark', spanNow) };
    chart.current = new UPlot(options, data.current, target.current);
    return () => chart.current?.destroy();
  }, [width, scheme, labels]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the data are read through the ref
  useEffect(() => chart.current?.setData(data.current), [times, lines]);

  return (
    <section className="section" ref={frame}>
      <Title order={2} size="h5">
        {title} ({unit})
      </Title>
      <div ref={target} role="img" aria-label={`${title}, ${unit}, over time`} />
    </section>
  );
}
