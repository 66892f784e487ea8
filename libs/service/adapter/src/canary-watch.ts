import { TesseraError } from '@tessera/errors';
import type { AdapterLease, ServedAdapter } from './domain/adapter-choice.js';
import type { ProbeAnswer } from './domain/adapter-probe.js';
import type { AdapterVersion } from './domain/adapter-version.js';
import {
  CanaryComparison,
  type CanaryReport,
  type ComparisonRules,
  type ComparisonSummary,
  type Fault,
} from './domain/canary-comparison.js';
import type { AdapterRegistry } from './registry.js';

/** Users whose newest answer is kept, to know what a behaviour follows. */
const ANSWERS_KEPT = 8192;
/** Items of such an answer. */
const ANSWER_ITEMS_KEPT = 100;
/**
 * Interval of a canary's recalls that the active version answers as well, in the background: enough
 * to notice a change, and a tenth of the work. Until there are enough to judge, it answers all.
 */
const SHADOWED_ONE_IN = 10;

export interface WatchSettings {
  readonly rules: ComparisonRules;
}

/** A recall that has ended. */
export interface SeenRecall {
  readonly userId: string | undefined;
  readonly ms: number;
  readonly outcome: SeenAnswer | TesseraError;
  /** Asks once more with another version, with less priority than all who want answers. */
  readonly again: (adapter: ServedAdapter | undefined) => Promise<ProbeAnswer>;
}

export interface SeenAnswer {
  readonly items: readonly { readonly itemId: string; readonly score: number }[];
  readonly isShort: boolean;
}

interface Watched {
  readonly digest: string;
  readonly comparison: CanaryComparison;
  /** Recalls of the canary so far. */
  recalls: number;
  isShadowing: boolean;
  /** How it fared when it broke a rule; undefined: it has broken none. */
  broken: CanaryReport | undefined;
}

interface KeptAnswer {
  readonly name: string;
  readonly arm: 'canary' | 'active';
  readonly scores: ReadonlyMap<string, number>;
  isClicked: boolean;
}

/** Failures that are the version's own. */
const OWN_FAULTS: ReadonlySet<string> = new Set(['MODEL_NOT_FINITE', 'INTERNAL']);

/** Compares every canary with the version beside it while both serve. */
export class CanaryWatch {
  /** Watched canaries by name. */
  private readonly watched = new Map<string, Watched>();
  /** Kept answers by name and user with a blank between them, which no name has. */
  private readonly answers = new Map<string, KeptAnswer>();

  constructor(
    private readonly registry: AdapterRegistry,
    private readonly settings: WatchSettings,
    /** Told once of each canary that breaks a rule. */
    private readonly onFault: (canary: AdapterVersion, fault: Fault) => void,
  ) {}

  observe(lease: AdapterLease, seen: SeenRecall): void {
    const canary = this.registry.canary(lease.name);
    if (canary === undefined || lease.arm === 'named') return;
    const watched = this.of(canary);
    const arm = lease.arm === 'canary' ? 'canary' : 'active';
    // A canary of the name that has gone meanwhile.
    if (arm === 'canary' && lease.adapter?.digest !== canary.digest) return;
    const record = watched.comparison[arm];
    const { outcome, ms } = seen;
    if (outcome instanceof TesseraError) {
      if (OWN_FAULTS.has(outcome.code)) record.failed();
    } else {
      const isOfUser = seen.userId !== undefined;
      record.answered({ items: outcome.items.length, isShort: outcome.isShort, ms, isOfUser });
      this.keep(canary.name, arm, seen.userId, outcome);
      if (arm === 'canary') this.shadow(canary, watched, seen, outcome);
    }
    this.decide(canary, watched);
  }

  /** A behaviour with an item: it may follow an answer that had it. */
  clicked(userId: string, itemId: string): void {
    for (const canary of this.registry.canaries()) {
      const kept = this.answers.get(`${canary.name} ${userId}`);
      const score = kept?.scores.get(itemId);
      if (kept === undefined || score === undefined) continue;
      const watched = this.of(canary);
      watched.comparison[kept.arm].clicked(score, !kept.isClicked);
      kept.isClicked = true;
      this.decide(canary, watched);
    }
  }

  summaryOf({ name, digest }: AdapterVersion): ComparisonSummary | undefined {
    const watched = this.watched.get(name);
    return watched?.digest === digest ? watched.comparison.summary : undefined;
  }

  reportOf({ name, digest }: AdapterVersion): CanaryReport | undefined {
    const watched = this.watched.get(name);
    if (watched?.digest !== digest) return undefined;
    return watched.broken ?? this.report(watched);
  }

  private report({ comparison }: Watched): CanaryReport {
    const { summary, moved } = comparison;
    const verdicts = comparison.verdicts(this.settings.rules);
    return { summary, verdicts, moves: moved.moves };
  }

  private of({ name, digest }: AdapterVersion): Watched {
    const known = this.watched.get(name);
    if (known?.digest === digest) return known;
    for (const [key, kept] of this.answers) {
      if (kept.name === name) this.answers.delete(key);
    }
    const comparison = new CanaryComparison();
    const fresh = { digest, comparison, recalls: 0, isShadowing: false, broken: undefined };
    this.watched.set(name, fresh);
    return fresh;
  }

  private keep(
    name: string,
    arm: KeptAnswer['arm'],
    userId: string | undefined,
    { items }: SeenAnswer,
  ): void {
    if (userId === undefined) return;
    const kept = items.slice(0, ANSWER_ITEMS_KEPT);
    const scores = new Map(kept.map(({ itemId, score }) => [itemId, score]));
    const key = `${name} ${userId}`;
    this.answers.delete(key);
    this.answers.set(key, { name, arm, scores, isClicked: false });
    if (this.answers.size <= ANSWERS_KEPT) return;
    const [oldest] = this.answers.keys();
    if (oldest !== undefined) this.answers.delete(oldest);
  }

  /** Runs one shadow at a time: a queue would only grow where the engine has no time to spare. */
  private shadow(
    canary: AdapterVersion,
    watched: Watched,
    { again }: SeenRecall,
    { items }: SeenAnswer,
  ): void {
    const { samplesMin } = this.settings.rules;
    watched.recalls += 1;
    const isDue =
      watched.comparison.shadowed < samplesMin || watched.recalls % SHADOWED_ONE_IN === 0;
    if (!isDue || watched.isShadowing) return;
    const active = this.registry.active(canary.name);
    const held = active && this.registry.loaded.hold(active);
    if (active !== undefined && held === undefined) return;
    watched.isShadowing = true;
    again(held?.served)
      .then((answer) => {
        const ours = items.map(({ itemId }) => itemId);
        watched.comparison.shadow(ours, answer.itemIds);
        this.decide(canary, watched);
      })
      // Whatever keeps the active version from it says nothing of the canary.
      .catch(() => undefined)
      .finally(() => {
        held?.release();
        watched.isShadowing = false;
      });
  }

  private decide(canary: AdapterVersion, watched: Watched): void {
    if (watched.broken !== undefined || this.watched.get(canary.name) !== watched) return;
    const fault = watched.comparison.fault(this.settings.rules);
    if (fault === undefined) return;
    watched.broken = this.report(watched);
    this.onFault(canary, fault);
  }
}
