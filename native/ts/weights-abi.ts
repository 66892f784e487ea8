/** What the addon tells of the weights that serve. */

export interface WeightsUpdate {
  readonly digest: string;
  /** Updates since the engine was opened. */
  readonly generation: number;
  /** Nobody was let in while the requests that ran ended. */
  readonly drainedUs: number;
  /** Nobody ran. */
  readonly swappedUs: number;
}
