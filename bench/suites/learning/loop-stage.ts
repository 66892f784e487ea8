import type { HourFigures, WorldOptions } from '../../../tools/world/world.js';
import type { Measurement } from '../../result.js';
import type { SuiteContext } from '../suite.js';
import { LivedWorld } from './lived-world.js';

const DAY = 24;
const SIZES = { quick: { seeds: 1, days: 2 }, full: { seeds: 5, days: 3 } };
/** Of the loop, simulated hours: two minutes at the speed of `npm start -- --world`. */
const CYCLE_HOURS = 4;
/** Worlds that live at once. */
const AT_ONCE = 2;
/** Both train each example as often. */
const ALIKE = ['--canary-seconds', '0', '--window-hours', '96'];
const ARMS = { frozen: undefined, daily: DAY, loop: CYCLE_HOURS } as const;
type Arm = keyof typeof ARMS;
/** Of Student's distribution for 95 %, by seeds less one. */
const STUDENT = [Number.POSITIVE_INFINITY, 12.706, 4.303, 3.182, 2.776];

/**
 * The same worlds with a frozen model, with one that is trained once a day, and with one that
 * follows. Rates of the last day are by the truth's probabilities, without the luck of users.
 */
export async function loopStage(context: SuiteContext): Promise<Measurement[]> {
  const { seeds, days } = SIZES[context.quick ? 'quick' : 'full'];
  const rates: Record<Arm, number[]> = { frozen: [], daily: [], loop: [] };
  const seen: Record<Arm, number[]> = { frozen: [], daily: [], loop: [] };
  // The longest first; none depends on how long it takes.
  const worlds = (['loop', 'daily', 'frozen'] as const).flatMap((arm) =>
    Array.from({ length: seeds }, (_, at) => ({ arm, seed: at + 1 })),
  );
  const live = async () => {
    for (let next = worlds.shift(); next !== undefined; next = worlds.shift()) {
      const { arm, seed } = next;
      const last = (await liveWith(context, arm, { seed }, days)).slice(-DAY);
      rates[arm][seed - 1] = meanRate(last);
      seen[arm][seed - 1] = total(last, 'clicks') / total(last, 'impressions');
      context.say(`seed ${seed}, ${arm}: ${(100 * meanRate(last)).toFixed(2)} %`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, live));
  return [
    ...ratioRows('the loop over frozen', rates.loop, rates.frozen, 1.15),
    ...ratioRows('the loop over a daily retrain', rates.loop, rates.daily, 1.03),
    ...ratioRows('clicks of users, the loop over frozen', seen.loop, seen.frozen, null),
  ];
}

/** The hours of a world with one of the three models. */
export async function liveWith(
  { flags, say }: SuiteContext,
  arm: Arm,
  options: Partial<WorldOptions>,
  days: number,
): Promise<HourFigures[]> {
  const python = flags.text('python') ?? '.venv/bin/python';
  const lived = await LivedWorld.start(options, days, python);
  const every = ARMS[arm] ?? days * DAY;
  const hours: HourFigures[] = [];
  try {
    while (hours.length < days * DAY) {
      if (hours.length > 0) say(lastLine(await lived.follow(ALIKE)));
      hours.push(...(await lived.hours(every)));
    }
    return hours;
  } finally {
    await lived.stop();
  }
}

const lastLine = (printed: string) => printed.trim().split('\n').at(-1) ?? '';

const total = (hours: readonly HourFigures[], name: 'clicks' | 'impressions') =>
  hours.reduce((sum, hour) => sum + hour[name], 0);

/** Weighed by impressions. */
function meanRate(hours: readonly HourFigures[]): number {
  const sum = hours.reduce((all, hour) => all + hour.expectedClickRate * hour.impressions, 0);
  return sum / total(hours, 'impressions');
}

/** Geometric means over seeds, with the interval of Student. */
function ratioRows(
  name: string,
  ours: readonly number[],
  theirs: readonly number[],
  bar: number | null,
): Measurement[] {
  const logs = ours.map((rate, at) => Math.log(rate / (theirs[at] ?? Number.NaN)));
  const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length;
  const spread = logs.reduce((sum, log) => sum + (log - mean) ** 2, 0) / (logs.length - 1 || 1);
  const half = (STUDENT[logs.length - 1] ?? 0) * Math.sqrt(spread / logs.length);
  const row = { name: `click rate of the last day, ${name}`, unit: 'ratio' };
  const low = logs.length > 1 ? Math.exp(mean - half) : Number.NaN;
  return [
    Object.assign({ value: Math.exp(mean), bar, bound: 'at-least' as const }, row),
    { ...row, name: `${row.name}: low end of 95 %`, value: low, bar: bar === null ? null : 1 },
  ];
}
