import type { Config } from '@tessera/config';
import { erasuresCondition } from '@tessera/hosting';
import type { Readiness } from '@tessera/lifecycle';
import type { RetrievalNode } from '@tessera/node';
import type { RecallRuntime } from '@tessera/recall';
import type { Log, Metrics } from '@tessera/telemetry';
import {
  AllPools,
  type ErasesUsers,
  KvFollower,
  OwnPool,
  pendingErasuresOf,
  RemotePools,
  retrievalPools,
  UserErasure,
} from '../../feature/src/index.js';
import { followedUsers } from './cluster/kv-changes.js';

export interface UsersNeeds {
  readonly config: Config;
  readonly runtime: RecallRuntime;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly readiness: Readiness;
  /** Undefined: no recalls are kept. */
  readonly eraseRecalls: ((userId: string) => Promise<number>) | undefined;
  /** Undefined: this process is the only one. */
  readonly clusterNode: RetrievalNode | undefined;
}

/** Follows users here and in the other retrieval processes, and erases them there. */
export interface Users {
  readonly follower: KvFollower;
  /** Undefined where users cannot be erased. */
  readonly erasure: ErasesUsers | undefined;
  close(): Promise<void>;
}

/** Erasures that an earlier process left are gone on with. */
export async function openUsers(needs: UsersNeeds): Promise<Users> {
  const { config, runtime, log, metrics, readiness, eraseRecalls } = needs;
  const { behaviourLog: behaviours } = runtime.operations;
  const own = new OwnPool(runtime.serving, followedUsers(config, runtime.facts));
  const { clusterNode } = needs;
  if (behaviours === undefined || clusterNode !== undefined) {
    const budgetMs = config.recall.deadlineMsMax;
    const follower = new KvFollower({ pools: own, metrics, log, budgetMs });
    const all = { withBehaviours: true, withRecords: true };
    const erasure: ErasesUsers | undefined = clusterNode && {
      erase: (userId, signal) => clusterNode.erase({ userId, ...all }, signal),
    };
    return { follower, erasure, close: async () => undefined };
  }
  const remote = retrievalPools(config);
  const follower = new KvFollower({
    pools: remote.length === 0 ? own : new AllPools([own, new RemotePools(remote)]),
    metrics,
    log,
    budgetMs: config.recall.deadlineMsMax,
  });
  const erasure = new UserErasure({
    behaviours,
    follower,
    eraseRecalls,
    pending: await pendingErasuresOf(config),
    log,
    nowMs: Date.now,
  });
  readiness.conditions.add(erasuresCondition(() => erasure.pendingCount));
  void erasure.retry();
  return {
    follower,
    erasure,
    close: async () => {
      await erasure.close();
      for (const { client } of remote) client.close();
    },
  };
}
