import type { HourFigures } from '../../../tools/world/world.js';
import type { Measurement } from '../../result.js';
import type { SuiteContext } from '../suite.js';
import { liveWith } from './loop-stage.js';

const SIZES = { quick: { seeds: 1, days: 2 }, full: { seeds: 3, days: 3 } };
const SHARE = 0.2;

/** New ads with and without drawn places, both with a trainer that follows. */
export async function freshStage(context: SuiteContext): Promise<Measurement[]> {
  const { seeds, days } = SIZES[context.quick ? 'quick' : 'full'];
  const sums = { drawn: newSums(), undrawn: newSums() };
  for (let seed = 1; seed <= seeds; seed += 1) {
    for (const arm of ['drawn', 'undrawn'] as const) {
      const explore = arm === 'drawn' ? SHARE : 0;
      add(sums[arm], await liveWith(context, 'loop', { seed, explore }, days));
      const { ads, impressions, value } = sums[arm];
      context.say(`seed ${seed}, ${arm}: ${impressions} impressions of ${ads} ads, value ${value}`);
    }
  }
  const { drawn, undrawn } = sums;
  const firstDay = drawn.impressions / drawn.ads / (undrawn.impressions / undrawn.ads);
  return [
    {
      name: `impressions of a new ad in its first day, ${SHARE} of the recalls draw a place`,
      value: drawn.impressions / drawn.ads,
      unit: 'impressions',
      ratio: { value: firstDay, to: 'no drawn places' },
      bar: 5,
      bound: 'at-least',
    },
    {
      name: 'value of all ads (bids by the probabilities of clicks)',
      value: drawn.value,
      unit: 'bids',
      ratio: { value: drawn.value / undrawn.value, to: 'no drawn places' },
      bar: 0.98,
      bound: 'at-least',
    },
  ];
}

const newSums = () => ({ ads: 0, impressions: 0, value: 0 });

function add(sums: ReturnType<typeof newSums>, hours: readonly HourFigures[]): void {
  for (const { arrivals, expectedValue } of hours) {
    sums.value += expectedValue;
    sums.ads += arrivals.length;
    for (const { impressions } of arrivals) sums.impressions += impressions;
  }
}
