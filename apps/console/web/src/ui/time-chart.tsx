import { useCallback } from 'react';
import { extremesOf } from './extremes.js';
import { COLOURS, type Plot, PlotChart, TIME_AXIS } from './plot-chart.js';
import { Section } from './section.js';

const HEIGHT = 190;
/** Parts of a line with two values each: about one for each pixel of a wide screen. */
const STRETCHES = 800;
const MS_PER_SECOND = 1000;
const digits = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 4 });
/** In the reader's zone and way of writing times. */
const toTheSecond = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

const timeOf = (seconds: number) => new Date(seconds * MS_PER_SECOND);
const shown = (value: number | null | undefined) => (value == null ? '–' : digits.format(value));

export interface ChartLine {
  readonly label: string;
  readonly values: readonly (number | null)[];
}

/** The newest value of each line, beside its colour and name. */
function Newest({ lines }: { lines: readonly ChartLine[] }) {
  return (
    <dl className="legend" aria-label="Newest values">
      {lines.map(({ label, values }, at) => (
        <div key={label}>
          <dt>
            <span aria-hidden="true" className="swatch" style={{ background: COLOURS[at] }} />
            {label}
          </dt>
          <dd>{shown(values.at(-1))}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Lines over time, in the reader's zone. */
export function TimeChart({
  title,
  unit,
  times,
  lines,
  span: [from, to],
}: {
  title: string;
  unit: string;
  /** Seconds since 1970. */
  times: readonly number[];
  lines: readonly ChartLine[];
  /** Seconds since 1970: from and to, also where nothing is known. */
  span: readonly [number, number];
}) {
  const draw = useCallback(
    (plot: Plot) => {
      const points = lines.flatMap(({ label, values }) => {
        const all = times.map((time, at) => ({ time, value: values[at] ?? null }));
        return extremesOf(all, STRETCHES).map(({ time, value }, at, drawn) => ({
          label,
          time: timeOf(time),
          value,
          // No line reaches it.
          isAlone: (drawn[at - 1]?.value ?? drawn[at + 1]?.value ?? null) === null,
        }));
      });
      const most = points.reduce((high, { value }) => Math.max(high, value ?? 0), 0);
      const format = { x: (time: Date) => toTheSecond.format(time), y: shown };
      const channels = { x: 'time', y: 'value' } as const;
      return {
        marginLeft: 64,
        color: { domain: lines.map(({ label }) => label), range: COLOURS.slice(0, lines.length) },
        x: { ...TIME_AXIS, domain: [timeOf(from), timeOf(to)] },
        y: { label: null, grid: true, domain: [0, most > 0 ? most * 1.1 : 1], ticks: 4 },
        marks: [
          plot.lineY(points, { ...channels, z: 'label', stroke: 'label', tip: { format } }),
          plot.dot(
            points.filter(({ isAlone }) => isAlone),
            { ...channels, r: 2, fill: 'label' },
          ),
        ],
      };
    },
    [times, lines, from, to],
  );
  return (
    <Section title={`${title} (${unit})`}>
      <Newest lines={lines} />
      <PlotChart label={`${title}, ${unit}, over time`} height={HEIGHT} draw={draw} />
    </Section>
  );
}
