import { type Measurement, quantile } from '../../result.js';
import { REFUSAL_MS_MAX, takenOf, totalOf } from './call-counts.js';
import type { LoadOutcome } from './load-plan.js';
import type { LoadForm } from './loads.js';
import type { LoopDelay } from './watched-service.js';

const IN_TIME_BAR = 0.98;
const CALL_COST_BAR_MS = 0.15;
const RECOVERY_BAR_SECONDS = 2;
const MS_PER_SECOND = 1000;

/** One load, and what the service's processes took for it. */
export interface Seen {
  readonly outcome: LoadOutcome;
  readonly cpuSeconds: number;
  readonly loop: LoopDelay;
}

/** Good answers a second, without the first second and the tail. */
export function steadyRate({ goodBySecond, seconds }: LoadOutcome): number {
  const whole = Array.from({ length: seconds - 1 }, (_, at) => goodBySecond[at + 1] ?? 0);
  return whole.reduce((sum, count) => sum + count, 0) / whole.length;
}

const figuresOf = ({ outcome, cpuSeconds }: Seen) => {
  const offered = Math.max(1, totalOf(outcome, 'offered'));
  const good = totalOf(outcome, 'good');
  return {
    offered,
    good,
    inTime: good / Math.max(1, takenOf(outcome)),
    refused: totalOf(outcome, 'refused') / offered,
    unsent: totalOf(outcome, 'unsent') / offered,
    broken: totalOf(outcome, 'broken') + totalOf(outcome, 'other'),
    answerMs: (cpuSeconds / Math.max(1, good)) * MS_PER_SECOND,
    callMs: (outcome.cpuSeconds / offered) * MS_PER_SECOND,
  };
};

export function capacityRows(name: string, seen: Seen): Measurement[] {
  const { answerMs, callMs } = figuresOf(seen);
  return [
    {
      name: `${name}: capacity`,
      value: steadyRate(seen.outcome),
      unit: 'good answers/s',
      bar: null,
    },
    {
      name: `${name}: processor time of the service at capacity`,
      value: answerMs,
      unit: 'ms an answer',
      bar: null,
    },
    {
      name: `${name}: processor time of the generator at capacity`,
      value: callMs,
      unit: 'ms a call',
      bar: null,
    },
  ];
}

/** Rows of a load at a deadline; those about refusals are left out where there were none. */
export function loadRows(
  name: string,
  form: LoadForm,
  seen: Seen,
  capacity: number,
): Measurement[] {
  const { outcome, loop } = seen;
  const { inTime, refused, unsent, broken, answerMs, callMs } = figuresOf(seen);
  const rate = steadyRate(outcome);
  const plain = (what: string, value: number, unit: string): Measurement => ({
    name: `${name}: ${what}`,
    value,
    unit,
    bar: null,
  });
  const atMost = (what: string, value: number, unit: string, bar: number | null): Measurement =>
    Object.assign(plain(what, value, unit), { bar, bound: 'at-most' } as const);
  const refusals = [
    plain('refusals, median', quantile(outcome.refusedMs, 0.5), 'ms'),
    atMost('refusals, p99', quantile(outcome.refusedMs, 0.99), 'ms', REFUSAL_MS_MAX),
  ];
  return [
    {
      name: `${name}: goodput`,
      value: rate,
      unit: 'good answers/s',
      ratio: { value: rate / capacity, to: 'capacity' },
      bar: form.goodputBar,
    },
    {
      name: `${name}: in time of those taken`,
      value: inTime,
      unit: 'share',
      bar: IN_TIME_BAR,
    },
    plain('refused', refused, 'of all'),
    plain('expired at the caller', unsent, 'of all'),
    ...(outcome.refusedMs.length > 0 ? refusals : []),
    plain('answers in time, p99', quantile(outcome.goodMs, 0.99), 'ms'),
    atMost('event loop delay, p99', loop.p99Ms, 'ms', form.loopBarMs),
    plain('event loop delay, longest', loop.maxMs, 'ms'),
    plain('processor time of the service', answerMs, 'ms a good answer'),
    plain('processor time of the generator', outcome.cpuSeconds / outcome.seconds, 'cores'),
    // Where calls are few, the turns of its loop count more than they do.
    atMost('the same, a call', callMs, 'ms', form.isFlood ? CALL_COST_BAR_MS : null),
    ...(form.factor === undefined
      ? []
      : [plain('calls begun late, p99', quantile(outcome.arrivalLateMs, 0.99), 'ms')]),
    atMost('calls that the transport broke', broken, 'calls', 0),
    plain('connections that the service closed', outcome.lostConnections, 'connections'),
  ];
}

/** Seconds until all that is offered, evenly, is answered again. */
export function recoveryRow(name: string, outcome: LoadOutcome, offered: number): Measurement {
  const recovered = outcome.goodBySecond.findIndex((count) => (count ?? 0) >= offered * 0.95);
  return {
    name: `${name}: until full goodput after the overload`,
    unit: 's',
    value: recovered < 0 ? Number.POSITIVE_INFINITY : recovered + 1,
    bar: RECOVERY_BAR_SECONDS,
    bound: 'at-most',
  };
}

/** One line for those who watch. */
export function lineOf(name: string, seen: Seen, capacity: number): string {
  const { outcome, loop } = seen;
  const { offered, inTime, refused, unsent, broken, answerMs, callMs } = figuresOf(seen);
  const rate = steadyRate(outcome);
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
  const ms = (values: readonly number[], share: number) =>
    values.length === 0 ? '-' : quantile(values, share).toFixed(1);
  const [refusal, slowest] = [0.5, 0.99].map((share) => ms(outcome.refusedMs, share));
  const ended = (['late', 'expired', 'timedOut'] as const).map(
    (key) => `${key} ${totalOf(outcome, key)}`,
  );
  return [
    `${name}: ${rate.toFixed(0)}/s, ${percent(rate / capacity)} of ${capacity.toFixed(0)}`,
    `offered ${offered}, in time ${percent(inTime)} (${ended.join(' ')} broken ${broken})`,
    `refused ${percent(refused)} in ${refusal}/${slowest} ms`,
    `expired at caller ${percent(unsent)}`,
    `loop ${loop.p99Ms.toFixed(0)}/${loop.maxMs.toFixed(0)} ms`,
    `service ${answerMs.toFixed(2)} ms an answer`,
    `generator ${callMs.toFixed(3)} ms a call, late ${ms(outcome.arrivalLateMs, 0.99)} ms`,
    `closed connections ${outcome.lostConnections}`,
  ].join('; ');
}

/** Rows that rounds have in common, each with the median of its numbers. */
export function medianRows(rounds: readonly (readonly Measurement[])[]): Measurement[] {
  const byName = new Map<string, Measurement[]>();
  for (const row of rounds.flat()) byName.set(row.name, [...(byName.get(row.name) ?? []), row]);
  const median = (values: readonly number[]) => quantile(values, 0.5);
  return [...byName.values()].map((rows) => {
    const [first] = rows as [Measurement];
    const middle = Object.assign({}, first, { value: median(rows.map(({ value }) => value)) });
    if (first.ratio === undefined) return middle;
    const value = median(rows.map(({ ratio }) => ratio?.value ?? Number.NaN));
    return Object.assign(middle, { ratio: { value, to: first.ratio.to } });
  });
}
