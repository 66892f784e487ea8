/** What the addon answers requests with. */

/** How much of the search that was asked for an answer has seen (engine::Completeness). */
export const COMPLETENESS = ['whole', 'narrowed', 'cut'] as const;

/**
 * Timings of one request, microseconds; index = TimingSlot. Projections and attention are parts of
 * prefill and decode.
 */
export const TIMING_SLOTS = [
  'queue',
  'plan',
  'prefill',
  'decode',
  'projections',
  'attention',
  'head',
  'select',
  'fork',
  'export',
  'total',
] as const;

/** A forward pass that a request waited for: rows of all requests, 1 for decode, microseconds. */
export const PASS_SLOTS = [
  'rows',
  'isDecode',
  'plan',
  'forward',
  'projections',
  'attention',
  'head',
  'select',
  'fork',
] as const;

/**
 * A candidate of a search (beam::Tree): step from 0, row of its parent or NO_ROW, code
 * or TERMINAL_CODE, bits of TREE_OUTCOMES, items to be had at it or below.
 */
export const TREE_SLOTS = ['step', 'parent', 'code', 'outcome', 'items'] as const;
/** `atLeast`: there may be more items below than were counted. Neither of the others: rejected. */
export const TREE_OUTCOMES = { goesOn: 1, endsHere: 2, atLeast: 4 } as const;
export const NO_ROW = 0xffff_ffff;
export const TERMINAL_CODE = 0xffff_ffff;

/** Finished tickets, many at a time. Arrays are parallel; offsets have n + 1 entries. */
export interface Completions {
  readonly tickets: Uint32Array;
  /** Index into describeAbi().codes; 0 = OK. */
  readonly statuses: Uint8Array;
  readonly messages: readonly string[];
  /** Of a refusal for load: when a retry may succeed; 0: no hint. */
  readonly retryAfterUs: Uint32Array;
  readonly itemOffsets: Uint32Array;
  readonly itemOrdinals: Uint32Array;
  /** IDs and titles as the version has them that the request was answered from. */
  readonly itemIds: readonly string[];
  readonly itemTitles: readonly string[];
  readonly itemScores: Float32Array;
  /** [n] number of the last change of that version. */
  readonly catalogueSequences: Float64Array;
  /** [n] updates of the weights before the request ran. */
  readonly weightsGenerations: Float64Array;
  /** Index of the item's path within its request. */
  readonly itemPaths: Uint32Array;
  readonly pathOffsets: Uint32Array;
  readonly pathScores: Float32Array;
  /** [paths + 1] into pathCodes, over all requests. */
  readonly codeOffsets: Uint32Array;
  readonly pathCodes: Uint32Array;
  /** [n] widths really used, flattened; offsets per request. */
  readonly widthOffsets: Uint32Array;
  readonly widthsUsed: Uint32Array;
  /** Of score requests: one per SID, NaN where the catalogue has no such path with items. */
  readonly scoreOffsets: Uint32Array;
  readonly scores: Float32Array;
  /** [n] items that a diversity cap kept out. */
  readonly leftOutByDiversity: Uint32Array;
  /** [n] index into COMPLETENESS. */
  readonly completeness: Uint8Array;
  /** [n] of the watched item: index into VERDICTS, `open` where none was watched. */
  readonly verdicts: Uint8Array;
  /** [n] from 1: among the items, or, pruned, among the candidates of the step. */
  readonly verdictRanks: Uint32Array;
  readonly prunedSteps: Uint32Array;
  /** [n] of the item's path or, pruned, its candidate; and of the last candidate that was kept. */
  readonly watchedScores: Float32Array;
  readonly cutScores: Float32Array;
  /** [n] behind a diversity cap: its attribute. */
  readonly cappedAttributes: readonly string[];
  /** [n + 1] into the rows of trees that were wanted: TREE_SLOTS.length cells and a score. */
  readonly treeOffsets: Uint32Array;
  readonly treeCells: Uint32Array;
  readonly treeScores: Float32Array;
  /** Prompt tokens that other requests computed. */
  readonly prefixReusedTokens: Uint32Array;
  /** [n][KV_TIERS.length]: prompt tokens that the pool had, by the tier they were found in. */
  readonly kvTokens: Uint32Array;
  /** [n] 1 where keys and values came back through a lossy codec. */
  readonly kvLossy: Uint8Array;
  /** Of kvTokens, those that an adapter before the request's computed. */
  readonly kvInheritedTokens: Uint32Array;
  /** Versions between the oldest of these and the request's; of what was shared as well. */
  readonly kvVersionsBack: Uint32Array;
  /** Waited for blocks on their way to the device when the request's turn had come. */
  readonly kvWaitUs: Uint32Array;
  /** [n][TIMING_SLOTS.length]. */
  readonly timingsUs: Float32Array;
  /** [n + 1] into the passes, each PASS_SLOTS.length numbers. */
  readonly passOffsets: Uint32Array;
  readonly passes: Float32Array;
}
