import type { ComparisonLine } from '../../../src/api-types.js';

export type UserLine = Extract<ComparisonLine, { kind: 'user' }>;
type SummaryLine = Extract<ComparisonLine, { kind: 'summary' }>;

/** A comparison as far as it has come. */
export interface Run {
  readonly done: number;
  readonly total: number;
  readonly users: readonly UserLine[];
  readonly failures: readonly string[];
  readonly summary?: SummaryLine;
}

export const NO_RUN: Run = { done: 0, total: 0, users: [], failures: [] };

export function withLine(run: Run, line: ComparisonLine): Run {
  switch (line.kind) {
    case 'progress':
      return { ...run, done: line.done, total: line.total };
    case 'user':
      return { ...run, users: [...run.users, line] };
    case 'failed':
      return { ...run, failures: [...run.failures, `${line.userId}: ${line.message}`] };
    case 'summary':
      return { ...run, done: run.total, summary: line };
  }
}

const BINS = 10;

/** Users by overlap: [0, 10 %), ..., [90 %, 100 %]. */
export function overlapBins(users: readonly { readonly overlap: number }[]): readonly number[] {
  const bins = new Array<number>(BINS).fill(0);
  for (const { overlap } of users) {
    const bin = Math.min(BINS - 1, Math.floor(overlap * BINS));
    bins[bin] = (bins[bin] ?? 0) + 1;
  }
  return bins;
}
