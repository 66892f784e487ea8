import { setTimeout as pause } from 'node:timers/promises';
import type { Measurement } from '../../result.js';
import type { SuiteContext } from '../suite.js';
import { totalOf } from './call-counts.js';
import { serveDemoHeads } from './demo-heads.js';
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
import {
  capacityRows,
  lineOf,
  loadRows,
  recoveryRow,
  type Seen,
  steadyRate,
} from './overload-rows.js';
import { cpuSeconds, keepOnCores, loopDelay, type Watched } from './watched-service.js';

const ROUNDS = 5;
const ROUNDS_MAX = 99;
const SECONDS = 4;
const QUICK_SECONDS = 3;
/** Between loads: answers to callers who have left are no part of the next. */
const SETTLE_MS = 500;
/** Behind it few callers ask until nobody is refused any more: loads begin alike. */
const CALM_CALLERS = 4;
const CALM_SECONDS = 1;
const CALM_TRIES = 6;
/** Enum Priority: high, normal, low. */
const PRIORITIES = [1, 2, 3] as const;
const CAPACITY_TRIES = 3;
const WARM_TRIES = 8;
/** Number of rates in a row that are no more than a tenth above the best before. */
const WARM_ALIKE = 2;
const WARM_GROWTH = 1.1;
const RECOVERY_FACTOR = 0.8;
const RECOVERY_SECONDS = 4;

type Offered = Pick<LoadPlan, 'open' | 'closed' | 'seconds' | 'connections' | 'deadlineMs'>;

/** Parts of a stage that were asked for. */
export interface Parts {
  readonly kinds: readonly CallKind[];
  readonly forms: readonly LoadForm[];
  readonly rounds: number;
  readonly seconds: number;
  readonly isPinned: boolean;
}

/** Loads of a service in one round. */
interface Round {
  readonly name: string;
  readonly watched: Watched;
  readonly kind: CallKind;
  readonly parts: Parts;
  readonly deadlinesMs: readonly number[];
  /** Runs a load; a stage may measure before it and behind it. */
  readonly around?: (form: LoadForm, run: () => Promise<Seen>) => Promise<Seen>;
}

export function partsOf({ quick, flags }: SuiteContext, kinds: readonly CallKind[]): Parts {
  const names = flags.someOf('loads', LOAD_NAMES, LOAD_NAMES);
  return {
    kinds: flags.someOf('kinds', CALL_KINDS, kinds),
    forms: LOAD_FORMS.filter(({ name }) => names.includes(name)),
    rounds: flags.integer('rounds', 1, ROUNDS_MAX) ?? (quick ? 1 : ROUNDS),
    seconds: quick ? QUICK_SECONDS : SECONDS,
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
  async round({ name, watched, kind, parts, ...round }: Round): Promise<Measurement[]> {
    const { around = (_form, run) => run() } = round;
    const { forms, seconds } = parts;
    const atCapacity = await this.atCapacity(watched, kind, seconds);
    const capacity = steadyRate(atCapacity.outcome);
    this.say(lineOf(`${name}, ${kind}: capacity`, atCapacity, capacity));
    const rows = capacityRows(`${name}, ${kind}`, atCapacity);
    for (const deadlineMs of round.deadlinesMs) {
      for (const form of forms) {
        const offered = offeredBy(form, capacity, deadlineMs, seconds);
        const seen = await around(form, () => this.seen(watched, kind, offered));
        const title = `${name}, ${kind}, ${deadlineMs} ms, ${form.name}`;
        this.say(lineOf(title, seen, capacity));
        rows.push(...loadRows(title, form, seen, capacity));
        if (form.isFlood)
          rows.push(await this.recovery(title, watched, kind, capacity, deadlineMs));
      }
    }
    return rows;
  }

  /** Asks each kind until the rate grows no more: fresh processes compile what they run. */
  async warmUp(watched: Watched, { kinds, seconds }: Parts): Promise<void> {
    if (kinds.includes('ranked')) await serveDemoHeads(watched);
    for (const kind of kinds) await this.warmed(watched, kind, seconds);
  }

  private async warmed({ grpcAddress }: Watched, kind: CallKind, seconds: number): Promise<void> {
    let best = 0;
    let alike = 0;
    for (let tried = 0; tried < WARM_TRIES && alike < WARM_ALIKE; tried++) {
      const rate = steadyRate(await this.run(grpcAddress, kind, capacityLoad(seconds)));
      alike = rate < best * WARM_GROWTH ? alike + 1 : 0;
      best = Math.max(best, rate);
    }
  }

  /**
   * The closed loop in which nobody is refused: a service that has just been flooded may refuse
   * callers whom it could answer, and its capacity is no smaller for it. The best where all refuse.
   */
  private async atCapacity(watched: Watched, kind: CallKind, seconds: number): Promise<Seen> {
    let best: Seen | undefined;
    for (let tried = 0; tried < CAPACITY_TRIES; tried++) {
      const seen = await this.seen(watched, kind, capacityLoad(seconds));
      if (best === undefined || steadyRate(seen.outcome) > steadyRate(best.outcome)) best = seen;
      if (totalOf(seen.outcome, 'good') === 0) throw new Error(`${kind}: nobody was answered`);
      if (totalOf(seen.outcome, 'refused') === 0) break;
    }
    return best as Seen;
  }

  /** An ordinary load right behind a flood, until all of it is answered again. */
  private async recovery(
    title: string,
    { grpcAddress }: Watched,
    kind: CallKind,
    capacity: number,
    deadlineMs: number,
  ): Promise<Measurement> {
    const offered = capacity * RECOVERY_FACTOR;
    const outcome = await this.run(grpcAddress, kind, {
      open: { rate: offered },
      connections: CAPACITY_CONNECTIONS,
      deadlineMs: [deadlineMs, deadlineMs],
      seconds: RECOVERY_SECONDS,
    });
    return recoveryRow(title, outcome, offered);
  }

  stop(): Promise<void> {
    return this.load.stop();
  }

  private async seen(watched: Watched, kind: CallKind, offered: Offered): Promise<Seen> {
    await this.calm(watched, kind);
    await loopDelay(watched);
    const before = cpuSeconds(watched);
    const outcome = await this.run(watched.grpcAddress, kind, offered);
    const taken = cpuSeconds(watched) - before;
    return { outcome, cpuSeconds: taken, loop: await loopDelay(watched) };
  }

  private async calm({ grpcAddress }: Watched, kind: CallKind): Promise<void> {
    await pause(SETTLE_MS);
    for (let tried = 0; tried < CALM_TRIES; tried++) {
      const load = Object.assign(capacityLoad(CALM_SECONDS), { closed: { callers: CALM_CALLERS } });
      const outcome = await this.run(grpcAddress, kind, load);
      if (totalOf(outcome, 'good') === totalOf(outcome, 'offered')) return;
    }
    this.say(`it still refuses ${CALM_CALLERS} callers after ${CALM_TRIES * CALM_SECONDS} s`);
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

function capacityLoad(seconds: number): Offered {
  return {
    closed: { callers: CAPACITY_CALLERS },
    connections: CAPACITY_CONNECTIONS,
    deadlineMs: [CAPACITY_DEADLINE_MS, CAPACITY_DEADLINE_MS],
    seconds,
  };
}

function offeredBy(
  { callers, factor = 1, connections }: LoadForm,
  capacity: number,
  deadlineMs: number,
  seconds: number,
): Offered {
  const open = { rate: factor * capacity, arrivals: 'poisson' } as const;
  const load = callers === undefined ? { open } : { closed: { callers } };
  return Object.assign(load, {
    connections,
    deadlineMs: [deadlineMs, deadlineMs] as const,
    seconds,
  });
}
