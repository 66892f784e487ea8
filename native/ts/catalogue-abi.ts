/** Structures of catalogues that cross; the rules of abi.ts hold here too. */

declare const catalogueBrand: unique symbol;
declare const reachBrand: unique symbol;
/** Opaque handle of an open catalogue: a snapshot and what has changed since. */
export interface CatalogueHandle {
  readonly [catalogueBrand]: true;
}
/** Opaque handle of what a request may find: of one version of one catalogue. */
export interface ReachHandle {
  readonly [reachBrand]: true;
}

/** What became of a watched item (beam::Verdict), by its number. */
export const VERDICTS = [
  'returned',
  'pruned',
  'behind-sid-cap',
  'behind-results',
  'not-eligible',
  'not-live',
  'not-in-catalogue',
  'behind-diversity-cap',
  'open',
] as const;

export interface CatalogueInfo {
  readonly digest: string;
  readonly depth: number;
  readonly levelSizes: Uint32Array;
  /**
   * Token pattern per level as the index file wrote it, e.g. `<a_{code}>`; '' where the codes were
   * integers.
   */
  readonly levelPatterns: readonly string[];
  readonly nodeCount: number;
  readonly pathCount: number;
  readonly itemCount: number;
  readonly fileBytes: number;
}

export interface CatalogueBuildOptions {
  /**
   * index.json, sid2pid.json, .jsonl or an existing snapshot; the format is detected by content.
   */
  readonly sources: readonly string[];
  /** Parallel to sources: domain given to all items of the file; '' for none. */
  readonly domains: readonly string[];
  /** Optional titles file (JSON or TSV); '' for none. */
  readonly titlesPath: string;
  /** Codes per level; empty: derived from the items. */
  readonly levelSizes: Uint32Array;
  readonly outputPath: string;
}

export interface CatalogueKeepOptions {
  /** Made where it is missing; what it holds already is gone on from. */
  readonly folder: string;
  /** When an acknowledged change lies on the device: before it is acknowledged, or whenever. */
  readonly sync: 'commit' | 'never';
  /** Codes per level that changes may use; empty: those of the snapshot. */
  readonly levelSizes: Uint32Array;
  /** Free bytes of the file system below which no change is taken. */
  readonly reserveBytes: number;
}

export interface CatalogueState {
  /** Number of the last change in the newest version. */
  readonly sequence: number;
  /** Of the snapshot that the newest version is made over. */
  readonly baseDigest: string;
  readonly liveItemCount: number;
  /** Items that differ from the snapshot. */
  readonly changedItemCount: number;
  readonly changesSinceSnapshot: number;
  readonly snapshotItemCount: number;
  /** What catalogueKeep() found in its folder, and cut of a write that a crash broke off. */
  readonly replayedChanges: number;
  readonly cutBytes: number;
}

/** Generations that are kept, oldest first: any version of them can be gone back to. */
export interface CatalogueVersions {
  readonly firstSequences: Float64Array;
  readonly lastSequences: Float64Array;
  readonly logBytes: Float64Array;
  readonly baseDigests: readonly string[];
}

/** What a version says of an item before any search. */
export interface CatalogueJudgement {
  /** Of that version and the eligibility. */
  readonly reach: ReachHandle;
  readonly sequence: number;
  /** Index into VERDICTS: `open` where the item may be had. */
  readonly verdict: number;
  /** Not eligible: the clause that decides. */
  readonly clause: string;
  /** Not live: the change since which. */
  readonly notLiveSince: number;
  /** Ordinal in the version; 0xFFFFFFFF where it has no such item. */
  readonly item: number;
  readonly sid: Uint32Array;
}

/** Items of a version as columns, the removed ones left out. */
export interface CatalogueListing {
  readonly itemIds: readonly string[];
  readonly titles: readonly string[];
  readonly attributes: readonly string[];
  readonly priorities: Float64Array;
  /** 1: known, but not recalled. */
  readonly paused: Uint8Array;
  /** [n + 1] into sidCodes. */
  readonly sidOffsets: Uint32Array;
  readonly sidCodes: Uint32Array;
  /** Where to go on; 0: that was all. */
  readonly next: number;
}

export interface CatalogueBuildReport {
  readonly itemCount: number;
  readonly pathCount: number;
  readonly fileBytes: number;
  readonly seconds: number;
  readonly digest: string;
}
