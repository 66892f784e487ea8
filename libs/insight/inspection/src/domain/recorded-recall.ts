/** A recall as it is recorded for inspection. */

import {
  type RecallAnswer,
  type RecallRequest,
  readEligibility,
  type SeenItem,
} from '@tessera/recall';
import type { TreeRow } from './tree-rows.js';

/** Why it is recorded: asked for by the request, its user is watched, or it fell in the share. */
export type RecordReason = 'request' | 'user' | 'draw' | 'share';

/** Origin of a recall: served to a caller, or tried in the console. */
export type RecallSource = 'served' | 'console';

/** Answered recall, as it was sent. */
export interface RecordedAnswer extends Omit<RecallAnswer, 'requestId' | 'sight'> {
  /** Oldest first. */
  readonly history: readonly SeenItem[];
  readonly profile: Readonly<Record<string, string>>;
  /** Empty where no search was run step by step. */
  readonly tree: readonly TreeRow[];
}

/** A request as it was asked, its eligibility as JSON (docs/concepts/eligibility.md). */
export type RecordedRequest = Omit<RecallRequest, 'eligibility' | 'wantsSight'> & {
  readonly eligibility?: string;
};

/** The request to be asked again. */
export function askedAgain({ eligibility, ...request }: RecordedRequest): RecallRequest {
  if (eligibility === undefined) return request;
  return { ...request, eligibility: readEligibility(JSON.parse(eligibility)) };
}

export interface RecordedRecall {
  /** Unique in the store. */
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly timeMs: number;
  readonly requestId: string;
  readonly source: RecallSource;
  readonly reason: RecordReason;
  readonly request: RecordedRequest;
  /** OK or an error code. */
  readonly code: string;
  /** Message of the error; '' where it was answered. */
  readonly message: string;
  /** Absent where it failed. */
  readonly answer?: RecordedAnswer;
}
