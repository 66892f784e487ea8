import { Group } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import type * as PlotLibrary from '@observablehq/plot';
import { useEffect, useRef, useState } from 'react';
import { fileName, type Legend, pictureIn, pngOf, saveFile } from './save.js';
import { SaveButton } from './save-button.js';

export type Plot = typeof PlotLibrary;
export type PlotOptions = PlotLibrary.PlotOptions;

/** Told apart in light and dark, and by those who do not see all colours (Okabe and Ito). */
export const COLOURS = [
  ...['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#d55e00', '#56b4e9'],
  ...['#a39b00', '#7f5ab6', '#8c564b', '#1aafd0', '#b1457b', '#5b8c2a', '#868e96'],
];

const HOUR = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });

/** An axis of times in the reader's zone, days at midnight. */
export const TIME_AXIS = {
  type: 'time',
  label: null,
  tickFormat: (time: Date) =>
    (time.getHours() === 0 && time.getMinutes() === 0 ? DAY : HOUR).format(time),
} as const;

/** The library is loaded with the first chart. */
function usePlot(): Plot | undefined {
  const [plot, setPlot] = useState<Plot | undefined>(undefined);
  useEffect(() => {
    void import('@observablehq/plot').then(setPlot);
  }, []);
  return plot;
}

/**
 * A chart as SVG; its data are told in words as well, beside it or in its label.
 * @param props.draw options for a width; memoise it
 */
export function PlotChart({
  label,
  height = 260,
  draw,
  onClick,
}: {
  label: string;
  height?: number;
  draw: (plot: Plot, width: number) => PlotOptions;
  /** The value under the pointer, where the chart has a tip. */
  onClick?: (value: unknown) => void;
}) {
  const plot = usePlot();
  const { ref: frame, width } = useElementSize();
  const target = useRef<HTMLDivElement>(null);
  const clicked = useRef(onClick);
  clicked.current = onClick;
  const legend = useRef<Legend>({ names: [], colours: [] });
  useEffect(() => {
    if (plot === undefined || width === 0 || target.current === null) return;
    const options = { width, height, style: { background: 'none', fontSize: '12px' } };
    const chart = plot.plot(Object.assign(options, draw(plot, width)));
    const { domain = [], range = [] } = chart.scale('color') ?? {};
    legend.current = { names: [...domain].map(String), colours: [...range].map(String) };
    const pick = () => clicked.current?.(chart.value);
    chart.addEventListener('click', pick);
    // The picture has one name; names of its parts would need roles of their own.
    for (const part of chart.querySelectorAll('g[aria-label]')) part.removeAttribute('aria-label');
    target.current.replaceChildren(chart);
    return () => chart.remove();
  }, [plot, width, height, draw]);
  const save = async (form: 'svg' | 'png') => {
    const picture = pictureIn(target.current, legend.current);
    if (picture === undefined) return;
    const svg = () => new Blob([picture], { type: 'image/svg+xml' });
    saveFile(form === 'svg' ? svg() : await pngOf(picture), fileName(label, form));
  };
  return (
    <div ref={frame}>
      <div
        ref={target}
        className="plot"
        role="img"
        aria-label={label}
        style={{ minHeight: height }}
      />
      <Group gap="xs" justify="flex-end">
        <SaveButton label={label} form="svg" save={() => void save('svg')} />
        <SaveButton label={label} form="png" save={() => void save('png')} />
      </Group>
    </div>
  );
}
