import { MICROSECONDS_PER_MILLISECOND } from '@tessera/units';
import { CostEstimates } from './cost-estimates.js';
import { leastUsOf } from './load-class.js';
import type { CallRole, Member } from './members.js';
import { type ChoiceReason, NodeLoads } from './node-loads.js';
import { RoutingTable } from './table.js';

export interface Chosen {
  readonly name: string;
  readonly reason: ChoiceReason | 'no-user';
}

/**
 * One router's view of the nodes: the table, who takes requests, and what is outstanding where.
 * Pure but for its clock. Owner: a gateway; single-threaded.
 */
export class Router {
  private current = new RoutingTable([], 0);
  private loads = new NodeLoads(this.current);
  private readonly costs = new CostEstimates();
  /** Milliseconds of each node's last answer. */
  private readonly answeredMs = new Map<string, number>();

  constructor(private readonly nowMs: () => number = () => performance.now()) {}

  get table(): RoutingTable {
    return this.current;
  }

  /** A new table. Nodes that stay keep what is outstanding at them, and whether they are up. */
  setMembers(members: readonly Member[]): void {
    const [before, loads] = [this.current, this.loads];
    this.current = new RoutingTable(members, before.revision + 1, before);
    this.loads = new NodeLoads(this.current);
    const now = this.nowMs();
    for (const [node, { name }] of members.entries()) {
      const old = before.indexOf(name);
      if (old < 0) continue;
      this.loads.begin(node, loads.ownUs(old));
      this.loads.state(node, loads.statedUs(old), now);
      this.loads.setStore(node, loads.storeOf(old));
      this.loads.setUp(node, loads.takes(old));
    }
    for (const name of this.answeredMs.keys()) {
      if (this.current.indexOf(name) < 0) this.answeredMs.delete(name);
    }
  }

  setUp(name: string, isUp: boolean): void {
    const node = this.current.indexOf(name);
    if (node >= 0) this.loads.setUp(node, isUp);
  }

  /** The store of keys and values that a node shares with others of the same word; '': none. */
  setStore(name: string, store: string): void {
    const node = this.current.indexOf(name);
    if (node >= 0) this.loads.setStore(node, store);
  }

  /** The role whose nodes take the calls of a role; another one: no node of it takes requests. */
  servedBy(role: CallRole): CallRole {
    return this.loads.servedBy(role);
  }

  /** Predicted microseconds of all that a node has, of every router as far as it is known. */
  outstandingUs(name: string): number {
    this.loads.step(this.nowMs());
    return this.loads.outstandingUs(this.current.indexOf(name));
  }

  /**
   * Where a request of a partition, or of nobody's, goes: to a node of its role while one takes
   * requests. `without`: nodes that have failed it. Undefined: no node takes it.
   */
  choose(
    partition: number | undefined,
    without: readonly string[] = NONE,
    role: CallRole = 'answer',
  ): Chosen | undefined {
    const { current, loads } = this;
    loads.step(this.nowMs());
    const failed =
      without.length === 0 ? NOBODY : new Set(without.map((name) => current.indexOf(name)));
    if (partition === undefined) {
      const node = loads.leastLoaded(failed, role);
      return node === undefined ? undefined : { name: this.nameOf(node), reason: 'no-user' };
    }
    const choice = loads.choose(partition, failed, role);
    return choice && { name: this.nameOf(choice.node), reason: choice.reason };
  }

  /**
   * A request of a kind begins at a node.
   * @returns what ends it; `isAnswered`: its time says what such requests cost
   */
  begin(name: string, kind: string): (isAnswered: boolean) => void {
    const costUs = this.costs.predictedUs(kind);
    const node = this.current.indexOf(name);
    if (node >= 0) this.loads.begin(node, costUs);
    const begunMs = this.nowMs();
    return (isAnswered) => {
      // The table may be another one by now.
      const index = this.current.indexOf(name);
      if (index >= 0) this.loads.end(index, costUs);
      if (!isAnswered) return;
      const nowMs = this.nowMs();
      const fromMs = Math.max(begunMs, this.answeredMs.get(name) ?? 0);
      this.costs.observe(kind, (nowMs - fromMs) * MICROSECONDS_PER_MILLISECOND);
      if (index >= 0) this.answeredMs.set(name, nowMs);
    };
  }

  /** An answer of a node bore this load class. */
  state(name: string, loadClass: number): void {
    const node = this.current.indexOf(name);
    if (node >= 0) this.loads.state(node, leastUsOf(loadClass), this.nowMs());
  }

  /**
   * The least microseconds that a request of a partition waits, at whichever of the nodes that may
   * get it, as these have said with their answers; 0 where one of them has said nothing of that
   * kind. Nodes say the least that their class stands for, so this is no guess.
   */
  leastWaitUs(partition: number, role: CallRole = 'answer'): number {
    const { loads } = this;
    loads.step(this.nowMs());
    let least = Number.POSITIVE_INFINITY;
    for (const node of loads.takersOf(partition, role)) {
      least = Math.min(least, loads.statedUs(node));
    }
    return Number.isFinite(least) ? least : 0;
  }

  private nameOf(node: number): string {
    return this.current.members[node]?.name ?? '';
  }
}

const NONE: readonly string[] = [];
const NOBODY: ReadonlySet<number> = new Set();
