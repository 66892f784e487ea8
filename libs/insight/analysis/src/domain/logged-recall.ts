/** A recall whose items have propensities, and a target that it is weighed for. */

export interface LoggedItem {
  readonly itemId: string;
  /** Probability of its draw beside the others, in (0, 1]. */
  readonly propensity: number;
  readonly reward: number;
}

export interface LoggedRecall {
  /** Recalls of one user depend on each other: intervals are by users. */
  readonly user: string;
  readonly items: readonly LoggedItem[];
  /** Probability with which the target's answer has an item, of those it may have. */
  readonly target: ReadonlyMap<string, number>;
}
