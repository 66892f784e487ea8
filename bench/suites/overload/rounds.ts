import { setTimeout as pause } from 'node:timers/promises';
import type { Measurement } from '../../result.js';
import type { SuiteContext } from '../suite.js';
import { demoItemIds, demoUserIds } from './demo-users.js';
import { LoadChild } from './load-child.js';
import { CALL_KINDS, type CallKind, type LoadOutcome, type LoadPlan } from './load-plan.js';
import {
  CAPACITY_CALLERS,
  CAPACITY_CONNECTIONS,
  CAPACITY_DEADLINE_MS,
  LOAD_FORMS,
  LOAD_NAMES,
  type LoadForm,
} from './loads.js';
import { capacityRows, lineOf, loadRows, type Seen, steadyRate } from './overload-rows.js';
import { cpuSeconds, keepOnCores, loopDelay, type Watched } from './watched-service.js';

const ROUNDS = 5;
const ROUNDS_MAX = 99;
const SECONDS = 4;
/** Between loads: the one before is no part of the next. */
const SETTLE_MS = 500;
/** Enum Priority: high, normal, low. */
const PRIORITIES = [1, 2, 3] as const;
const WARM_SECONDS = 5;

type Offered = Pick<LoadPlan, 'open' | 'closed' | 'seconds' | 'connections' | 'deadlineMs'>;

/** Parts of a stage that were asked for. */
export interface Parts {
  readonly kinds: readonly CallKind[];
  readonly forms: readonly LoadForm[];
  readonly rounds: number;
  readonly isPinned: boolean;
}

export function partsOf({ quick, flags }: SuiteContext, kinds: readonly CallKind[]): Parts {
  const names = flags.someOf('loads', LOAD_NAMES, LOAD_NAMES);
  return {
    kinds: flags.someOf('kinds', CALL_KINDS, kinds),
    forms: LOAD_FORMS.filter(({ name }) => names.includes(name)),
    rounds: flags.integer('rounds', 1, ROUNDS_MAX) ?? (quick ? 1 : ROUNDS),
    isPinned: flags.oneOf('cores', ['shared', 'own'], 'shared') === 'own',
  };
}

/** The generator and what it is pointed at; a seed is used once. */
export class Offering {
  private readonly load = new LoadChild();
  private seed = 0;

  constructor(private readonly say: (line: string) => void) {}

  keepOnCores(cores: string): void {
    keepOnCores([this.load.pid], cores);
  }

  /** Loads of a kind at each deadline, against the capacity of the same minute. */
  async round(
    name: string,
    watched: Watched,
    kind: CallKind,
    { forms }: Parts,
    deadlinesMs: readonly number[],
    onLoad: (form: LoadForm, run: () => Promise<Seen>) => Promise<Seen> = (_form, run) => run(),
  ): Promise<Measurement[]> {
    const atCapacity = await this.seen(watched, kind, {
      closed: { callers: CAPACITY_CALLERS },
      connections: CAPACITY_CONNECTIONS,
      deadlineMs: [CAPACITY_DEADLINE_MS, CAPACITY_DEADLINE_MS],
      seconds: SECONDS,
    });
    const capacity = steadyRate(atCapacity.outcome);
    this.say(lineOf(`${name}, ${kind}: capacity`, atCapacity, capacity));
    const rows = capacityRows(`${name}, ${kind}`, atCapacity);
    for (const deadlineMs of deadlinesMs) {
      for (const form of forms) {
        const { callers, factor = 1, connections } = form;
        const open = { rate: factor * capacity, arrivals: 'poisson' } as const;
        const loaded = await onLoad(form, () =>
          this.seen(watched, kind, {
            ...(callers === undefined ? { open } : { closed: { callers } }),
            connections,
            deadlineMs: [deadlineMs, deadlineMs],
            seconds: SECONDS,
          }),
        );
        const title = `${name}, ${kind}, ${deadlineMs} ms, ${form.name}`;
        this.say(lineOf(title, loaded, capacity));
        rows.push(...loadRows(title, form, loaded, capacity));
      }
    }
    return rows;
  }

  async warmUp({ grpcAddress }: Watched, kind: CallKind): Promise<void> {
    await this.run(grpcAddress, kind, {
      closed: { callers: CAPACITY_CALLERS },
      connections: CAPACITY_CONNECTIONS,
      deadlineMs: [CAPACITY_DEADLINE_MS, CAPACITY_DEADLINE_MS],
      seconds: WARM_SECONDS,
    });
  }

  stop(): Promise<void> {
    return this.load.stop();
  }

  private async seen(watched: Watched, kind: CallKind, offered: Offered): Promise<Seen> {
    await pause(SETTLE_MS);
    await loopDelay(watched);
    const before = cpuSeconds(watched);
    const outcome = await this.run(watched.grpcAddress, kind, offered);
    const taken = cpuSeconds(watched) - before;
    return { outcome, cpuSeconds: taken, loop: await loopDelay(watched) };
  }

  private run(address: string, kind: CallKind, offered: Offered): Promise<LoadOutcome> {
    this.seed += 2;
    const own = {
      address,
      kind,
      userIds: demoUserIds(),
      itemIds: demoItemIds(),
      priorities: PRIORITIES,
      seed: this.seed,
    };
    return this.load.run(Object.assign(own, offered));
  }
}
