import type { Connection } from '@tessera/client';
import {
  type ChoiceReason,
  CostEstimates,
  decideVersions,
  type Member,
  NodeLoads,
  RoutingTable,
} from '@tessera/routing';
import type { Log } from '@tessera/telemetry';
import { NodeLink, type NodeState } from './node-link.js';

const US_PER_MS = 1000;

export interface Chosen {
  readonly link: NodeLink;
  readonly reason: ChoiceReason | 'no-user';
}

/** What the gateway learns when it asks a node how it is. */
export type Sighting =
  | { readonly state: 'up' | 'draining'; readonly versions: Readonly<Record<string, string>> }
  | { readonly state: 'down'; readonly reason: string };

/**
 * The nodes of one cluster as a gateway knows them: who is a member, who takes requests, how much
 * is outstanding where. Owner: the gateway's main thread.
 */
export class Cluster {
  private current = new RoutingTable([], 0);
  private loads = new NodeLoads(this.current);
  private byName = new Map<string, NodeLink>();
  /** Nodes that are members no more and whose answers are still waited for. */
  private readonly leaving = new Set<NodeLink>();
  private readonly costs = new CostEstimates();
  private decided: Readonly<Record<string, string>> = {};

  constructor(
    private readonly connection: Connection,
    private readonly log: Pick<Log, 'info' | 'warn'>,
  ) {}

  get table(): RoutingTable {
    return this.current;
  }

  /** The versions that the cluster serves, by kind. */
  get versions(): Readonly<Record<string, string>> {
    return this.decided;
  }

  /** In the order of the table. */
  links(): readonly NodeLink[] {
    return this.current.members.map(({ name }) => this.byName.get(name) as NodeLink);
  }

  /** All that are asked how they are: members, and those whose answers are waited for. */
  watched(): readonly NodeLink[] {
    return [...this.links(), ...this.leaving];
  }

  link(name: string): NodeLink | undefined {
    return this.byName.get(name);
  }

  outstandingUs(name: string): number {
    return this.loads.outstandingUs(this.indexOf(name));
  }

  /** A new table: nodes that stay keep their connections and what is outstanding at them. */
  setMembers(members: readonly Member[]): void {
    const before = this.byName;
    const outstanding = new Map([...before.keys()].map((name) => [name, this.outstandingUs(name)]));
    this.byName = new Map();
    for (const member of members) {
      const known = before.get(member.name);
      const isSame = known?.member.grpc === member.grpc && known.member.http === member.http;
      const link = known !== undefined && isSame ? known : new NodeLink(member, this.connection);
      this.byName.set(member.name, link);
    }
    this.current = new RoutingTable(members, this.current.revision + 1);
    this.loads = new NodeLoads(this.current);
    for (const [index, { name }] of members.entries()) {
      this.loads.begin(index, outstanding.get(name) ?? 0);
    }
    for (const [name, link] of before) {
      if (this.byName.get(name) !== link) this.leaving.add(link);
    }
    this.closeIdle();
    const { revision, digest } = this.current;
    const nodes = members.map(({ name }) => name);
    if (nodes.length > 0 || revision > 1) this.log.info({ revision, digest, nodes }, 'the table');
    this.decide();
  }

  /** Of a user's partition, or of nobody's. Undefined: no node takes it. */
  choose(partition: number | undefined, without: ReadonlySet<NodeLink>): Chosen | undefined {
    const excluded = new Set([...without].map(({ member }) => this.indexOf(member.name)));
    if (partition === undefined) {
      const node = this.loads.leastLoaded(excluded);
      return node === undefined ? undefined : { link: this.linkAt(node), reason: 'no-user' };
    }
    const choice = this.loads.choose(partition, excluded);
    return choice && { link: this.linkAt(choice.node), reason: choice.reason };
  }

  /**
   * A request of a kind begins at a node.
   * @returns what ends it; `isAnswered`: its time says what such requests cost
   */
  begin(link: NodeLink, kind: string): (isAnswered: boolean) => void {
    const costUs = this.costs.predictedUs(kind);
    const { name } = link.member;
    this.loads.begin(this.indexOf(name), costUs);
    link.inFlight += 1;
    const atOnce = link.inFlight;
    const begunMs = performance.now();
    return (isAnswered) => {
      link.inFlight -= 1;
      // The table may be another one by now.
      const index = this.indexOf(name);
      if (index >= 0) this.loads.end(index, costUs);
      if (this.leaving.has(link)) this.closeIdle();
      if (!isAnswered) return;
      this.costs.observe(kind, (performance.now() - begunMs) * US_PER_MS, atOnce);
    };
  }

  /** What asking a node how it is has brought. */
  saw(link: NodeLink, sighting: Sighting): void {
    if (this.leaving.has(link)) {
      if (sighting.state === 'down') link.endWaiting();
      return;
    }
    if (this.byName.get(link.member.name) !== link) return;
    const wasCounted = isCounted(link);
    const isUp = sighting.state === 'up';
    const isChanged = isUp && !isSame(link.versions, sighting.versions);
    if (sighting.state === 'down') {
      this.put(link, 'down', sighting.reason);
      link.endWaiting();
    } else {
      link.versions = sighting.versions;
      if (!isUp) this.put(link, 'draining', 'it is not ready');
    }
    // Every node is seen twice a second, and most sightings say nothing new.
    if (wasCounted !== isUp || isChanged) this.decide(isUp ? link : undefined);
  }

  /** A request found the node away: it gets no more until it is seen again. */
  lost(link: NodeLink, reason: string): void {
    if (this.byName.get(link.member.name) !== link) return;
    const wasCounted = isCounted(link);
    this.put(link, 'down', reason);
    if (wasCounted) this.decide();
  }

  close(): void {
    for (const link of this.watched()) link.close();
  }

  private closeIdle(): void {
    for (const link of this.leaving) {
      if (link.inFlight > 0) continue;
      this.leaving.delete(link);
      link.close();
    }
  }

  /** Nodes that serve something else than the others take no requests. */
  private decide(back?: NodeLink): void {
    const seen = this.links().filter((link) => link === back || isCounted(link));
    const named = seen.filter(({ member, versions }) => (versions.node ?? '') === member.name);
    const { versions, differences } = decideVersions(
      named.map(({ member, versions }) => ({ ...member, versions })),
    );
    this.decided = versions;
    for (const link of seen) {
      const { name } = link.member;
      const other = differences.find((difference) => difference.name === name);
      if (!named.includes(link)) {
        const got = link.versions.node ?? 'nothing';
        this.put(link, 'different', `node.name: expected ${name}, got ${got}`);
      } else if (other !== undefined) {
        const { kind, expected, got } = other;
        this.put(link, 'different', `${kind}: expected ${expected}, got ${got}`);
      } else {
        this.put(link, 'up', '');
      }
    }
  }

  private put(link: NodeLink, state: NodeState, reason: string): void {
    const index = this.indexOf(link.member.name);
    if (index >= 0) this.loads.setUp(index, state === 'up');
    const isNew = link.state !== state;
    link.state = state;
    link.reason = reason;
    if (!isNew) return;
    const node = link.member.name;
    if (state === 'up') this.log.info({ node }, `node ${node} takes its users`);
    else {
      const line = `node ${node} takes no requests: its users go to their successors`;
      this.log.warn({ node, state, reason }, line);
    }
  }

  private indexOf(name: string): number {
    return this.current.indexOf(name);
  }

  private linkAt(node: number): NodeLink {
    return this.byName.get(this.current.members[node]?.name ?? '') as NodeLink;
  }
}

/** Whether what a node serves counts for what the cluster serves. */
function isCounted({ state }: NodeLink): boolean {
  return state === 'up' || state === 'different';
}

function isSame(a: NodeLink['versions'], b: NodeLink['versions']): boolean {
  const kinds = Object.keys(a);
  return kinds.length === Object.keys(b).length && kinds.every((kind) => a[kind] === b[kind]);
}
