import * as Plot from '@observablehq/plot';
import { type Panel, panelsSvg } from '../report/charts.js';
import type { HourFigures } from './world.js';

const RATE = '#0b7285';
const EXPECTED = '#e8590c';

/** Hours in which an adapter version answered for the first time. */
function newVersions(hours: readonly HourFigures[]): { hour: number; name: string }[] {
  const seen = new Set<string>();
  return hours.flatMap(({ hour, versions }) =>
    Object.keys(versions).flatMap((digest) => {
      if (seen.size === seen.add(digest).size || digest === '') return [];
      return [{ hour, name: digest.slice(0, 6) }];
    }),
  );
}

/** Click rates, below them coverage and freshness, with a rule for each new version. */
export function worldPicture(hours: readonly HourFigures[]): string {
  const days = { ticks: Math.min(14, Math.ceil(hours.length / 6)), label: 'simulated hour' };
  const marks = newVersions(hours);
  const rules = Plot.ruleX(marks, { x: 'hour', stroke: '#adb5bd', strokeDasharray: '2,3' });
  const line = (y: keyof HourFigures, stroke: string, strokeWidth = 2) =>
    Plot.lineY(hours, { x: 'hour', y, stroke, strokeWidth });
  const base = { x: days, marginLeft: 50, marginRight: 20 };
  const percent = { percent: true, zero: true, nice: true, grid: true, ticks: 5 };
  const panels: Panel[] = [
    {
      title: 'Click rate of each hour (thin) and as the truth expects it (bold), in percent',
      options: {
        ...base,
        height: 260,
        y: { ...percent, label: null },
        marks: [
          Plot.ruleY([0]),
          rules,
          Plot.text(marks, {
            x: 'hour',
            text: 'name',
            frameAnchor: 'top',
            rotate: 90,
            dx: 5,
            dy: 18,
          }),
          line('clickRate', RATE, 1),
          line('expectedClickRate', EXPECTED, 3),
        ],
      },
    },
    {
      title: 'Coverage: live ads that were shown, in percent',
      options: {
        ...base,
        height: 130,
        y: { ...percent, label: null },
        marks: [Plot.ruleY([0]), rules, line('coverage', RATE)],
      },
    },
  ];
  const isFollowed = hours.some(({ freshnessSeconds }) => freshnessSeconds !== null);
  const freshness: Panel = {
    title: 'Freshness: seconds since the newest behaviour that the active version has learned',
    options: {
      ...base,
      height: 130,
      y: { zero: true, nice: true, grid: true, ticks: 4, label: null },
      marks: [Plot.ruleY([0]), rules, line('freshnessSeconds', RATE)],
    },
  };
  if (isFollowed) panels.push(freshness);
  return panelsSvg('A simulated world by the hour', panels);
}
