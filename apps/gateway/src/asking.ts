import { RetryBudget } from '@tessera/client';
import { TesseraError } from '@tessera/errors';
import { ATTEMPTS_MAX, askInTurn, type CallRole, type Failure } from '@tessera/routing';
import type { ClusterCounts } from '@tessera/telemetry';
import { MICROSECONDS_PER_MILLISECOND } from '@tessera/units';
import type { Cluster } from './cluster.js';
import { failureOf } from './node-failure.js';
import type { NodeLink } from './node-link.js';

const RETRY_AFTER_MS = 500;

/** Edge at which requests arrive at a gateway. */
export type Edge = 'grpc' | 'http' | 'kafka';

export interface Asked {
  /** Undefined: of no user. */
  readonly partition: number | undefined;
  /** Nodes that it is for, while one of them takes requests. */
  readonly role: CallRole;
  /** Name of the one node that can answer; left out: any of the partition's. */
  readonly node?: string | undefined;
  /** Kind of call by which its cost is predicted. */
  readonly kind: string;
  readonly edge: Edge;
  /** Milliseconds since 1970; Infinity: it has none. */
  readonly deadlineMs: number;
  /** True once the caller has gone or the deadline has passed. */
  readonly isOver: () => boolean;
  /** A change, which a node that cannot append leaves to the next one; it has a key. */
  readonly isChange?: boolean;
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
  /** Requests that no node could have answered in time. */
  refusedAhead = 0;

  count(edge: string, reason: string): void {
    const key = `${edge} ${reason}`;
    const known = this.forwarded.get(key);
    if (known === undefined) this.forwarded.set(key, { edge, reason, count: 1 });
    else known.count += 1;
  }
}

/**
 * Undefined: no node takes it.
 * @throws TesseraError NODE_UNAVAILABLE where the one that can answer takes no requests
 */
function chosenFor({ partition, role, node }: Asked, cluster: Cluster, without: readonly string[]) {
  if (node === undefined) return cluster.choose(partition, role, without);
  const link = cluster.link(node);
  if (link?.state === 'up' && !without.includes(node)) {
    return { link, reason: 'named' as const };
  }
  const got = link === undefined ? `${node}, which is no member` : `${node} ${link.state}`;
  const message = `versions.node: expected a node that takes requests, got ${got}`;
  throw new TesseraError('NODE_UNAVAILABLE', message, { field: 'versions.node' });
}

/** Asks the owner of a user, and its successors where it is away or refuses before it begins. */
export class Asking {
  private readonly budget = new RetryBudget();

  constructor(
    readonly cluster: Cluster,
    readonly counts: ForwardCounts,
  ) {}

  /**
   * Rejects with what the last node said, or with NODE_UNAVAILABLE. `act` must be repeatable: it
   * rejects only where no byte of an answer has come.
   */
  async ask<Answer>(
    asked: Asked,
    act: (link: NodeLink, deadlineMs: number) => Promise<Answer>,
  ): Promise<Answer> {
    const { cluster, counts } = this;
    this.checkTime(asked);
    const { isOver, isChange = false } = asked;
    let left = isChange ? this.takers(asked.role) : 1;
    const next = (without: readonly string[]) => {
      const chosen = chosenFor(asked, cluster, without);
      if (chosen === undefined) return undefined;
      if (without.length === 0) counts.count(asked.edge, chosen.reason);
      else counts.retries += 1;
      return chosen.link;
    };
    const lost = (link: NodeLink, thrown: unknown) => cluster.lost(link, (thrown as Error).message);
    const begin = (link: NodeLink) => cluster.begin(link, asked.kind);
    const inTurn = {
      next,
      nameOf,
      begin,
      lost,
      isOver,
      failureOf: (thrown: unknown) =>
        isChange ? failureOf(thrown, isChange) : this.repeatable(failureOf(thrown)),
    };
    const ended = await askInTurn(inTurn, (link: NodeLink) => {
      // A node that says nothing leaves the others their share of the time.
      const share = (asked.deadlineMs - Date.now()) / Math.max(1, left);
      left -= 1;
      return act(link, left < 1 ? asked.deadlineMs : Date.now() + share);
    });
    if (ended.isAnswered) {
      this.budget.answered();
      return ended.answer;
    }
    throw ended.refusal ?? noNode(cluster);
  }

  /** Failure after which a call is not repeated when the budget of repeats is used up. */
  private repeatable(failure: Failure): Failure {
    return failure === 'busy' && !this.budget.failed() ? 'final' : failure;
  }

  /** Nodes that may be asked for one change. */
  private takers(role: CallRole): number {
    const { cluster } = this;
    const takers = cluster.links().filter((link) => cluster.takes(link, role));
    return Math.min(ATTEMPTS_MAX, takers.length);
  }

  /** @throws TesseraError ENGINE_OVERLOADED where no node that may take it can make the deadline */
  private checkTime({ partition, role, deadlineMs }: Asked): void {
    if (partition === undefined || deadlineMs === Number.POSITIVE_INFINITY) return;
    const leftMs = deadlineMs - Date.now();
    const waitMs = this.cluster.leastWaitUs(partition, role) / MICROSECONDS_PER_MILLISECOND;
    if (waitMs <= leftMs) return;
    this.counts.refusedAhead += 1;
    const got = Math.max(0, Math.floor(leftMs));
    const expected = `expected ${waitMs} ms, which the owner and its successors need`;
    throw new TesseraError('ENGINE_OVERLOADED', `deadline: ${expected}, got ${got} ms`, {
      retryAfterMs: Math.ceil(waitMs - leftMs),
    });
  }
}

const nameOf = ({ member }: NodeLink): string => member.name;
