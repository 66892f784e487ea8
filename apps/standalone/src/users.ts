import type { Config } from '@tessera/config';
import type { Readiness } from '@tessera/lifecycle';
import { eventualParts, ListedErasures, type RetrievalNode } from '@tessera/node';
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
  const { config, runtime, log, metrics, readiness, eraseRecalls, clusterNode } = needs;
  const { behaviourLog: behaviours } = runtime.operations;
  const own = new OwnPool(runtime.serving, followedUsers(config, runtime.facts));
  // Nodes of a cluster hear of each other's users by the log.
  const isAlone = behaviours !== undefined && clusterNode === undefined;
  const remote = isAlone ? retrievalPools(config) : [];
  const follower = new KvFollower({
    pools: remote.length === 0 ? own : new AllPools([own, new RemotePools(remote)]),
    metrics,
    log,
    budgetMs: config.recall.deadlineMsMax,
  });
  if (!isAlone) return { follower, erasure: clusterNode, close: async () => undefined };
  const forget = (userId: string) => follower.erase(userId);
  const erasure = new ListedErasures({
    pending: await pendingErasuresOf(config),
    stores: eventualParts({ behaviours, eraseRecalls, forget }),
    nodeLog: log,
    nowMs: Date.now,
  });
  runtime.serving.erasures.heardFrom(
    () => true,
    (userId) => erasure.isPending(userId),
  );
  erasure.showIn(readiness);
  return {
    follower,
    erasure,
    close: async () => {
      await erasure.close();
      for (const { client } of remote) client.close();
    },
  };
}
