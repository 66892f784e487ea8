/** How a canary is compared with what serves everybody else: docs/operate/adapter-versions.md. */

import { type ClickRate, clickRate, clickVerdict, differenceToEnd } from './click-rates.js';
import { MovedItems, type Moves } from './moved-items.js';

/** When a canary is too bad. Each rule waits for its least number of samples. */
export interface ComparisonRules {
  /** Answers of each arm, shadowed recalls and clicks before a rule may decide. */
  readonly samplesMin: number;
  /** Mean share of items that both versions' answers have, percent at least. */
  readonly overlapMinPercent: number;
  /** Failures, and empty answers, more than those of the active version: percent points at most. */
  readonly failureMaxPercent: number;
  readonly emptyMaxPercent: number;
  /** Short answers, as above. */
  readonly shortMaxPercent: number;
  /** 95th percentile of the latency, percent of the active version's at most. */
  readonly latencyMaxPercent: number;
  /** Mean score of clicked items below the active version's, thousandths of a nat at most. */
  readonly clickDropMax: number;
}

/** A rule that the canary breaks. */
export interface Fault {
  readonly rule: string;
  /** The expected and the observed value, in words. */
  readonly message: string;
}

/** A rule's verdict on a canary, whether or not it may decide yet. */
export interface RuleVerdict {
  readonly rule:
    | 'failures'
    | 'emptyAnswers'
    | 'shortAnswers'
    | 'overlap'
    | 'latency'
    | 'clicks'
    | 'clickRate';
  /** The observed value must be at most, or at least, the limit. */
  readonly bound: 'most' | 'least';
  readonly limit: number;
  readonly observed: number;
  readonly unit: '%' | 'ms' | 'nats';
  readonly samples: number;
  /** With fewer it decides nothing. */
  readonly samplesMin: number;
  readonly isBroken: boolean;
  /** The expected and the observed value, in words. */
  readonly message: string;
}

/** How a canary fares beside the active version. */
export interface CanaryReport {
  readonly summary: ComparisonSummary;
  readonly verdicts: readonly RuleVerdict[];
  readonly moves: Moves;
}

const LATENCIES_KEPT = 1024;
/** Differences below are the machine's, not the version's. */
const LATENCY_NOISE_MS = 5;
const PERCENT = 100;
const MILLI = 1000;
const TAIL = 0.95;

export interface ArmSummary {
  readonly answers: number;
  readonly failures: number;
  readonly emptyAnswers: number;
  readonly shortAnswers: number;
  readonly latencyP50Ms: number;
  readonly latencyP95Ms: number;
  readonly clicks: number;
  readonly clickScore: number;
  readonly clickRate: ClickRate;
}

interface SeenAnswerFacts {
  readonly items: number;
  readonly isShort: boolean;
  readonly ms: number;
  /** True for a user whose clicks are known. */
  readonly isOfUser: boolean;
}

/** Observations of one version's recalls. */
class ArmRecord {
  private readonly counts = { answers: 0, failures: 0, emptyAnswers: 0, shortAnswers: 0 };
  /** The newest, in a ring. */
  private readonly latencies: number[] = [];
  private clicks = 0;
  private clickScores = 0;
  private userAnswers = 0;
  private clickedAnswers = 0;

  answered({ items, isShort, ms, isOfUser }: SeenAnswerFacts): void {
    if (isOfUser) this.userAnswers += 1;
    this.latencies[this.counts.answers % LATENCIES_KEPT] = ms;
    this.counts.answers += 1;
    if (items === 0) this.counts.emptyAnswers += 1;
    if (isShort) this.counts.shortAnswers += 1;
  }

  failed(): void {
    this.counts.failures += 1;
  }

  /** @param isFirst of the answer */
  clicked(score: number, isFirst: boolean): void {
    this.clicks += 1;
    if (isFirst) this.clickedAnswers += 1;
    this.clickScores += score;
  }

  get asked(): number {
    return this.counts.answers + this.counts.failures;
  }

  /** Percent of all that were asked. */
  shareOf(what: 'failures' | 'emptyAnswers' | 'shortAnswers'): number {
    return this.asked === 0 ? 0 : (PERCENT * this.counts[what]) / this.asked;
  }

  get summary(): ArmSummary {
    const sorted = [...this.latencies].sort((a, b) => a - b);
    const at = (part: number) => sorted[Math.floor(part * (sorted.length - 1))] ?? 0;
    return {
      ...this.counts,
      latencyP50Ms: at(0.5),
      latencyP95Ms: at(TAIL),
      clicks: this.clicks,
      clickScore: this.clicks === 0 ? 0 : this.clickScores / this.clicks,
      clickRate: clickRate(this.clickedAnswers, this.userAnswers),
    };
  }
}

export interface ComparisonSummary {
  readonly canary: ArmSummary;
  readonly active: ArmSummary;
  readonly shadowed: number;
  readonly overlap: number;
  /** A sentence: which is clicked more, or that it is not known yet. */
  readonly clickVerdict: string;
}

/** Share of items that two answers have in common, of the longer one; 1 for two empty answers. */
export function overlapOf(a: readonly string[], b: readonly string[]): number {
  const longer = Math.max(a.length, b.length);
  if (longer === 0) return 1;
  const others = new Set(b);
  return a.filter((item) => others.has(item)).length / longer;
}

/** A canary and the version beside it, from the canary's start on. */
export class CanaryComparison {
  readonly canary = new ArmRecord();
  readonly active = new ArmRecord();
  shadowed = 0;
  readonly moved = new MovedItems();
  private overlaps = 0;

  /** Both versions answered the same recall. */
  shadow(canary: readonly string[], active: readonly string[]): void {
    this.shadowed += 1;
    this.overlaps += overlapOf(canary, active);
    this.moved.note(canary, active);
  }

  get overlap(): number {
    return this.shadowed === 0 ? 0 : this.overlaps / this.shadowed;
  }

  get summary(): ComparisonSummary {
    const { shadowed, overlap } = this;
    const [canary, active] = [this.canary.summary, this.active.summary];
    const verdict = clickVerdict(canary.clickRate, active.clickRate);
    return { canary, active, shadowed, overlap, clickVerdict: verdict };
  }

  /** The first rule that is broken; undefined: none, or too few samples to say so. */
  fault(rules: ComparisonRules): Fault | undefined {
    const broken = this.verdicts(rules).find(({ isBroken }) => isBroken);
    return broken && { rule: broken.rule, message: broken.message };
  }

  /** The rules' verdicts now, in the order in which they count. */
  verdicts(rules: ComparisonRules): readonly RuleVerdict[] {
    const { canary: ours, active: theirs } = this.summary;
    const { samplesMin } = rules;
    const both = (count: (arm: ArmSummary) => number) => Math.min(count(ours), count(theirs));
    const drafts = [
      this.excess('failures', rules.failureMaxPercent),
      this.excess('emptyAnswers', rules.emptyMaxPercent),
      this.excess('shortAnswers', rules.shortMaxPercent),
      this.overlapped(rules),
      { ...slowness(ours, theirs, rules), samples: both(askedOf) },
      { ...liking(ours, theirs, rules), samples: both(({ clicks }) => clicks) },
      clicking(ours, theirs),
    ];
    return drafts.map((draft) => ({
      ...draft,
      samplesMin,
      isBroken: draft.samples >= samplesMin && isBeyond(draft),
    }));
  }

  private excess(rule: 'failures' | 'emptyAnswers' | 'shortAnswers', most: number): Draft {
    const [ours, theirs] = [this.canary.shareOf(rule), this.active.shareOf(rule)];
    const limit = `at most ${most} percent points above ${theirs.toFixed(1)} %`;
    const message = `${rule}: expected ${limit}, got ${ours.toFixed(1)} %`;
    const samples = this.canary.asked;
    return {
      rule,
      bound: 'most',
      limit: theirs + most,
      observed: ours,
      unit: '%',
      samples,
      message,
    };
  }

  private overlapped({ overlapMinPercent: limit }: ComparisonRules): Draft {
    const observed = PERCENT * this.overlap;
    const expected = `at least ${limit} % of the items of the active version`;
    const message = `overlap: expected ${expected}, got ${observed.toFixed(1)} %`;
    const samples = this.shadowed;
    return { rule: 'overlap', bound: 'least', limit, observed, unit: '%', samples, message };
  }
}

type Draft = Omit<RuleVerdict, 'samplesMin' | 'isBroken'>;

const askedOf = ({ answers, failures }: ArmSummary) => answers + failures;

function isBeyond({ bound, limit, observed }: Draft): boolean {
  return bound === 'most' ? observed > limit : observed < limit;
}

function slowness(
  { latencyP95Ms: observed }: ArmSummary,
  { latencyP95Ms: theirs }: ArmSummary,
  { latencyMaxPercent }: ComparisonRules,
): Omit<Draft, 'samples'> {
  const limit = Math.max((theirs * latencyMaxPercent) / PERCENT, theirs + LATENCY_NOISE_MS);
  const message = `latency: expected at most ${limit.toFixed(1)} ms, got ${observed.toFixed(1)} ms`;
  return { rule: 'latency', bound: 'most', limit, observed, unit: 'ms', message };
}

function liking(
  { clickScore: observed }: ArmSummary,
  { clickScore: theirs }: ArmSummary,
  { clickDropMax }: ComparisonRules,
): Omit<Draft, 'samples'> {
  const limit = theirs - clickDropMax / MILLI;
  const expected = `at least ${limit.toFixed(3)}`;
  const message = `score of clicked items: expected ${expected}, got ${observed.toFixed(3)}`;
  return { rule: 'clicks', bound: 'least', limit, observed, unit: 'nats', message };
}

/** Observed is the upper end of the difference's interval, percent points: below 0 it is worse. */
function clicking({ clickRate: ours }: ArmSummary, { clickRate: theirs }: ArmSummary): Draft {
  const { low, high } = differenceToEnd(ours, theirs);
  const [from, observed] = [PERCENT * low, PERCENT * high];
  const shown = ({ rate }: ClickRate) => `${(PERCENT * rate).toFixed(1)} %`;
  const expected = `not clearly below ${shown(theirs)} of the active version's`;
  const interval = `99.9 % interval of the difference ${from.toFixed(1)} to ${observed.toFixed(1)}`;
  const got = `${shown(ours)}; ${interval} percent points`;
  const message = `answers with a click: expected ${expected}, got ${got}`;
  const samples = Math.min(ours.userAnswers, theirs.userAnswers);
  return { rule: 'clickRate', bound: 'least', limit: 0, observed, unit: '%', samples, message };
}
