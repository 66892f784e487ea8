import type { HourFigures } from './world.js';

const HOURS_OF_DAY = 24;
const WIDTHS = [4, 6, 7, 6, 7, 7, 9, 9, 9, 10];

const row = (cells: readonly string[]): string =>
  cells.map((cell, at) => cell.padStart(WIDTHS[at] ?? 0)).join('');

export const HEADER = `${row([
  ...['day', 'hour', 'visits', 'looks', 'clicks', 'rate', 'expected', 'value', 'coverage'],
  'freshness',
])}  versions`;

const percent = (share: number) => `${(share * 100).toFixed(1)} %`;

/** The figures of an hour under HEADER. */
export function hourLine(figures: HourFigures): string {
  const { hour, visits, lost, impressions, clicks, freshnessSeconds, refused, dropped } = figures;
  const cells = [
    String(Math.floor(hour / HOURS_OF_DAY) + 1),
    `${String(hour % HOURS_OF_DAY).padStart(2, '0')}:00`,
    String(visits),
    String(impressions),
    String(clicks),
    percent(figures.clickRate),
    percent(figures.expectedClickRate),
    figures.value.toFixed(2),
    percent(figures.coverage),
    freshnessSeconds === null ? '-' : `${freshnessSeconds.toFixed(0)} s`,
  ];
  const notes = [
    versionsText(figures),
    lost > 0 && `lost visits: ${lost}`,
    dropped > 0 && `dropped: ${dropped}`,
    refused > 0 && `refused changes: ${refused}`,
  ];
  return `${row(cells)}  ${notes.filter(Boolean).join('; ')}`;
}

/** Each version with its share of the answers. */
function versionsText({ versions }: HourFigures): string {
  const answers = Object.values(versions).reduce((sum, count) => sum + count, 0);
  return Object.entries(versions)
    .map(([digest, count]) => {
      const name = digest === '' ? 'base' : digest.slice(0, 8);
      return count === answers ? name : `${name} ${((100 * count) / answers).toFixed(0)} %`;
    })
    .join(', ');
}
