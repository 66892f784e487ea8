/** Charts as SVG that needs nothing else: Observable Plot draws them without a browser. */

import * as Plot from '@observablehq/plot';
import { parseHTML } from 'linkedom';

const WIDTH = 720;
const HEIGHT = 180;
const BAR = 20;
const NAME_LENGTH_MAX = 34;
const COLOUR = '#0b7285';

export interface Point {
  readonly timeMs: number;
  readonly value: number;
}

/** A line over time, from 0. */
export function lineChart(title: string, points: readonly Point[]): string {
  const timed = points.map(({ timeMs, value }) => ({ time: new Date(timeMs), value }));
  return figure(title, {
    height: HEIGHT,
    x: { type: 'utc', label: 'UTC' },
    y: { zero: true, nice: true, label: null, grid: true, ticks: 4 },
    marks: [
      Plot.ruleY([0]),
      Plot.lineY(timed, { x: 'time', y: 'value', stroke: COLOUR, strokeWidth: 2 }),
    ],
  });
}

export interface Bar {
  readonly name: string;
  readonly value: number;
  /** Bounds of an interval; left out: none. */
  readonly low?: number;
  readonly high?: number;
}

const isBounded = ({ low, high }: Bar) => low !== undefined && high !== undefined;

/** Horizontal bars, with intervals where they have any. */
export function barChart(title: string, bars: readonly Bar[]): string {
  return figure(title, {
    height: 50 + bars.length * BAR,
    marginLeft: 220,
    marginRight: 60,
    x: { zero: true, label: null, grid: true, ticks: 5, axis: 'top' },
    y: {
      domain: bars.map(({ name }) => name),
      label: null,
      tickSize: 0,
      tickFormat: (name: string) => name.slice(0, NAME_LENGTH_MAX),
    },
    marks: [
      Plot.barX(bars, { x: 'value', y: 'name', fill: '#66a3b0' }),
      Plot.ruleY(bars.filter(isBounded), { x1: 'low', x2: 'high', y: 'name', strokeWidth: 2 }),
      Plot.text(bars, {
        x: ({ value, high = value }: Bar) => high,
        y: 'name',
        text: ({ value }: Bar) => Number(value.toPrecision(3)).toString(),
        textAnchor: 'start',
        dx: 6,
      }),
    ],
  });
}

/** A chart of its own document, under its title. */
function figure(title: string, options: Plot.PlotOptions): string {
  const { document } = emptyPage();
  const caption = document.createElement('figcaption');
  caption.textContent = title;
  const whole = document.createElement('figure');
  whole.append(caption, drawn(document, title, options));
  return whole.outerHTML;
}

export interface Panel {
  readonly title: string;
  readonly options: Plot.PlotOptions & { readonly height: number };
}

/** Charts of one width, one below the other, as the text of an SVG file. */
export function panelsSvg(title: string, panels: readonly Panel[]): string {
  const { document } = emptyPage();
  const TITLE_HEIGHT = 24;
  let height = 0;
  const parts = panels.map(({ title: of, options }) => {
    const chart = drawn(document, of, options);
    chart.setAttribute('x', '0');
    chart.setAttribute('y', String(height + TITLE_HEIGHT));
    const text = `<text x="10" y="${height + 16}" font-weight="bold">${of}</text>`;
    height += TITLE_HEIGHT + options.height;
    return text + chart.outerHTML;
  });
  const size = `viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}"`;
  const font = 'font-family="system-ui, sans-serif" font-size="12"';
  const space = 'xmlns="http://www.w3.org/2000/svg"';
  const ground = '<rect width="100%" height="100%" fill="white"/>';
  const head = `<svg ${space} ${size} ${font} role="img" aria-label="${title}">`;
  return `${head}${ground}${parts.join('')}</svg>\n`;
}

type Page = ReturnType<typeof parseHTML>['document'];
const emptyPage = () => parseHTML('<!doctype html><html lang="en"><body></body></html>');

function drawn(document: Page, title: string, options: Plot.PlotOptions) {
  const chart = Plot.plot({ width: WIDTH, ariaLabel: title, ...options, document });
  chart.setAttribute('role', 'img');
  return chart;
}
