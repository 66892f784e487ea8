import type { ClusterState, EdgeCall, UserRoute } from '@tessera/client';

/** Port: the cluster that this node is one of. */
export interface ClusterPort {
  /** Name of this node. */
  readonly node: string;
  /** HOST:PORT of the gateway before it; '': there is no cluster. */
  readonly gateway: string;
  /** Rejects with NODE_UNAVAILABLE. */
  readonly state: () => Promise<ClusterState>;
  /** Rejects with NODE_UNAVAILABLE. */
  readonly route: (userId: string) => Promise<UserRoute>;
  /**
   * Keys, values and recorded recalls of a user on every node, kept by the gateway until all have
   * confirmed. Rejects with STORE_UNAVAILABLE until then.
   */
  readonly forget: (userId: string) => Promise<void>;
  /** As askEdge of libs/client. */
  readonly ask: <Answer>(call: EdgeCall) => Promise<Answer>;
}
