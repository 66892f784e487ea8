import { TesseraError } from '@tessera/errors';
import { checkedMembers, type LogWord, type Member } from '@tessera/routing';
import type { Connection } from './connection.js';
import { askEdge } from './edge-call.js';

const ANSWER_MS_MAX = 2000;

/** A node as a gateway's `GET /v1/cluster` shows it. */
export interface ShownNode extends Member {
  /** unknown, up, draining, down or different. */
  readonly state: string;
  /** Why it gets no requests; '' where it does. */
  readonly reason: string;
  readonly ownedPartitions: number;
  readonly inFlight: number;
  /** Predicted microseconds of the work that it has. */
  readonly outstandingUs: number;
  /** Users' chains in its KV pool, when it was last seen. */
  readonly chains: number;
  /** Model and template of a node that scores texts, and the predicted cost. */
  readonly relevance?: ShownRelevance | undefined;
  /** Versions that it served by kind, when it was last seen. */
  readonly versions: Readonly<Record<string, string>>;
  /** How far it is in the log of the cluster, when it was last seen; identity '': in none. */
  readonly log: LogWord;
}

/** Times are microseconds: of all that it has to score, and of a token. */
export interface ShownRelevance {
  readonly model: string;
  readonly template: string;
  readonly backlogUs: number;
  readonly tokenUs: number;
}

/** `GET /v1/cluster` of a gateway. */
export interface ClusterState {
  readonly revision: number;
  readonly digest: string;
  readonly partitions: number;
  /** The versions that the cluster serves, by kind. */
  readonly versions: Readonly<Record<string, string>>;
  /** In the order of their names. */
  readonly nodes: readonly ShownNode[];
}

/** `POST /v1/cluster/route` of a gateway: where a user's requests go. */
export interface UserRoute {
  readonly revision: number;
  readonly partition: number;
  /** Null: there is no node. */
  readonly owner: string | null;
  readonly successors: readonly string[];
  /** Node that would be asked now; null: no node takes requests. */
  readonly now: string | null;
  /** Why that one. */
  readonly reason: string;
}

/**
 * State of a gateway's cluster. `address`: HOST:PORT of its HTTP edge. Rejects with
 * NODE_UNAVAILABLE.
 */
export async function clusterState(address: string, connection: Connection): Promise<ClusterState> {
  const call = { method: 'GET', address, path: '/v1/cluster', timeoutMs: ANSWER_MS_MAX } as const;
  try {
    const state = await askEdge<ClusterState>(call, connection);
    checkedMembers(state.nodes, 'nodes');
    return state;
  } catch (cause) {
    const message = `gateway: expected its nodes, got: ${(cause as Error).message}`;
    throw new TesseraError('NODE_UNAVAILABLE', message, { cause });
  }
}

/** Route of a user's requests as a gateway knows it. Rejects with NODE_UNAVAILABLE. */
export async function userRoute(
  address: string,
  userId: string,
  connection: Connection,
): Promise<UserRoute> {
  const path = '/v1/cluster/route';
  const call = {
    method: 'POST',
    address,
    path,
    body: { userId },
    timeoutMs: ANSWER_MS_MAX,
  } as const;
  try {
    return await askEdge<UserRoute>(call, connection);
  } catch (cause) {
    const message = `gateway: expected the owner of a user, got: ${(cause as Error).message}`;
    throw new TesseraError('NODE_UNAVAILABLE', message, { cause });
  }
}
