import type { Submission } from '@tessera/contracts';
import type { AppliedChanges, GivenChange } from '@tessera/engine';
import type { AppliedBatch } from './applied-batch.js';
import type { CatalogueChange } from './change.js';
import type { ImportMark } from './import-mark.js';

/** Result of a batch. */
export interface AppliedImport extends AppliedChanges {
  /** True: a batch of an import, or a change of a key, that was applied before and is not again. */
  readonly alreadyApplied: boolean;
  /** Offset of its entry in the cluster log; left out: the process is no part of a cluster. */
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
  /** IDs of the records that the messages were: one that was applied before is left out. */
  readonly recordIds?: readonly string[] | undefined;
  /** Offset of the entry that was refused with the record among others; left out: none was. */
  readonly refusedAt?: number | undefined;
}

/** Changes of a record of a topic, which its broker may hand over again. */
export interface ChangeRecord {
  /** ID, the same whenever the batch is handed over. */
  readonly id: string;
  readonly changes: readonly CatalogueChange[];
}

/** True if records are brought again, and where they go. */
export interface RecordsAgain {
  readonly refusedAt?: number | undefined;
  /** Told the offset of their entry, also of one that is refused. */
  readonly onEntry?: (offset: number) => void;
}

/** Puts changes in order and resolves with what they come to here. */
export type ChangeOrder = (changes: OrderedChanges, how: Submission) => Promise<AppliedImport>;

/** Step from one bundle to the next: '' follows any. */
export interface BundleStep {
  readonly follows: string;
  readonly becomes: string;
}
