/**
 * Rewards of a target on traffic that another policy served, from answers whose items have
 * inclusion probabilities (docs/concepts/exploration.md has the assumptions).
 */

import type { Estimate, Estimated, Estimates } from './answers.js';
import type { LoggedRecall } from './logged-recall.js';
import { RewardModel } from './reward-model.js';
import { Z } from './statistics.js';

/** Share of the target's items that rounding may leave. */
const NOTHING = 1e-9;
/** Below it an interval says more than the users know. */
export const EFFECTIVE_USERS_MIN = 100;

const NO_SUMS = {
  recalls: 0,
  served: 0,
  weighted: 0,
  weights: 0,
  /** Weight of the target's items. */
  target: 0,
  robust: 0,
  /** Weights without the items that had a fixed place, of which nothing is left to chance. */
  drawnWeights: 0,
  drawnTarget: 0,
};
type Sums = typeof NO_SUMS;
const SUMS = Object.keys(NO_SUMS) as (keyof Sums)[];

const noSums = (): Sums => ({ ...NO_SUMS });

function addRecall(to: Sums, { items, target, user }: LoggedRecall, model: RewardModel): void {
  to.recalls += 1;
  for (const [itemId, share] of target) {
    to.target += share;
    to.drawnTarget += share;
    to.robust += share * model.expected(user, itemId);
  }
  for (const { itemId, propensity, reward } of items) {
    const weight = (target.get(itemId) ?? 0) / propensity;
    if (propensity < 1) to.drawnWeights += weight;
    else to.drawnTarget -= weight;
    to.served += reward;
    to.weights += weight;
    to.weighted += weight * reward;
    to.robust += weight * (reward - model.expected(user, itemId));
  }
}

function byUser(recalls: readonly LoggedRecall[]): Sums[] {
  const model = new RewardModel(recalls);
  const users = new Map<string, Sums>();
  for (const recall of recalls) {
    const sums = users.get(recall.user) ?? noSums();
    users.set(recall.user, sums);
    addRecall(sums, recall, model);
  }
  return [...users.values()];
}

/**
 * An estimate with its interval by users, from the influence of each on it: of a ratio of sums its
 * linearisation, with few users Student's t in place of the normal quantile.
 */
function estimateOf(value: number, influences: readonly number[]): Estimate {
  const users = influences.length;
  const squares = influences.reduce((sum, influence) => sum + influence * influence, 0);
  const error = Math.sqrt((users / (users - 1)) * squares);
  const half = (Z + (Z ** 3 + Z) / (4 * (users - 1))) * error;
  return { value, low: value - half, high: value + half };
}

/** @throws RangeError for a propensity outside (0, 1], which no sampler gives */
export function estimateTarget(recalls: readonly LoggedRecall[]): Estimated {
  for (const { propensity } of recalls.flatMap(({ items }) => items)) {
    if (!(propensity > 0 && propensity <= 1)) {
      throw new RangeError(`propensity: expected a number in (0, 1], got ${propensity}`);
    }
  }
  const users = byUser(recalls);
  const total = noSums();
  let squares = 0;
  for (const sums of users) {
    for (const name of SUMS) total[name] += sums[name];
    squares += sums.drawnWeights ** 2;
  }
  const isDrawn = total.drawnTarget > NOTHING * total.target;
  const effectiveUsers = isDrawn ? total.drawnWeights ** 2 / (squares || 1) : users.length;
  const isEnough = effectiveUsers >= EFFECTIVE_USERS_MIN;
  return {
    recalls: recalls.length,
    users: users.length,
    rewards: total.served,
    targetItems: recalls.length === 0 ? 0 : total.target / total.recalls,
    effectiveUsers,
    balance: total.target === 0 ? 0 : total.weights / total.target,
    estimates: isEnough ? estimatesOf(users, total) : null,
  };
}

function estimatesOf(users: readonly Sums[], total: Sums): Estimates {
  /** Mean of a recall: a ratio of sums over users, of whom each has any number of recalls. */
  const meanOf = (sumOf: (sums: Sums) => number) => {
    const mean = sumOf(total) / total.recalls;
    const influences = users.map((user) => (sumOf(user) - mean * user.recalls) / total.recalls);
    return estimateOf(mean, influences);
  };
  const ratio = total.weighted / total.weights;
  const length = total.target / total.recalls;
  const normalised = users.map(
    (user) =>
      (length * (user.weighted - ratio * user.weights)) / total.weights +
      (ratio * (user.target - length * user.recalls)) / total.recalls,
  );
  return {
    served: meanOf(({ served }) => served),
    weighted: meanOf(({ weighted }) => weighted),
    normalised: estimateOf(ratio * length, normalised),
    doublyRobust: meanOf(({ robust }) => robust),
    gain: meanOf(({ robust, served }) => robust - served),
  };
}
