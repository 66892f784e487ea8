import { parseHTML } from 'linkedom';
import { expect, it } from 'vitest';
import { barChart, lineChart } from './charts.js';

const of = (html: string) => parseHTML(`<!doctype html><html><body>${html}</body></html>`).document;
interface Drawn {
  getAttribute(name: string): string | null;
}
const numberOf = (drawn: Drawn | null, name: string) => Number(drawn?.getAttribute(name));

it('draws bars as long as their values, with their intervals, and no script', () => {
  const bars = [
    { name: 'base <all>', value: 0.5, low: 0.25, high: 1 },
    { name: 'summer at 1', value: 0.125 },
  ];
  const html = barChart('Click rate & more', bars);
  const document = of(html);
  const rects = [...document.querySelectorAll('[aria-label="bar"] rect')];
  const widths = rects.map((rect) => numberOf(rect, 'width'));
  expect(widths.length).toBe(2);
  expect((widths[0] ?? 0) / (widths[1] ?? 1)).toBeCloseTo(4, 6);
  const intervals = [...document.querySelectorAll('[aria-label="rule"] line')];
  const [interval] = intervals.map((line) => numberOf(line, 'x2') - numberOf(line, 'x1'));
  expect(intervals.length).toBe(1);
  expect((interval ?? 0) / (widths[0] ?? 1)).toBeCloseTo(1.5, 6);
  expect(document.querySelector('figcaption')?.textContent).toBe('Click rate & more');
  const svg = document.querySelector('svg');
  expect([svg?.getAttribute('role'), svg?.getAttribute('aria-label')]).toEqual([
    'img',
    'Click rate & more',
  ]);
  expect(svg?.getAttribute('viewBox')).toMatch(/^0 0 720 \d+$/);
  expect(html).toContain('base &lt;all&gt;');
  expect(html).not.toMatch(/<script|https?:(?!\/\/www\.w3\.org\/)/);
});

it('draws a line over time, from 0', () => {
  const beginMs = Date.UTC(2026, 10, 25);
  const points = [1, 3, 2].map((value, hour) => ({ timeMs: beginMs + hour * 3_600_000, value }));
  const document = of(lineChart('Gini', points));
  const path = document.querySelector('[aria-label="line"] path')?.getAttribute('d') ?? '';
  const places = [...path.matchAll(/([\d.]+),([\d.]+)/g)].map(([, x, y]) => [Number(x), Number(y)]);
  const zero = numberOf(document.querySelector('[aria-label="rule"] line'), 'y1');
  const heights = places.map(([, y]) => zero - (y ?? 0));
  expect(places.length).toBe(3);
  expect((heights[1] ?? 0) / (heights[0] ?? 1)).toBeCloseTo(3, 3);
  expect((heights[2] ?? 0) / (heights[0] ?? 1)).toBeCloseTo(2, 3);
});

it('draws nothing of nothing', () => {
  expect(of(lineChart('Gini', [])).querySelectorAll('svg').length).toBe(1);
  expect(of(barChart('Reach', [])).querySelectorAll('rect').length).toBe(0);
});
