import type { Config } from '@tessera/config';
import type { RetrievalNode } from '@tessera/node';
import type { RecallFacts, RecallRuntime } from '@tessera/recall';
import type { KvChanges } from '../../../retrieval/src/index.js';

/** Removals of a user's data: on every node of a cluster. */
export function kvChanges(
  { serving, facts }: RecallRuntime,
  eraseRecalls: ((userId: string) => Promise<number>) | undefined,
  clusterNode: RetrievalNode | undefined,
): KvChanges {
  if (clusterNode !== undefined) {
    return {
      dropUser: async (userId, withRecords, budgetMs) => {
        const signal = AbortSignal.timeout(Math.max(1, Math.ceil(budgetMs)));
        await clusterNode.erase({ userId, withBehaviours: false, withRecords }, signal);
      },
      dropVersion: (version) => clusterNode.dropVersion(version),
    };
  }
  return {
    dropUser: async (userId, withRecords, budgetMs) => {
      await serving.forgetUser(userId, budgetMs);
      if (withRecords) await eraseRecalls?.(userId);
    },
    dropVersion: async (version) => facts.kvPool.dropVersion(version),
  };
}

/**
 * Users whose behaviours this node follows. Those of a node that only appends are held where
 * recalls are answered, and by the store that it fills: they are all of whom behaviours arrive.
 */
export function followedUsers(
  { cluster }: Pick<Config, 'cluster'>,
  facts: Pick<RecallFacts, 'kvPool'>,
): (userId: string) => boolean {
  return cluster.role === 'append' ? () => true : (userId) => facts.kvPool.holds(userId);
}
