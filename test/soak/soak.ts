/** The loop of all soaks: rounds of a kind as a seed draws them, and the faults found in them. */

import type { RealServer } from '@tessera/testing';
import { Random } from '../../bench/models/random.js';
import { type FlagKind, Flags } from '../../tools/terminal/command.js';

/** Rounds of a soak, and the faults that they look for. */
export interface Kind {
  /** Lines of the usage: the round, the faults, and flags of its own. */
  readonly usage: string;
  /** How many where nothing is said. */
  readonly rounds: number;
  readonly flags?: Readonly<Record<string, FlagKind>>;
  /** Servers that it starts. */
  readonly needs?: readonly RealServer[];
  readonly start: (soak: Soak) => Promise<Course>;
}

/** A kind under way. Faults are noted; a rejection ends the soak. */
export interface Course {
  /** Before the first round. */
  begin?(): Promise<void>;
  round(): Promise<void>;
  /** Checks that are possible behind the last round alone. */
  finish?(): Promise<void>;
  /** Also behind a rejection. */
  close(): Promise<void>;
}

export interface Wanted {
  readonly seed: number;
  readonly rounds: number;
  /** No round begins after so many; left out: the rounds alone are the bound. */
  readonly seconds?: number;
  /** Left out: those of the kind as they are by themselves. */
  readonly flags?: Flags;
  readonly say?: (line: string) => void;
}

export interface Outcome {
  readonly rounds: number;
  readonly counts: Readonly<Record<string, number>>;
  /** Each with its round. */
  readonly faults: readonly string[];
}

/** More are not looked for: faults of one kind are one fault. */
const FAULTS_MAX = 200;
const FAULTS_SHOWN = 30;
const SAY_EVERY_MS = 20_000;

/** Draws, counts and faults of all rounds. */
export class Soak {
  readonly seed: number;
  readonly rounds: number;
  readonly flags: Flags;
  readonly random: Random;
  readonly say: (line: string) => void;
  readonly faults: string[] = [];
  readonly counts = new Map<string, number>();
  /** The one under way, from 1 on. */
  round = 0;

  constructor(wanted: Wanted) {
    this.seed = wanted.seed;
    this.rounds = wanted.rounds;
    this.flags = wanted.flags ?? Flags.parse([], {});
    this.random = new Random(wanted.seed);
    this.say = wanted.say ?? (() => undefined);
  }

  count(what: string, by = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + by);
  }

  fault(what: string): void {
    this.faults.push(`round ${this.round}: ${what}`);
    if (this.faults.length <= FAULTS_SHOWN) this.say(`  FAULT ${this.faults.at(-1)}`);
  }

  /** A rejection is a fault, and the round goes on. */
  async attempt(what: string, act: () => Promise<unknown>): Promise<void> {
    this.count(what);
    await act().catch((thrown: Error) => this.fault(`${what}: ${thrown.message}`));
  }
}

/** Runs the rounds of a kind; the same seed draws the same. */
export async function runSoak(kind: Kind, wanted: Wanted): Promise<Outcome> {
  const soak = new Soak(wanted);
  const course = await kind.start(soak);
  try {
    await course.begin?.();
    const endMs = performance.now() + (wanted.seconds ?? Number.POSITIVE_INFINITY) * 1000;
    const isOver = () => performance.now() > endMs || soak.faults.length >= FAULTS_MAX;
    let saidMs = performance.now();
    while (soak.round < soak.rounds && !isOver()) {
      soak.round += 1;
      await course.round();
      if (performance.now() < saidMs + SAY_EVERY_MS) continue;
      saidMs = performance.now();
      soak.say(`round ${soak.round}: ${soak.faults.length} faults`);
    }
    await course.finish?.();
  } catch (thrown) {
    // Faults before it may be why.
    const reasons = [...soak.faults, `round ${soak.round}: ${(thrown as Error).message}`];
    throw new Error(reasons.join('\n'), { cause: thrown });
  } finally {
    await course.close();
  }
  const { round: rounds, counts, faults } = soak;
  return { rounds, counts: Object.fromEntries(counts), faults };
}
