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
   * Keys and values of a user on the other nodes; nothing where a log has brought the erasure to
   * all. Rejects with NODE_UNAVAILABLE where there are several and they follow none.
   */
  readonly forget: (userId: string) => Promise<void>;
  /** Asks as askEdge of libs/edge/client. */
  readonly ask: <Answer>(call: EdgeCall) => Promise<Answer>;
}
