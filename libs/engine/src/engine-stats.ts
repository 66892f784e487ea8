/** Counts since the engine was opened; queued and running are as of now. */
export interface EngineStats {
  readonly queued: number;
  readonly running: number;
  readonly submitted: number;
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly expired: number;
  readonly prefillTokens: number;
  readonly decodeTokens: number;
  readonly forwardPasses: number;
  /** Prompt tokens that a request took from another one instead of computing them. */
  readonly prefixReusedTokens: number;
  /** Prompt tokens taken back because those they were built on failed. */
  readonly rolledBackTokens: number;
  /** Microseconds of all passes, as the cost model saw them coming and as they were. */
  readonly predictedUs: number;
  readonly actualUs: number;
}
