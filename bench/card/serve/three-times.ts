import { quantile } from '../../result.js';
import { LoadChild } from '../../suites/overload/load-child.js';
import type { ClassOutcome, LoadOutcome, LoadPlan } from '../../suites/overload/load-plan.js';
import { steadyRate } from '../../suites/overload/overload-rows.js';
import { type CardLine, lineOf } from '../card-documents.js';
import { CardService, expectThat, type ServeSetting, userIds } from './card-service.js';

const CALLERS = 16;
const CONNECTIONS = 8;
const PATIENCE_MS = 30_000;
const FACTOR = 3;
/** Deadlines of the load, in medians of an answer to as many callers as a batch has. */
const DEADLINES = [2, 10] as const;
const DEADLINE_MS_MIN = 100;
/** Enum Priority: normal. */
const PRIORITIES = [2] as const;

type Offered = Pick<LoadPlan, 'open' | 'closed' | 'deadlineMs'>;

const total = ({ byPriority }: LoadOutcome, key: keyof ClassOutcome) =>
  Object.values(byPriority).reduce((sum, one) => sum + one[key], 0);

/** Three times what a service can do, with deadlines: what it answers in time meanwhile. */
export function threeTimesTheLoad(setting: ServeSetting): Promise<CardLine[]> {
  const { seconds, say } = setting;
  return CardService.with(setting, async (service) => {
    const load = new LoadChild();
    const run = (offered: Offered) =>
      load.run({
        address: service.address,
        userIds,
        connections: CONNECTIONS,
        priorities: PRIORITIES,
        seconds,
        seed: 1,
        ...offered,
      });
    try {
      say(`${CALLERS} callers for ${seconds} s`);
      const closed = { closed: { callers: CALLERS } };
      const full = await run({ ...closed, deadlineMs: [PATIENCE_MS, PATIENCE_MS] });
      const capacity = steadyRate(full);
      const medianMs = quantile(full.goodMs, 0.5);
      const [first, last] = DEADLINES.map((factor) =>
        Math.max(DEADLINE_MS_MIN, Math.round(factor * medianMs)),
      ) as [number, number];
      say(`${FACTOR} times ${capacity.toFixed(1)} recalls/s, ${first} to ${last} ms each`);
      const open = { open: { rate: FACTOR * capacity, arrivals: 'poisson' as const } };
      const outcome = await run({ ...open, deadlineMs: [first, last] });
      expectThat('no broken call', total(outcome, 'broken') + total(outcome, 'other') === 0);
      expectThat('an answer behind the load', (await service.recall()).items.length > 0);
      return rowsOf(capacity, outcome);
    } finally {
      await load.stop();
    }
  });
}

function rowsOf(capacity: number, outcome: LoadOutcome): CardLine[] {
  const taken = outcome.goodMs.length + total(outcome, 'late') + total(outcome, 'expired');
  const share = outcome.goodMs.length / Math.max(1, taken + total(outcome, 'timedOut'));
  const name = 'serve/three times the load';
  const refused = outcome.refusedMs.length === 0 ? 0 : quantile(outcome.refusedMs, 0.99);
  return [
    lineOf('serve/capacity', capacity, 'recalls/s'),
    lineOf(`${name}: in time over the capacity`, steadyRate(outcome) / capacity, 'share'),
    lineOf(`${name}: calls not refused that were in time`, share, 'share'),
    lineOf(`${name}: refusals, p99`, refused, 'ms'),
  ];
}
