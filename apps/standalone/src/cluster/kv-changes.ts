import type { RecallRuntime } from '@tessera/recall';
import type { KvChanges } from '../../../retrieval/src/index.js';
import type { ClusterNode } from './cluster-node.js';

/** Removals of a user's data: on every node of a cluster. */
export function kvChanges(
  { serving, facts }: RecallRuntime,
  eraseRecalls: ((userId: string) => Promise<number>) | undefined,
  clusterNode: ClusterNode | undefined,
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
