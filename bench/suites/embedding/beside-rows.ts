import { type Measurement, quantile } from '../../result.js';
import type { Arrivals } from '../engine/in-flight.js';

const BAR = 1.2;

/** Recalls that arrived under one load of texts, and the texts that became vectors meanwhile. */
export interface Beside {
  readonly load: string;
  readonly turns: readonly Arrivals[];
  /** Texts a second, of each turn. */
  readonly textRates: readonly number[];
}

const QUANTILES = [
  ['p50', 0.5],
  ['p99', 0.99],
] as const;

/** Recalls under each load over those of the first, which is none. One refused never ended. */
export function besideRows(all: readonly Beside[]): Measurement[] {
  const alone = all[0];
  if (alone === undefined) return [];
  const recalls = QUANTILES.flatMap(([name, share]) => {
    const base = quantile(latencies(alone), share);
    return all.map((one): Measurement => {
      const value = quantile(latencies(one), share);
      const row = { name: `recall, ${one.load}: ${name}`, value, unit: 'ms' };
      if (one === alone) return { ...row, bar: null };
      const ratio = { value: value / base, to: alone.load };
      return { ...row, ratio, bar: BAR, bound: 'at-most' };
    });
  });
  const counts = all.map(
    (one): Measurement => ({
      name: `recall, ${one.load}: answered`,
      value: one.turns.reduce((sum, turn) => sum + turn.latencies.length, 0),
      unit: 'recalls',
      bar: null,
    }),
  );
  const texts = all.slice(1).map(
    (one): Measurement => ({
      name: `texts, ${one.load}`,
      value: quantile(one.textRates, 0.5),
      unit: 'texts/s',
      bar: null,
    }),
  );
  return [...recalls, ...counts, ...texts];
}

function latencies({ turns }: Beside): number[] {
  return turns.flatMap(({ latencies: own, refused }) => [
    ...own,
    ...new Array<number>(refused).fill(Number.POSITIVE_INFINITY),
  ]);
}
