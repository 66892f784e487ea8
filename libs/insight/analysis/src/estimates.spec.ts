import { expect, it } from 'vitest';
import { EFFECTIVE_USERS_MIN, estimateTarget } from './domain/estimates.js';
import type { LoggedRecall } from './domain/logged-recall.js';

/** Of each user a recall of a fixed item and one drawn with probability 1/4, and clicked. */
function log(users: number, target: Record<string, number>): LoggedRecall[] {
  return Array.from({ length: users }, (_, user) => ({
    user: String(user),
    items: [
      { itemId: 'fixed', propensity: 1, reward: 0 },
      ...(user % 4 === 0 ? [{ itemId: 'drawn', propensity: 0.25, reward: 1 }] : []),
    ],
    target: new Map(Object.entries(target)),
  }));
}

it('weighs a drawn item by how seldom it is drawn', () => {
  const { recalls, users, targetItems, balance, effectiveUsers, estimates } = estimateTarget(
    log(800, { drawn: 1 }),
  );
  expect({ recalls, users, targetItems, balance }).toEqual({
    recalls: 800,
    users: 800,
    targetItems: 1,
    balance: 1,
  });
  // A quarter of the users carries all of the weight.
  expect(effectiveUsers).toBe(200);
  expect(estimates?.served.value).toBeCloseTo(0.25);
  for (const name of ['weighted', 'normalised', 'doublyRobust'] as const) {
    expect(estimates?.[name].value, name).toBeCloseTo(1);
  }
  // All that is drawn is clicked, so that the mean is certain and the number of draws is not.
  const { low = 0, high = 0 } = estimates?.normalised ?? {};
  expect(high - low).toBeCloseTo(0);
  const sigma = Math.sqrt(3 / 799);
  expect(((estimates?.weighted.high ?? 0) - 1) / sigma).toBeCloseTo(1.963, 3);
});

it('refuses where few users carry the weight, and says how many', () => {
  const few = estimateTarget(log(4 * (EFFECTIVE_USERS_MIN - 1), { drawn: 1 }));
  expect(few).toMatchObject({ effectiveUsers: EFFECTIVE_USERS_MIN - 1, estimates: null });
  expect(estimateTarget(log(400, { other: 1 }))).toMatchObject({ effectiveUsers: 0, balance: 0 });
  // A fixed item has weight 1 with all users, and hides no drawn one that hardly any has.
  const both = estimateTarget(log(40, { fixed: 1, drawn: 1 }));
  expect(both).toMatchObject({ effectiveUsers: 10, estimates: null });
  expect(estimateTarget(log(400, { fixed: 1 })).effectiveUsers).toBe(400);
  expect(estimateTarget([])).toMatchObject({ recalls: 0, effectiveUsers: 0, estimates: null });
});

it('takes no item for drawn that could not be', () => {
  for (const propensity of [0, -0.1, 1.1, Number.NaN]) {
    const items = [{ itemId: 'a', propensity, reward: 0 }];
    expect(() => estimateTarget([{ user: 'u', items, target: new Map() }])).toThrow(/propensity/);
  }
});
