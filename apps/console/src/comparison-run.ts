import { TesseraError } from '@tessera/errors';
import {
  certificateOf,
  type RecallAnswer,
  type RecallContext,
  type RecallRequest,
  type RecallRuntime,
} from '@tessera/recall';
import type { ComparisonLine } from './api-types.js';
import { AttributeCounts, type Comparison, compareAnswers } from './domain/compare.js';
import type { Fields } from './fields.js';

/** One side: what is asked for each user, and in which context. */
export interface ComparisonSide {
  readonly requestFor: (userId: string) => RecallRequest;
  readonly context: RecallContext;
}

export type UserLine = Extract<ComparisonLine, { kind: 'user' }>;
type SummaryLine = Extract<ComparisonLine, { kind: 'summary' }>;

/** Both sides asked for each user: progress, users and their sum, line by line. */
export class ComparisonRun {
  private readonly sum = new ComparisonSum();

  constructor(
    private readonly runtime: RecallRuntime,
    private readonly left: ComparisonSide,
    private readonly right: ComparisonSide,
  ) {}

  /** Ends early, without the sum, where the signal of the left side is aborted. */
  async *lines(users: readonly string[]): AsyncGenerator<ComparisonLine> {
    for (const [done, userId] of users.entries()) {
      if (this.left.context.signal.aborted) return;
      yield { kind: 'progress', done, total: users.length };
      yield await this.line(userId);
    }
    yield this.sum.line();
  }

  private async line(userId: string): Promise<ComparisonLine> {
    const ask = ({ requestFor, context }: ComparisonSide) =>
      this.runtime.serving.recall(requestFor(userId), context);
    try {
      const [left, right] = await Promise.all([ask(this.left), ask(this.right)]);
      const comparison = compareAnswers(left.items, right.items);
      this.sum.add(comparison);
      this.countAttributes(left, right);
      const certificates = {
        left: certificateOf(left.search, left),
        right: certificateOf(right.search, right),
      };
      return { kind: 'user', userId, ...comparison, certificates };
    } catch (thrown) {
      this.sum.failed += 1;
      return { kind: 'failed', userId, message: TesseraError.from(thrown).message };
    }
  }

  private countAttributes(left: RecallAnswer, right: RecallAnswer): void {
    for (const [side, { items }] of [
      ['left', left],
      ['right', right],
    ] as const) {
      const described = this.runtime.facts.describe(items.map(({ itemId }) => itemId));
      for (const item of described) {
        if (item !== undefined) {
          this.sum.attributes.add(side, JSON.parse(item.attributes) as Fields);
        }
      }
    }
  }
}

/** The comparisons of all users as one. */
class ComparisonSum {
  failed = 0;
  readonly attributes = new AttributeCounts();
  private users = 0;
  private overlap = 0;
  private rankShift = 0;
  private gained = 0;
  private lost = 0;

  add({ overlap, rankShift, gained, lost }: Comparison): void {
    this.users += 1;
    this.overlap += overlap;
    this.rankShift += rankShift;
    this.gained += gained;
    this.lost += lost;
  }

  line(): SummaryLine {
    const { users, failed, gained, lost } = this;
    const mean = (sum: number) => (users === 0 ? 0 : sum / users);
    return {
      kind: 'summary',
      id: '',
      users,
      failed,
      overlap: mean(this.overlap),
      rankShift: mean(this.rankShift),
      gained,
      lost,
      attributes: this.attributes.distribution(),
    };
  }
}
