/** Users of a node that is lost: another node goes on with their keys and values. */

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { missingFor, temporaryFolder, until } from '@tessera/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedPortOf } from '../../tools/cluster/local-plan.js';
import { SMALL, writeRandomModel } from './random-model.js';
import { DEADLINE_MS, RunningCluster } from './running-cluster.js';

/** To compute a history takes far longer than to load it: else the pool may rather compute it. */
const WORTH_LOADING = { ...SMALL, layers: 6, hidden: 256 };
const USERS = Array.from({ length: 12 }, (_, n) => `user-${n}`);

function behavioursOf(user: number) {
  return Array.from({ length: 30 }, (_, time) => ({
    item_id: String((user * 31 + time * 7) % 200),
    time,
  }));
}

describe.skipIf(missingFor(['redis']).length > 0)('keys and values that all nodes share', () => {
  const folder = temporaryFolder({});
  let cluster: RunningCluster;

  beforeAll(async () => {
    const model = writeRandomModel(join(folder.path, 'model'), WORTH_LOADING);
    const users = USERS.map((name, n) => [name, { behaviours: behavioursOf(n) }] as const);
    writeFileSync(join(model, 'users.json'), JSON.stringify(Object.fromEntries(users)));
    const variables = {
      TESSERA_MODEL_PATH: model,
      TESSERA_CATALOGUE_CACHE_PATH: join(folder.path, 'cache'),
    };
    cluster = await RunningCluster.start(3, { isShared: true, variables });
  });
  afterAll(async () => {
    await cluster?.end();
    folder.remove();
  });

  async function recalled(userId: string) {
    const { items, kv, versions } = await cluster.client.recall(
      { userId, resultCount: 10 },
      DEADLINE_MS,
    );
    const scores = JSON.stringify(items.map(({ itemId, score }) => [itemId, score]));
    return { scores, tokens: kv?.tokensByTier ?? {}, node: versions?.node };
  }

  /** Keys of the store, of users alone. */
  function keys(): readonly string[] {
    const words = ['-p', String(sharedPortOf(cluster.options)), '--raw', 'keys', '*'];
    const lines = execFileSync('redis-cli', words, { encoding: 'utf8' }).split('\n');
    return lines.filter((line) => line !== '' && !line.endsWith('erased'));
  }

  it('go on at a successor after kill -9 of their owner, with the same scores', async () => {
    const before = new Map<string, Awaited<ReturnType<typeof recalled>>>();
    for (const user of USERS) before.set(user, await recalled(user));
    await until('all users are in the store', () => keys().length >= USERS.length);
    const lost = 'node-1';
    process.kill(cluster.pidOf(lost), 'SIGKILL');
    await cluster.untilIs(lost, 'down');
    const moved = USERS.filter((user) => before.get(user)?.node === lost);
    expect(moved.length).toBeGreaterThan(0);
    for (const user of USERS) {
      const after = await recalled(user);
      expect(after.scores).toBe(before.get(user)?.scores);
      if (moved.includes(user)) expect(after.tokens.shared).toBeGreaterThan(0);
    }
  });

  it('leave nothing of an erased user in the store', async () => {
    const count = keys().length;
    const [user] = USERS;
    await cluster.client.dropUser(user as string, DEADLINE_MS);
    expect(keys().length).toBe(count - 1);
  });
});
