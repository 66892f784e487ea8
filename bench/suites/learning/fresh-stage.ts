import { type HourFigures, WORLD_DEFAULTS } from '../../../tools/world/world.js';
import { type Measurement, quantile } from '../../result.js';
import type { SuiteContext } from '../suite.js';
import { liveWith } from './loop-stage.js';

const DAY = 24;
const SIZES = { quick: { seeds: 1, days: 2 }, full: { seeds: 3, days: 3 } };
const ARMS = ['loop', 'frozen'] as const;
type Arm = (typeof ARMS)[number];

/** First day of a new ad. */
interface FirstDay {
  readonly impressions: number;
  /** Part of all impressions of these hours. */
  readonly share: number;
}

/** First days of new ads, where a trainer follows every four hours and with a frozen model. */
export async function freshStage(context: SuiteContext): Promise<Measurement[]> {
  const { seeds, days } = SIZES[context.quick ? 'quick' : 'full'];
  const live = async (arm: Arm) => {
    const all: FirstDay[] = [];
    for (let seed = 1; seed <= seeds; seed += 1) {
      const found = firstDays(await liveWith(context, arm, { seed }, days));
      const counts = found.map(({ impressions }) => impressions).sort((one, two) => one - two);
      context.say(`seed ${seed}, ${arm}, impressions of each first day: ${counts.join(' ')}`);
      all.push(...found);
    }
    return all;
  };
  const [loop, frozen] = await Promise.all([live('loop'), live('frozen')]);
  return [...figuresOf('loop', loop, frozen), ...figuresOf('frozen', frozen)];
}

/** First days that have ended. */
function firstDays(hours: readonly HourFigures[]): FirstDay[] {
  return hours.flatMap(({ arrivals }) =>
    arrivals.map(({ hour, impressions }) => {
      const its = hours.slice(hour, hour + DAY);
      const total = its.reduce((sum, one) => sum + one.impressions, 0);
      return { impressions, share: impressions / total };
    }),
  );
}

function figuresOf(
  arm: Arm,
  days: readonly FirstDay[],
  beside?: readonly FirstDay[],
): Measurement[] {
  const row = (name: string, unit: string, figure: (of: readonly FirstDay[]) => number) => {
    const value = figure(days);
    const other = beside === undefined ? 0 : figure(beside);
    const ratio = other > 0 && { value: value / other, to: 'frozen' };
    const of = `${arm}, ${days.length} new ads`;
    return { name: `${name}, ${of}`, value, unit, bar: null, ...(ratio && { ratio }) };
  };
  const mean = (values: readonly number[]) =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const counts = (of: readonly FirstDay[]) => of.map(({ impressions }) => impressions);
  const { newAds } = WORLD_DEFAULTS.market;
  return [
    row(
      'share of all impressions that new ads get in their first day',
      'share',
      (of) => newAds * mean(of.map(({ share }) => share)),
    ),
    row('impressions of a first day, median', 'impressions', (of) => quantile(counts(of), 0.5)),
    row('new ads without an impression in their first day', 'share', (of) =>
      mean(counts(of).map((count) => (count === 0 ? 1 : 0))),
    ),
  ];
}
