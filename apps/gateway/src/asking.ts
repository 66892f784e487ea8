import { isErrorCode, TesseraError } from '@tessera/errors';
import type { ClusterCounts } from '@tessera/telemetry';
import type { Cluster } from './cluster.js';
import type { NodeLink } from './node-link.js';

/** Nodes that are asked for one request at most: the owner and its successors. */
const ATTEMPTS_MAX = 3;
const RETRY_AFTER_MS = 500;

/** What a failure says about asking another node. */
export type Failure = 'away' | 'busy' | 'final';

/** Codes of nodes that have refused before they began, so that another one may be asked. */
const BUSY: ReadonlySet<string> = new Set([
  'ENGINE_OVERLOADED',
  'ENGINE_UNAVAILABLE',
  'ENGINE_CLOSED',
]);

/** Of a code that a node's answer bears; '' for none. */
export function failureOfCode(code: string): Failure {
  if (!isErrorCode(code)) return 'away';
  return BUSY.has(code) ? 'busy' : 'final';
}

export interface Asked {
  /** Undefined: of no user. */
  readonly partition: number | undefined;
  /** What its cost is predicted by. */
  readonly kind: string;
  readonly edge: 'grpc' | 'http';
  /** Nobody waits any more, or the deadline has passed. */
  readonly isOver: () => boolean;
  readonly failureOf: (thrown: unknown) => Failure;
}

export function noNode(cluster: Cluster): TesseraError {
  const states = cluster.links().map(({ member, state }) => `${member.name} ${state}`);
  const got = states.length === 0 ? 'no nodes' : states.slice(0, 8).join(', ');
  const message = `nodes: expected one that takes requests, got ${got}`;
  return new TesseraError('NODE_UNAVAILABLE', message, { retryAfterMs: RETRY_AFTER_MS });
}

/** Counts of requests, by edge and by why the node was asked. */
export class ForwardCounts {
  readonly forwarded = new Map<string, ClusterCounts['forwarded'][number]>();
  retries = 0;

  count(edge: string, reason: string): void {
    const key = `${edge} ${reason}`;
    const known = this.forwarded.get(key);
    if (known === undefined) this.forwarded.set(key, { edge, reason, count: 1 });
    else known.count += 1;
  }
}

/** Asks the owner of a user, and its successors where it is away or refuses before it begins. */
export class Asking {
  constructor(
    readonly cluster: Cluster,
    readonly counts: ForwardCounts,
  ) {}

  /**
   * Rejects with what the last node said, or with NODE_UNAVAILABLE. `act` must be repeatable: it
   * rejects only where no byte of an answer has come.
   */
  async ask<Answer>(asked: Asked, act: (link: NodeLink) => Promise<Answer>): Promise<Answer> {
    const { cluster, counts } = this;
    const without = new Set<NodeLink>();
    let refusal: unknown;
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      const chosen = cluster.choose(asked.partition, without);
      if (chosen === undefined) break;
      const { link, reason } = chosen;
      if (attempt === 0) counts.count(asked.edge, reason);
      else counts.retries += 1;
      const end = cluster.begin(link, asked.kind);
      try {
        const answer = await act(link);
        end(true);
        return answer;
      } catch (thrown) {
        end(false);
        const failure = asked.failureOf(thrown);
        if (failure === 'final' || asked.isOver()) throw thrown;
        if (failure === 'away') cluster.lost(link, (thrown as Error).message);
        else refusal = thrown;
        without.add(link);
      }
    }
    throw refusal ?? noNode(cluster);
  }
}
