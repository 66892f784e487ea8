import type { Pace } from '@tessera/engine';
import type { CatalogueChange } from './change.js';

/** Changes of a batch that are listed by item; the others are counted. */
export const CHANGES_TOLD_MAX = 50;

/** A change, as listeners get it. */
export interface ToldChange {
  readonly op: CatalogueChange['op'];
  readonly itemId: string;
  /** Pace of a `set_pace`. */
  readonly pace?: Pace;
}

/** Changes that a catalogue took at once. */
export interface AppliedBatch {
  /** Number of its last change. */
  readonly sequence: number;
  /** Changes of single items, each of which has a number. */
  readonly changeCount: number;
  /** How many of each kind, as they were given; `roll_back` where an earlier version came back. */
  readonly ops: Readonly<Record<string, number>>;
  /** The first of them that name their item. */
  readonly told: readonly ToldChange[];
  /** All of them, as they were given; empty where an earlier version came back. */
  readonly messages: readonly (readonly ToldChange[])[];
  /** Through which edge, or from whom; '' where that is not known. */
  readonly source: string;
}
