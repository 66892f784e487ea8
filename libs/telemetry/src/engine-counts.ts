/** Counts of the engine since it opened, as it reports them. */
export interface EngineCounts {
  readonly queued: number;
  readonly running: number;
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly expired: number;
  readonly prefillTokens: number;
  readonly decodeTokens: number;
  readonly forwardPasses: number;
  readonly prefixReusedTokens: number;
  readonly rolledBackTokens: number;
  readonly predictedUs: number;
  readonly actualUs: number;
}
