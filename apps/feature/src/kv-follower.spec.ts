import { describe, expect, it } from 'vitest';
import { KvFollower } from './kv-follower.js';

function world(held: readonly string[]) {
  const appended: string[] = [];
  const follower = new KvFollower({
    pools: {
      mayHold: (userId: string) => held.includes(userId),
      append: async (userId: string) => {
        appended.push(userId);
      },
      erase: async () => undefined,
    },
    metrics: { countFollowed: () => undefined },
    log: { debug: () => undefined } as never,
    budgetMs: 1000,
  });
  return { follower, appended };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('the pool follows behaviours', () => {
  it('of every held user, whenever their behaviours are stored', async () => {
    const users = Array.from({ length: 40 }, (_, i) => `held-${i}`);
    const { follower, appended } = world(users);
    // Two writes that are answered in one tick.
    follower.follow(['stranger']);
    follower.follow(['held-0']);
    await turn();
    expect(appended).toEqual(['held-0']);
    for (const [i, user] of users.entries()) {
      follower.follow([user]);
      // So many promises later: at every moment of a run and of its end.
      for (let settled = 0; settled < i % 8; settled++) await Promise.resolve();
    }
    await turn();
    expect(new Set(appended)).toEqual(new Set(users));
  });
});
