import { MICROSECONDS_PER_MILLISECOND } from '@tessera/units';
import type { RoutingTable } from './table.js';

/** A node may have so many times the mean of outstanding work before its users overflow. */
export const LOAD_BOUND = 1.25;

/**
 * Predicted microseconds that never make a node too loaded: with less, queues of a few requests
 * cost more users their kept keys and values than they wait (docs/internals/cluster.md has the
 * figures).
 */
export const FREE_LOAD_US = 50_000;

export type ChoiceReason = 'owner' | 'owner-away' | 'owner-loaded';

export interface Choice {
  readonly node: number;
  /** 0: the owner; 1 and 2: its successors; more: further nodes in the user's order. */
  readonly place: number;
  readonly reason: ChoiceReason;
}

/** Work of other routers goes on in steps of this, over all nodes at once. */
const STEP_MS = 4;

/**
 * Predicted microseconds of work that is outstanding at each node of one table, and which nodes
 * take requests. Work of this router is counted; that of others is what a node says that it has
 * beyond it, and is done as time goes by. Owner: whoever routes; single-threaded.
 */
export class NodeLoads {
  private readonly outstanding: Float64Array;
  /** Of other routers. */
  private readonly foreign: Float64Array;
  /** All that a node has said that it has, less what is done since. */
  private readonly stated: Float64Array;
  private steppedMs = 0;
  private hasStated = false;
  private readonly isUp: Uint8Array;
  private totalUs = 0;
  private upWeight = 0;

  /** All nodes are away until `setUp`. */
  constructor(private readonly table: RoutingTable) {
    this.outstanding = new Float64Array(table.members.length);
    this.foreign = new Float64Array(table.members.length);
    this.stated = new Float64Array(table.members.length);
    this.isUp = new Uint8Array(table.members.length);
  }

  setUp(node: number, isUp: boolean): void {
    const weight = this.weightOf(node);
    const wasUp = this.isUp[node] === 1;
    if (wasUp === isUp) return;
    this.isUp[node] = isUp ? 1 : 0;
    this.upWeight += isUp ? weight : -weight;
    const us = this.outstandingUs(node);
    this.totalUs += isUp ? us : -us;
  }

  takes(node: number): boolean {
    return this.isUp[node] === 1;
  }

  outstandingUs(node: number): number {
    return (this.outstanding[node] ?? 0) + (this.foreign[node] ?? 0);
  }

  /** Of this router alone. */
  ownUs(node: number): number {
    return this.outstanding[node] ?? 0;
  }

  /** Microseconds that a request waits at a node, as it has said itself; 0: nothing, or not yet. */
  statedUs(node: number): number {
    return this.stated[node] ?? 0;
  }

  /** A node has said how much work it has, of all routers together. */
  state(node: number, us: number, nowMs: number): void {
    if (this.stated[node] === undefined) return;
    this.step(nowMs);
    this.stated[node] = us;
    const others = Math.max(0, us - (this.outstanding[node] ?? 0));
    const before = this.foreign[node] ?? 0;
    this.foreign[node] = others;
    this.hasStated ||= us > 0;
    if (this.isUp[node] === 1) this.totalUs = Math.max(0, this.totalUs + others - before);
  }

  /** Decays the reported backlog of each node by the time since its report. */
  step(nowMs: number): void {
    const elapsedMs = nowMs - this.steppedMs;
    if (elapsedMs < STEP_MS) return;
    this.steppedMs = nowMs;
    if (!this.hasStated) return;
    const doneUs = elapsedMs * MICROSECONDS_PER_MILLISECOND;
    this.hasStated = false;
    for (let node = 0; node < this.stated.length; node += 1) {
      const foreign = this.foreign[node] as number;
      const left = Math.max(0, foreign - doneUs);
      this.foreign[node] = left;
      this.stated[node] = Math.max(0, (this.stated[node] as number) - doneUs);
      this.hasStated ||= (this.stated[node] as number) > 0;
      if (this.isUp[node] === 1) this.totalUs = Math.max(0, this.totalUs + left - foreign);
    }
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
