import { SHAPES } from '../../models/model-shape.js';
import { servedModel } from '../../models/served-model.js';
import { type Measurement, quantile } from '../../result.js';
import type { SuiteContext } from '../suite.js';
import { DEMO_USERS_FILE, demoUserIds } from './demo-users.js';
import { LoadChild } from './load-child.js';
import type { ClassOutcome, LoadOutcome, LoadPlan } from './load-plan.js';
import { recoveryRow, steadyRate } from './overload-rows.js';
import { ServedProcess } from './served-process.js';

const CONNECTIONS = 8;
const PATIENCE_MS = 5000;
const CALLERS = [16, 48] as const;
const WARM_SECONDS = 5;
/** Enum Priority: high, normal, low; their weights. */
const PRIORITIES = [1, 2, 3] as const;
const WEIGHTS = [4, 2, 1] as const;

type Offered = Pick<LoadPlan, 'open' | 'closed' | 'seconds'> & Partial<LoadPlan>;

/** A model whose arithmetic is the limit. */
export function engineBound(context: SuiteContext): Promise<Measurement[]> {
  return goodput(context, 'engine-bound', engineBoundKeys(context.say), [150, 1500]);
}

/** Configuration of a service whose arithmetic is the limit. */
export function engineBoundKeys(say: (line: string) => void) {
  const path = servedModel(SHAPES['8x512'], say);
  return { model: { path }, users: { path: DEMO_USERS_FILE } };
}

async function goodput(
  { quick, say }: SuiteContext,
  name: string,
  keys: Readonly<Record<string, object>>,
  deadlineMs: readonly [number, number],
): Promise<Measurement[]> {
  const served = await ServedProcess.start(keys);
  const load = new LoadChild();
  const seconds = quick ? 8 : 30;
  const run = (offered: Offered) =>
    load.run({
      address: served.grpcAddress,
      userIds: demoUserIds(),
      connections: CONNECTIONS,
      deadlineMs,
      priorities: PRIORITIES,
      seed: 1,
      ...offered,
    });
  const closed = (callers: number, inSeconds: number) =>
    run({ closed: { callers }, seconds: inSeconds, deadlineMs: [PATIENCE_MS, PATIENCE_MS] });
  try {
    say(`${name}: closed loop`);
    await closed(CALLERS[0], WARM_SECONDS);
    const rates: number[] = [];
    for (const callers of CALLERS) rates.push(steadyRate(await closed(callers, seconds)));
    const capacity = Math.max(...rates);
    const rows: Measurement[] = [
      { name: `${name}: capacity, closed loop`, value: capacity, unit: 'recalls/s', bar: null },
    ];
    for (const [factor, bar] of [
      [1, null],
      [3, 0.95],
      [10, 0.9],
    ] as const) {
      say(`${name}: ${factor} times the capacity, ${(capacity * factor).toFixed(0)}/s`);
      const outcome = await run({ open: { rate: capacity * factor }, seconds });
      rows.push(...rowsOf(`${name}, ${factor}x`, outcome, capacity, bar));
      if (factor === 3) rows.push(...shareRows(`${name}, ${factor}x`, outcome));
    }
    say(`${name}: after the overload`);
    const after = await run({ open: { rate: capacity * 0.8 }, seconds: 6 });
    rows.push(recoveryRow(name, after, capacity * 0.8));
    return rows;
  } finally {
    await load.stop();
    await served.stop();
  }
}

const totals = ({ byPriority }: LoadOutcome, key: keyof ClassOutcome) =>
  Object.values(byPriority).reduce((sum, one) => sum + one[key], 0);

function expiredRow(name: string, outcome: LoadOutcome): Measurement {
  const share = totals(outcome, 'expired') / Math.max(1, totals(outcome, 'offered'));
  return {
    name: `${name}: calls that were taken and expired`,
    unit: 'of all',
    value: share,
    bar: null,
  };
}

function rowsOf(
  name: string,
  outcome: LoadOutcome,
  capacity: number,
  bar: number | null,
): Measurement[] {
  const rate = steadyRate(outcome);
  const good = totals(outcome, 'good');
  // Calls that nobody refused: a caller cannot tell a late answer from none.
  const expired = totals(outcome, 'expired');
  const kept = good + totals(outcome, 'late') + expired + totals(outcome, 'timedOut');
  const isOverload = bar !== null;
  return [
    {
      name: `${name}: goodput`,
      value: rate,
      unit: 'recalls/s',
      ratio: { value: rate / capacity, to: 'capacity' },
      bar,
    },
    {
      name: `${name}: calls not refused that were answered in time`,
      unit: 'share',
      value: good / Math.max(1, kept),
      bar: isOverload ? 0.99 : null,
    },
    {
      name: `${name}: refusals, p99`,
      unit: 'ms',
      bound: 'at-most',
      value: quantile(outcome.refusedMs, 0.99),
      bar: isOverload ? 20 : null,
    },
    expiredRow(name, outcome),
    {
      name: `${name}: answers in time, p99`,
      unit: 'ms',
      bar: null,
      value: quantile(outcome.goodMs, 0.99),
    },
    {
      name: `${name}: calls that the transport broke`,
      unit: 'calls',
      bound: 'at-most',
      value: totals(outcome, 'broken') + totals(outcome, 'other'),
      bar: 0,
    },
    {
      // Near 1 the generator itself is late, and takes the cores that the service would have.
      name: `${name}: processor time of the generator`,
      unit: 'cores',
      bar: null,
      value: outcome.cpuSeconds / outcome.seconds,
    },
  ];
}

/** How far each class is from its part of the answers, as a part of that part. */
function shareRows(name: string, outcome: LoadOutcome): Measurement[] {
  const good = PRIORITIES.map((priority) => outcome.byPriority[priority]?.good ?? 0);
  const sum = good.reduce((total, count) => total + count, 0);
  const weightSum = WEIGHTS.reduce<number>((total, weight) => total + weight, 0);
  const distances = good.map((count, cls) =>
    Math.abs(count / sum / ((WEIGHTS[cls] ?? 1) / weightSum) - 1),
  );
  return [
    {
      name: `${name}: classes from their shares 4:2:1, farthest`,
      unit: 'of the share',
      value: Math.max(...distances),
      bar: 0.1,
      bound: 'at-most',
    },
    ...good.map((count, cls) => ({
      name: `${name}: answers of class ${cls + 1} of 3`,
      unit: 'of all',
      value: count / sum,
      bar: null,
    })),
  ];
}
