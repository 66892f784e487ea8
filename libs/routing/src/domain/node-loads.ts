import type { RoutingTable } from './table.js';

/** A node may have so many times the mean of outstanding work before its users overflow. */
export const LOAD_BOUND = 1.25;

/**
 * Predicted microseconds that never make a node too loaded: with less, queues of a few requests
 * cost more users their kept keys and values than they wait (ADR 0119 has the figures).
 */
export const FREE_LOAD_US = 50_000;

export type ChoiceReason = 'owner' | 'owner-away' | 'owner-loaded';

export interface Choice {
  readonly node: number;
  /** 0: the owner; 1 and 2: its successors; more: further nodes in the user's order. */
  readonly place: number;
  readonly reason: ChoiceReason;
}

/**
 * Predicted microseconds of work that is outstanding at each node of one table, and which nodes
 * take requests. Owner: whoever routes; single-threaded.
 */
export class NodeLoads {
  private readonly outstanding: Float64Array;
  private readonly isUp: Uint8Array;
  private totalUs = 0;
  private upWeight = 0;

  /** All nodes are away until `setUp`. */
  constructor(private readonly table: RoutingTable) {
    this.outstanding = new Float64Array(table.members.length);
    this.isUp = new Uint8Array(table.members.length);
  }

  setUp(node: number, isUp: boolean): void {
    const weight = this.weightOf(node);
    const wasUp = this.isUp[node] === 1;
    if (wasUp === isUp) return;
    this.isUp[node] = isUp ? 1 : 0;
    this.upWeight += isUp ? weight : -weight;
    const own = this.outstanding[node] ?? 0;
    this.totalUs += isUp ? own : -own;
  }

  takes(node: number): boolean {
    return this.isUp[node] === 1;
  }

  outstandingUs(node: number): number {
    return this.outstanding[node] ?? 0;
  }

  begin(node: number, costUs: number): void {
    this.add(node, costUs);
  }

  end(node: number, costUs: number): void {
    this.add(node, -costUs);
  }

  /** Microseconds that a node may have outstanding before its users overflow. */
  boundUs(node: number): number {
    if (this.upWeight === 0) return FREE_LOAD_US;
    const mean = (this.totalUs * this.weightOf(node)) / this.upWeight;
    return Math.max(FREE_LOAD_US, LOAD_BOUND * mean);
  }

  /**
   * The owner where it takes requests and is not too loaded; else its successors in their order,
   * the least loaded of them where all are too loaded, and further nodes where all three are away.
   * `without`: nodes that have failed this request. Undefined: nobody takes it.
   */
  choose(partition: number, without: ReadonlySet<number> = NONE): Choice | undefined {
    let least: Choice | undefined;
    let leastShare = Number.POSITIVE_INFINITY;
    let away = 0;
    for (let place = 0; ; place += 1) {
      const node = this.table.nodeAt(partition, place);
      if (node === undefined) break;
      if (this.isUp[node] === 0 || without.has(node)) {
        away += 1;
        continue;
      }
      const us = this.outstandingUs(node);
      const bound = this.boundUs(node);
      const reason = place === 0 ? 'owner' : away === place ? 'owner-away' : 'owner-loaded';
      const choice: Choice = { node, place, reason };
      if (us <= bound) return choice;
      if (us / bound < leastShare) {
        leastShare = us / bound;
        least = choice;
      }
    }
    return least ?? this.further(partition, without);
  }

  /** The node with the least work for its weight: for requests of no user. */
  leastLoaded(without: ReadonlySet<number> = NONE): number | undefined {
    let best: number | undefined;
    let bestUs = Number.POSITIVE_INFINITY;
    for (let node = 0; node < this.isUp.length; node += 1) {
      if (this.isUp[node] === 0 || without.has(node)) continue;
      const us = this.outstandingUs(node) / this.weightOf(node);
      if (us < bestUs) {
        bestUs = us;
        best = node;
      }
    }
    return best;
  }

  private further(partition: number, without: ReadonlySet<number>): Choice | undefined {
    const order = this.table.order(partition);
    const place = order.findIndex((node) => this.isUp[node] === 1 && !without.has(node));
    const node = order[place];
    return node === undefined ? undefined : { node, place, reason: 'owner-away' };
  }

  private weightOf(node: number): number {
    return this.table.members[node]?.weight ?? 1;
  }

  private add(node: number, us: number): void {
    // Sums of doubles may end a little below nothing.
    this.outstanding[node] = Math.max(0, (this.outstanding[node] ?? 0) + us);
    if (this.isUp[node] === 1) this.totalUs = Math.max(0, this.totalUs + us);
  }
}

const NONE: ReadonlySet<number> = new Set();
