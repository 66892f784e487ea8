/** Small charts as SVG, complete in themselves. */

const WIDTH = 720;
const HEIGHT = 160;
const PAD = 44;
const BAR = 18;

export const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const short = (value: number) => Number(value.toPrecision(3)).toString();

export interface Point {
  readonly timeMs: number;
  readonly value: number;
}

/** A line over time, from 0. */
export function lineChart(title: string, points: readonly Point[]): string {
  const [first, last] = [points[0]?.timeMs ?? 0, points.at(-1)?.timeMs ?? 1];
  const most = Math.max(...points.map(({ value }) => value), 1e-9);
  const x = (ms: number) => PAD + ((ms - first) / Math.max(1, last - first)) * (WIDTH - 2 * PAD);
  const y = (value: number) => HEIGHT - 24 - (value / most) * (HEIGHT - 48);
  const path = points
    .map(({ timeMs, value }) => `${x(timeMs).toFixed(1)},${y(value).toFixed(1)}`)
    .join(' ');
  const label = (ms: number) => new Date(ms).toISOString().slice(0, 16).replace('T', ' ');
  return svg(title, HEIGHT, [
    `<polyline fill="none" stroke="#0b7285" stroke-width="2" points="${path}"/>`,
    text(4, 30, short(most)),
    text(4, HEIGHT - 24, '0'),
    text(PAD, HEIGHT - 6, `${label(first)} UTC`),
    text(WIDTH - PAD - 100, HEIGHT - 6, label(last)),
  ]);
}

export interface Bar {
  readonly name: string;
  readonly value: number;
  /** Bounds of an interval; left out: none. */
  readonly low?: number;
  readonly high?: number;
}

/** Horizontal bars, with intervals where they have any. */
export function barChart(title: string, bars: readonly Bar[]): string {
  const most = Math.max(...bars.map(({ value, high = value }) => high), 1e-9);
  const left = 220;
  const x = (value: number) => left + (value / most) * (WIDTH - left - 90);
  const rows = bars.flatMap(({ name, value, low, high }, index) => {
    const top = 26 + index * BAR;
    const middle = top + BAR / 2;
    const width = Math.max(0, x(value) - left).toFixed(1);
    const place = `x="${left}" y="${top + 2}" width="${width}"`;
    const bar = `<rect ${place} height="${BAR - 4}" fill="#66a3b0"/>`;
    const span =
      low === undefined || high === undefined
        ? []
        : [
            `<line x1="${x(low).toFixed(1)}" x2="${x(high).toFixed(1)}" y1="${middle}" ` +
              `y2="${middle}" stroke="#212529" stroke-width="2"/>`,
          ];
    return [
      text(4, middle + 4, name.slice(0, 34)),
      bar,
      ...span,
      text(x(high ?? value) + 6, middle + 4, short(value)),
    ];
  });
  return svg(title, 34 + bars.length * BAR, rows);
}

function text(x: number, y: number, content: string): string {
  const place = `x="${x.toFixed(1)}" y="${y}"`;
  return `<text ${place} font-size="11" fill="#343a40">${escaped(content)}</text>`;
}

function svg(title: string, height: number, parts: readonly string[]): string {
  return (
    `<figure><figcaption>${escaped(title)}</figcaption>` +
    `<svg role="img" aria-label="${escaped(title)}" ` +
    `viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" ` +
    `font-family="system-ui">${parts.join('')}</svg></figure>`
  );
}
