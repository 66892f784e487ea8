/** Adapter of requests that name none. */
export const DEFAULT_ADAPTER = 'main';

/** Version that ranks where a request names none. */
export const DEFAULT_RANKING = 'ranking';

/** Rank of an adapter at most: beyond it a product costs as much as a layer of the base model. */
export const RANK_MAX = 128;

/**
 * Frobenius norm of the change of a matrix: a hundred times what fine-tuning makes, and far below
 * what overflows. Golden set and canary judge everything smaller.
 */
export const NORM_MAX = 10_000;

/** Bytes of the files of one version: an adapter of rank 128 of a model of 8 B parameters. */
export const VERSION_BYTES_MAX = 2 ** 30;

/** Milliseconds of one attempt at fetching a file from an object store. */
export const FETCH_TIMEOUT_MS = 30_000;

/** Thresholds beyond which a canary is withdrawn; generous, since few samples are noisy. */
export const CANARY_RULES = {
  /** Samples before a rule decides. */
  samplesMin: 50,
  /** Mean share of items in common with the active version, also of the golden set. */
  overlapMinPercent: 20,
  /** Percentage points of failures above the active version. */
  failureMaxPercent: 2,
  /** Percentage points of empty answers above the active version. */
  emptyMaxPercent: 2,
  /** Percentage points of short answers above the active version. */
  shortMaxPercent: 10,
  /** 95th percentile of the latency, in percent of the active version's. */
  latencyMaxPercent: 300,
  /** Mean score of clicked items below that of the active version, in thousandths. */
  clickDropMax: 1000,
} as const;
