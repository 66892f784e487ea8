import type { RecallRuntimeOptions } from '@tessera/recall';

/** Keys of `engine` that decide how many recalls a second a machine answers. */
export type Setting = Pick<
  RecallRuntimeOptions['engine'],
  'threadCount' | 'batchRequestsMax' | 'batchRowsMax' | 'prefillChunkTokens'
>;
export type Axes = Readonly<Record<keyof Setting, readonly number[]>>;

export interface Measured {
  readonly setting: Setting;
  /** Recalls a second. */
  readonly rate: number;
}

/** Recalls a second of a setting; 0 where the engine cannot be opened with it. */
export type Measure = (setting: Setting) => Promise<number>;

/** In the order in which they are tried, each with those before it as they were chosen. */
const ORDER = ['threadCount', 'batchRequestsMax', 'batchRowsMax', 'prefillChunkTokens'] as const;
/** Of two settings whose rates differ by less the one that takes less memory and time is taken. */
const INDIFFERENT = 0.02;
/** Settings that are measured again, in turns: the fastest of many was also the luckiest. */
const FINALISTS = 4;
const TURNS = 3;

/** `fitting`: requests whose keys and values the engine has memory for at a time. */
export function axesOf(cores: number, fitting: number): Axes {
  const threads = [Math.max(1, cores - 1), cores];
  return {
    threadCount: [...new Set(threads)],
    batchRequestsMax: [4, 8, 16, 32, 64].filter((count) => count === 4 || count <= fitting),
    batchRowsMax: [512, 1024, 2048],
    prefillChunkTokens: [128, 256, 512],
  };
}

/** The first of the fastest: lists go from less to more. */
export function chosen(measured: readonly Measured[]): Measured {
  const best = Math.max(...measured.map(({ rate }) => rate));
  const first = measured.find(({ rate }) => rate >= best * (1 - INDIFFERENT));
  if (first === undefined) throw new Error('expected a measured setting, got none');
  return first;
}

/** One axis after the other; everything that was measured, with the advice. */
export async function descend(start: Setting, axes: Axes, measure: Measure) {
  const measured: Measured[] = [];
  const rateOf = async (setting: Setting) => {
    const known = measured.find((one) => isSame(one.setting, setting));
    if (known !== undefined) return known;
    const fresh = { setting, rate: await measure(setting) };
    measured.push(fresh);
    return fresh;
  };
  let advice = await rateOf(start);
  for (const key of ORDER) {
    const along: Measured[] = [];
    for (const value of axes[key]) along.push(await rateOf({ ...advice.setting, [key]: value }));
    advice = chosen(along);
  }
  return { advice: chosen(await again(finalists(measured, advice), measure)), measured };
}

/** The fastest, and the one that was chosen among them; from less to more. */
export function finalists(measured: readonly Measured[], advice: Measured): readonly Setting[] {
  const fastest = measured.toSorted((a, b) => b.rate - a.rate).slice(0, FINALISTS);
  const all = fastest.some(({ setting }) => isSame(setting, advice.setting))
    ? fastest
    : [...fastest, advice];
  return all.map(({ setting }) => setting).sort((a, b) => sizeOf(a) - sizeOf(b));
}

/** Each setting's median of some turns: what else the machine does falls on all of them. */
export async function again(settings: readonly Setting[], measure: Measure): Promise<Measured[]> {
  const rates = settings.map((): number[] => []);
  for (let turn = 0; turn < TURNS; turn += 1) {
    for (const [i, setting] of settings.entries()) rates[i]?.push(await measure(setting));
  }
  const median = (of: readonly number[]) => of.toSorted((a, b) => a - b)[TURNS >> 1] ?? 0;
  return settings.map((setting, i) => ({ setting, rate: median(rates[i] ?? []) }));
}

/** Measurements of finalists at most. */
export const FINAL_MEASUREMENTS_MAX = TURNS * (FINALISTS + 1);

/** Measurements of a search along these axes at most. */
export function measurementsMax(axes: Axes): number {
  return 1 + Object.values(axes).flat().length + FINAL_MEASUREMENTS_MAX;
}

/** Memory and time of a pass grow with each of them; threads count most. */
const sizeOf = (of: Setting) =>
  Math.log2(of.batchRowsMax) +
  Math.log2(of.batchRequestsMax) +
  Math.log2(of.prefillChunkTokens) +
  64 * of.threadCount;

/** Every combination. */
export function grid(axes: Axes): readonly Setting[] {
  return axes.threadCount.flatMap((threadCount) =>
    axes.batchRequestsMax.flatMap((batchRequestsMax) =>
      axes.batchRowsMax.flatMap((batchRowsMax) =>
        axes.prefillChunkTokens.map((prefillChunkTokens) => ({
          threadCount,
          batchRequestsMax,
          batchRowsMax,
          prefillChunkTokens,
        })),
      ),
    ),
  );
}

export function isSame(a: Setting, b: Setting): boolean {
  return ORDER.every((key) => a[key] === b[key]);
}
