import { type Measurement, quantile } from '../../result.js';
import { demoUserIds } from '../overload/demo-users.js';
import { engineBoundKeys } from '../overload/goodput.js';
import { LoadChild } from '../overload/load-child.js';
import { ServedProcess } from '../overload/served-process.js';
import type { SuiteContext } from '../suite.js';

const PATIENCE_MS = 20_000;
const CALLERS = 16;
const WITHOUT = { inspection: { path: '' } };
const WITH = { inspection: { percent: 0 } };

/** Facts of every recall beside none, in turns: median time alone, and recalls a second. */
export async function factsCost({ quick, say }: SuiteContext): Promise<Measurement[]> {
  const keys = engineBoundKeys(say);
  const rounds = quick ? 2 : 6;
  const seconds = quick ? 6 : 20;
  const [without, with_] = await Promise.all(
    [WITHOUT, WITH].map((own) => ServedProcess.start({ ...keys, ...own })),
  );
  const load = new LoadChild();
  const asked = async (served: ServedProcess | undefined, callers: number) => {
    const outcome = await load.run({
      address: served?.grpcAddress ?? '',
      userIds: demoUserIds(),
      connections: 4,
      deadlineMs: [PATIENCE_MS, PATIENCE_MS],
      priorities: [2],
      seed: 1,
      closed: { callers },
      seconds,
    });
    const { goodBySecond } = outcome;
    const count = goodBySecond.slice(1, seconds).reduce((sum, one) => sum + (one ?? 0), 0);
    return { p50: quantile(outcome.goodMs, 0.5), rate: count / (seconds - 1) };
  };
  const found = { p50: [[], []] as number[][], rate: [[], []] as number[][] };
  try {
    for (let round = 0; round < rounds; round++) {
      for (const [side, served] of [without, with_].entries()) {
        say(`round ${round + 1} of ${rounds}, ${side === 0 ? 'without' : 'with'} facts`);
        found.p50[side]?.push((await asked(served, 1)).p50);
        found.rate[side]?.push((await asked(served, CALLERS)).rate);
      }
    }
  } finally {
    await load.stop();
    await without?.stop();
    await with_?.stop();
  }
  const middle = (values: readonly number[] | undefined) => quantile([...(values ?? [])], 0.5);
  const [p50Without, p50With] = found.p50.map(middle);
  const [rateWithout, rateWith] = found.rate.map(middle);
  return [
    row('8x512 alone: p50 with facts', p50With, p50Without, 'ms', 1.01, 'at-most'),
    row('8x512 full: recalls a second with facts', rateWith, rateWithout, '/s', 0.99, 'at-least'),
  ];
}

function row(
  name: string,
  value: number | undefined,
  without: number | undefined,
  unit: string,
  bar: number,
  bound: 'at-most' | 'at-least',
): Measurement {
  const ratio = { value: (value ?? 0) / (without ?? 1), to: 'without' };
  return { name, value: value ?? 0, unit, ratio, bar, bound };
}
