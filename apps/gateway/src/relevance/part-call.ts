import { TesseraError } from '@tessera/errors';
import type { Lateness, RelevanceProfile } from '@tessera/routing';
import { MICROSECONDS_PER_MILLISECOND } from '@tessera/units';
import { noNode } from '../asking.js';
import type { Cluster } from '../cluster.js';
import type { NodeLink } from '../node-link.js';
import type { ScoredCall } from './scored-call.js';
import type { SplitTally } from './split-counts.js';

/** Nodes that are asked for one part at most. */
const ATTEMPTS_MAX = 3;
/** A node has its answer ready so long before the call's deadline, or a tenth of what is left. */
const RETURN_MS = 10;
const RETURN_SHARE = 0.1;

export type After = (ms: number, act: () => void) => () => void;

const TIMER_MS_MAX = 2 ** 31 - 1;

/** The process's own timer. @returns what stops it */
export const afterMs: After = (ms, act) => {
  const timer = setTimeout(act, Math.min(ms, TIMER_MS_MAX));
  return () => clearTimeout(timer);
};

/** A node that scores, and what it says of itself. */
export interface ScoringNode {
  readonly link: NodeLink;
  readonly profile: RelevanceProfile;
}

export interface PartParts {
  readonly cluster: Cluster;
  readonly counts: { retries: number };
  readonly tally: SplitTally;
  readonly lateness: Lateness;
  readonly nowMs: () => number;
  readonly after: After;
}

export interface AskedPart {
  /** By their index in the call. */
  readonly documents: readonly number[];
  readonly kind: string;
  /** Since when and until when, by the clock of the parts. */
  readonly endsMs: number;
  readonly first: ScoringNode;
  /** Predicted microseconds of the part at a node, without what it has to do before. */
  readonly usAt: (node: ScoringNode) => number;
  /** Nodes that score alike, as they are now. */
  readonly nodes: () => readonly ScoringNode[];
}

interface Attempt {
  end: () => void;
}

/**
 * One part of a call until its answer: a node that is away or refuses it before it begins is
 * followed by the next one, and so is once a node that is late, which goes on: the first answer
 * counts. Owner: one call.
 */
export class PartCall<Answer> {
  private readonly tried = new Set<string>();
  private readonly running = new Set<Attempt>();
  private readonly timers: (() => void)[] = [];
  private isSettled = false;
  private refusal: unknown;
  private resolve: (answer: Answer) => void = () => undefined;
  private reject: (thrown: unknown) => void = () => undefined;

  constructor(
    private readonly parts: PartParts,
    private readonly call: ScoredCall<Answer>,
    private readonly asked: AskedPart,
  ) {}

  /** Rejects with what the last node said, or with NODE_UNAVAILABLE or DEADLINE_EXCEEDED. */
  run(): Promise<Answer> {
    const { parts, asked, call } = this;
    return new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
      call.onCancelled(() => this.fail(new TesseraError('CANCELLED', 'the caller went away')));
      const leftMs = asked.endsMs - parts.nowMs();
      if (Number.isFinite(leftMs)) this.timers.push(parts.after(leftMs, () => this.expire()));
      this.begin(asked.first);
    });
  }

  private begin(node: ScoringNode): void {
    const { parts, call, asked } = this;
    const { link } = node;
    this.tried.add(link.member.name);
    const begunMs = parts.nowMs();
    const us = asked.usAt(node);
    const predictedUs = link.work.backlogUs(begunMs) + us;
    const endWork = link.work.begin(us, begunMs);
    const endCount = parts.cluster.begin(link, asked.kind);
    const attempt: Attempt = { end: () => undefined };
    this.running.add(attempt);
    if (this.tried.size === 1) this.watch(predictedUs);
    const ended = (isAnswered: boolean) => {
      this.running.delete(attempt);
      endWork(parts.nowMs());
      endCount(isAnswered);
    };
    const leftMs = asked.endsMs - begunMs;
    const nodeMs = leftMs - Math.min(RETURN_MS, leftMs * RETURN_SHARE);
    const onBegun = (end: () => void) => {
      attempt.end = end;
    };
    call.ask(link, asked.documents, nodeMs, onBegun).then(
      (answer) => {
        ended(true);
        const actualUs = (parts.nowMs() - begunMs) * MICROSECONDS_PER_MILLISECOND;
        parts.lateness.observe(predictedUs, actualUs);
        if (this.isSettled) return;
        parts.tally.notePart(predictedUs, actualUs);
        this.settle();
        this.resolve(answer);
      },
      (thrown: unknown) => {
        ended(false);
        if (!this.isSettled) this.refused(link, thrown);
      },
    );
  }

  private refused(link: NodeLink, thrown: unknown): void {
    const { parts, call } = this;
    const failure = call.failureOf(thrown);
    if (failure === 'away') parts.cluster.lost(link, (thrown as Error).message);
    else this.refusal = thrown;
    // Another node may still answer it.
    if (this.running.size > 0) return;
    const mayGoOn = failure !== 'final' && !call.isOver() && this.tried.size < ATTEMPTS_MAX;
    const next = mayGoOn ? this.next() : undefined;
    if (next === undefined) {
      this.fail(this.refusal ?? noNode(parts.cluster));
      return;
    }
    parts.counts.retries += 1;
    this.begin(next);
  }

  /** Of the nodes that were not asked, the one that is predicted to end first. */
  private next(): ScoringNode | undefined {
    const { parts, asked } = this;
    const nowMs = parts.nowMs();
    let best: ScoringNode | undefined;
    let bestUs = Number.POSITIVE_INFINITY;
    for (const node of asked.nodes()) {
      if (this.tried.has(node.link.member.name)) continue;
      const us = node.link.work.backlogUs(nowMs) + asked.usAt(node);
      if (us >= bestUs) continue;
      bestUs = us;
      best = node;
    }
    return best;
  }

  private watch(predictedUs: number): void {
    const { parts } = this;
    const lateMs = parts.lateness.lateAfterUs(predictedUs) / MICROSECONDS_PER_MILLISECOND;
    const late = () => {
      const next = this.isSettled || this.tried.size > 1 ? undefined : this.next();
      if (next !== undefined && parts.tally.takeSecondAsk()) this.begin(next);
    };
    this.timers.push(parts.after(lateMs, late));
  }

  private expire(): void {
    const message = 'deadline: expected the answer of a node, got none in time';
    this.fail(new TesseraError('DEADLINE_EXCEEDED', message));
  }

  private fail(thrown: unknown): void {
    if (this.isSettled) return;
    this.parts.tally.parts.failed += 1;
    this.settle();
    this.reject(thrown);
  }

  /** Whoever still computes it does so for nobody. */
  private settle(): void {
    this.isSettled = true;
    for (const stop of this.timers) stop();
    for (const { end } of [...this.running]) end();
  }
}
