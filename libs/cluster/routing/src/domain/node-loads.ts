import { MICROSECONDS_PER_MILLISECOND } from '@tessera/units';
import { type CallRole, isOfRole } from './members.js';
import type { RoutingTable } from './table.js';

/** A node may have so many times the mean of outstanding work before its users overflow. */
export const LOAD_BOUND = 1.25;

/**
 * Predicted microseconds that never make a node too loaded: with less, queues of a few requests
 * cost more users their kept keys and values than they wait (docs/internals/routing.md has the
 * figures).
 */
export const FREE_LOAD_US = 50_000;

/**
 * Predicted microseconds for which a user stays with the owner though another node that shares its
 * store would be sooner: what moves is fetched, which costs little more than this.
 */
export const STAY_US = 10_000;

/** `role-missing`: no node of the call's role takes requests. */
export type ChoiceReason = 'owner' | 'owner-away' | 'owner-loaded' | 'role-missing';

export interface Choice {
  readonly node: number;
  readonly reason: ChoiceReason;
}

/** Work of other routers goes on in steps of this, over all nodes at once. */
const STEP_MS = 4;

/** The nodes of one role that take requests, as one: a bound is a share of their mean. */
interface RoleLoad {
  /** Flag of each node: 1 where it has the role. */
  readonly isOf: Uint8Array;
  totalUs: number;
  upWeight: number;
  upCount: number;
  /** True where all that are up share one store of keys and values. */
  hasOneStore: boolean;
}

/**
 * Predicted microseconds of work that is outstanding at each node of one table, and which nodes
 * take requests. Work of this router is counted; that of others is what a node says that it has
 * beyond it, and is done as time goes by. Owner: whoever routes; single-threaded.
 */
export class NodeLoads {
  private readonly outstanding: Float64Array;
  /** Loads that other routers report. */
  private readonly foreign: Float64Array;
  /** All that a node has said that it has, less what is done since. */
  private readonly stated: Float64Array;
  private steppedMs = 0;
  private hasStated = false;
  private readonly isUp: Uint8Array;
  private readonly stores: string[];
  private readonly byRole: Readonly<Record<CallRole, RoleLoad>>;

  /** All nodes are away until `setUp`. */
  constructor(private readonly table: RoutingTable) {
    this.outstanding = new Float64Array(table.members.length);
    this.foreign = new Float64Array(table.members.length);
    this.stated = new Float64Array(table.members.length);
    this.isUp = new Uint8Array(table.members.length);
    this.stores = table.members.map(() => '');
    this.byRole = { answer: loadOf('answer', table), append: loadOf('append', table) };
  }

  setUp(node: number, isUp: boolean): void {
    const weight = this.weightOf(node);
    const wasUp = this.isUp[node] === 1;
    if (wasUp === isUp) return;
    this.isUp[node] = isUp ? 1 : 0;
    const sign = isUp ? 1 : -1;
    for (const load of this.loadsOf(node)) {
      load.upWeight += sign * weight;
      load.upCount += sign;
      load.hasOneStore = this.hasOneStore(load);
    }
    this.addTotal(node, sign * this.outstandingUs(node));
  }

  /** The store that a node shares with others of the same word; '': none. */
  setStore(node: number, store: string): void {
    if (this.stores[node] === undefined || this.stores[node] === store) return;
    this.stores[node] = store;
    for (const load of this.loadsOf(node)) load.hasOneStore = this.hasOneStore(load);
  }

  storeOf(node: number): string {
    return this.stores[node] ?? '';
  }

  takes(node: number): boolean {
    return this.isUp[node] === 1;
  }

  outstandingUs(node: number): number {
    return (this.outstanding[node] ?? 0) + (this.foreign[node] ?? 0);
  }

  /** Load that this router has sent, microseconds. */
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
    if (this.isUp[node] === 1) this.addTotal(node, others - before);
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
      if (this.isUp[node] === 1) this.addTotal(node, left - foreign);
    }
  }

  begin(node: number, costUs: number): void {
    this.add(node, costUs);
  }

  end(node: number, costUs: number): void {
    this.add(node, -costUs);
  }

  /** Microseconds that a node may have outstanding before its users' calls of a role overflow. */
  boundUs(node: number, role: CallRole = 'answer'): number {
    const { totalUs, upWeight } = this.byRole[role];
    if (upWeight === 0) return FREE_LOAD_US;
    const mean = (totalUs * this.weightOf(node)) / upWeight;
    return Math.max(FREE_LOAD_US, LOAD_BOUND * mean);
  }

  /**
   * The owner where it takes requests and is not too loaded; else its successors in their order,
   * the least loaded of them where all are too loaded, and further nodes where all three are away.
   * Where all share a store of keys and values: the node that is done first, of all of them.
   * All are of the role; only where no such node takes requests, of the other one. `without`:
   * nodes that have failed this request. Undefined: nobody takes it.
   */
  choose(
    partition: number,
    without: ReadonlySet<number> = NONE,
    role: CallRole = 'answer',
  ): Choice | undefined {
    const served = this.servedBy(role);
    const choice = this.byRole[served].hasOneStore
      ? this.soonest(partition, without, served)
      : (this.near(partition, without, served) ?? this.firstUp(partition, without, served));
    if (choice === undefined || served === role) return choice;
    return { node: choice.node, reason: 'role-missing' };
  }

  /** The node with the least work for its weight, by the same roles: for requests of no user. */
  leastLoaded(without: ReadonlySet<number> = NONE, role: CallRole = 'answer'): number | undefined {
    const { isOf } = this.byRole[this.servedBy(role)];
    let best: number | undefined;
    let bestUs = Number.POSITIVE_INFINITY;
    for (let node = 0; node < this.isUp.length; node += 1) {
      if (this.isUp[node] === 0 || isOf[node] === 0 || without.has(node)) continue;
      const us = this.outstandingUs(node) / this.weightOf(node);
      if (us < bestUs) {
        bestUs = us;
        best = node;
      }
    }
    return best;
  }

  /** The role whose nodes take the calls of a role: a node that is not of one is of the other. */
  servedBy(role: CallRole): CallRole {
    const other = role === 'answer' ? 'append' : 'answer';
    const isMissing = this.byRole[role].upCount === 0 && this.byRole[other].upCount > 0;
    return isMissing ? other : role;
  }

  /** Nodes up that a request of a partition may get, the ones that have failed it aside. */
  takersOf(partition: number, role: CallRole): readonly number[] {
    const served = this.servedBy(role);
    const { isOf, hasOneStore } = this.byRole[served];
    if (hasOneStore) return [...isOf.keys()].filter((node) => isOf[node] === 1 && this.takes(node));
    const takers: number[] = [];
    for (let place = 0; ; place += 1) {
      const node = this.table.nodeAt(partition, place, served);
      if (node === undefined) return takers;
      if (this.takes(node)) takers.push(node);
    }
  }

  private hasOneStore({ isOf }: RoleLoad): boolean {
    const up = this.stores.filter((_, node) => isOf[node] === 1 && this.isUp[node] === 1);
    return up.length > 0 && up[0] !== '' && up.every((store) => store === up[0]);
  }

  /**
   * The node with the least work for its weight; up to `STAY_US` more at the one that has the
   * user's keys and values in memory: the owner, or the first that stands in for it.
   */
  private soonest(
    partition: number,
    without: ReadonlySet<number>,
    role: CallRole,
  ): Choice | undefined {
    const least = this.leastLoaded(without, role);
    const home = this.firstUp(partition, without, role);
    if (least === undefined || home === undefined) return undefined;
    const waitUs = (node: number) => this.outstandingUs(node) / this.weightOf(node);
    if (waitUs(home.node) <= waitUs(least) + STAY_US) return home;
    return { node: least, reason: home.reason === 'owner' ? 'owner-loaded' : home.reason };
  }

  private near(
    partition: number,
    without: ReadonlySet<number>,
    role: CallRole,
  ): Choice | undefined {
    let least: Choice | undefined;
    let leastShare = Number.POSITIVE_INFINITY;
    let away = 0;
    for (let place = 0; ; place += 1) {
      const node = this.table.nodeAt(partition, place, role);
      if (node === undefined) return least;
      if (this.isUp[node] === 0 || without.has(node)) {
        away += 1;
        continue;
      }
      const us = this.outstandingUs(node);
      const bound = this.boundUs(node, role);
      const reason = place === 0 ? 'owner' : away === place ? 'owner-away' : 'owner-loaded';
      const choice: Choice = { node, reason };
      if (us <= bound) return choice;
      if (us / bound < leastShare) {
        leastShare = us / bound;
        least = choice;
      }
    }
  }

  /** The first node that takes requests, in the order that all nodes have for a partition. */
  private firstUp(
    partition: number,
    without: ReadonlySet<number>,
    role: CallRole,
  ): Choice | undefined {
    const takes = (node: number) => this.isUp[node] === 1 && !without.has(node);
    const owner = this.table.nodeAt(partition, 0, role);
    if (owner !== undefined && takes(owner)) return { node: owner, reason: 'owner' };
    const node = this.table.order(partition, role).find(takes);
    return node === undefined ? undefined : { node, reason: 'owner-away' };
  }

  private loadsOf(node: number): readonly RoleLoad[] {
    const { answer, append } = this.byRole;
    return [answer, append].filter(({ isOf }) => isOf[node] === 1);
  }

  /** Sums of doubles may end a little below nothing. */
  private addTotal(node: number, us: number): void {
    const { answer, append } = this.byRole;
    if (answer.isOf[node] === 1) answer.totalUs = Math.max(0, answer.totalUs + us);
    if (append.isOf[node] === 1) append.totalUs = Math.max(0, append.totalUs + us);
  }

  private weightOf(node: number): number {
    return this.table.members[node]?.weight ?? 1;
  }

  private add(node: number, us: number): void {
    this.outstanding[node] = Math.max(0, (this.outstanding[node] ?? 0) + us);
    if (this.isUp[node] === 1) this.addTotal(node, us);
  }
}

function loadOf(role: CallRole, { members }: RoutingTable): RoleLoad {
  const isOf = Uint8Array.from(members, (member) => (isOfRole(member, role) ? 1 : 0));
  return { isOf, totalUs: 0, upWeight: 0, upCount: 0, hasOneStore: false };
}

const NONE: ReadonlySet<number> = new Set();
