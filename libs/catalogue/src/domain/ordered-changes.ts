import type { AppliedChanges, GivenChange } from '@tessera/engine';
import type { Submission } from '@tessera/log';
import type { ImportMark } from '../outside/import-marks.js';
import type { AppliedBatch } from './applied-batch.js';

/** What a batch came to. */
export interface AppliedImport extends AppliedChanges {
  /** True: a batch of an import, or a change of a key, that was applied before, and is not again. */
  readonly alreadyApplied: boolean;
  /** Of its entry in the cluster log; left out: the process is no part of a cluster. */
  readonly offset?: number;
}

/** Changes as a log orders them: applied all or none, and the same on every node. */
export interface OrderedChanges {
  /** Texts have become vectors. */
  readonly messages: readonly (readonly GivenChange[])[];
  readonly ops: AppliedBatch['ops'];
  readonly told: AppliedBatch['told'];
  /** Through which edge, or from whom; '' where that is not known. */
  readonly source: string;
  readonly importMark?: ImportMark | undefined;
  readonly bundle?: BundleStep | undefined;
  /** Number of the version that they were made for; left out: any. */
  readonly onto?: number | undefined;
}

/** Puts changes in order and resolves with what they come to here. */
export type ChangeOrder = (changes: OrderedChanges, how: Submission) => Promise<AppliedImport>;

/** From one bundle to the next: '' follows any. */
export interface BundleStep {
  readonly follows: string;
  readonly becomes: string;
}
