import { CANCELLED_BY_CALLER, type CallEnd } from './grpc-connection.js';
import { ErrorCode } from './http2-frames.js';
import type { ClassOutcome } from './load-plan.js';

const OK = 0;
const DEADLINE_EXCEEDED = 4;
/** RESOURCE_EXHAUSTED, UNAVAILABLE. */
const REFUSALS: ReadonlySet<number> = new Set([8, 14]);

export interface EndedCall {
  /** Milliseconds by the caller's clock, and those that it had. */
  readonly ms: number;
  readonly timeoutMs: number;
  /** Milliseconds that it had left when it was sent; 0: it waited in its caller until it ended. */
  readonly leftMs: number;
}

/** Milliseconds in which a refusal has to come: a call that is sent with less expires meanwhile. */
export const REFUSAL_MS_MAX = 20;

export const noOutcome = (): ClassOutcome => ({
  offered: 0,
  good: 0,
  late: 0,
  refused: 0,
  expired: 0,
  timedOut: 0,
  unsent: 0,
  broken: 0,
  other: 0,
});

/** The count that a call's end belongs to. */
export function countOf(
  end: CallEnd,
  { ms, timeoutMs, leftMs }: EndedCall,
): Exclude<keyof ClassOutcome, 'offered'> {
  const isGood = 'status' in end && end.status === OK && ms <= timeoutMs;
  if (!isGood && leftMs < REFUSAL_MS_MAX) return 'unsent';
  if ('reset' in end) return end.reset === ErrorCode.REFUSED_STREAM ? 'refused' : 'broken';
  if ('lost' in end) return 'broken';
  const { status } = end;
  if (status === CANCELLED_BY_CALLER) return 'timedOut';
  if (REFUSALS.has(status)) return 'refused';
  if (status === DEADLINE_EXCEEDED) return 'expired';
  if (status !== OK) return 'other';
  return isGood ? 'good' : 'late';
}

/** The sum over all that a load consisted of. */
export function totalOf(
  {
    byPriority,
    writes,
  }: { byPriority: Readonly<Record<string, ClassOutcome>>; writes: ClassOutcome },
  key: keyof ClassOutcome,
): number {
  return Object.values(byPriority).reduce((sum, one) => sum + one[key], writes[key]);
}

type Outcome = Parameters<typeof totalOf>[0];

/** Calls that were sent and not refused: whatever became of them, the service had taken them. */
export function takenOf(outcome: Outcome): number {
  return totalOf(outcome, 'offered') - totalOf(outcome, 'refused') - totalOf(outcome, 'unsent');
}
