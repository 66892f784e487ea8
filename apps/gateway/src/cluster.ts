import type { Connection } from '@tessera/client';
import type { RelevanceProfile } from '@tessera/contracts';
import {
  CALL_ROLES,
  type CallRole,
  type ChoiceReason,
  decideVersions,
  isOfRole,
  type LogLag,
  LogProgress,
  type LogWord,
  type Member,
  NO_LOG,
  Router,
  type RoutingTable,
} from '@tessera/routing';
import type { Log } from '@tessera/telemetry';
import { NodeLink, type NodeState } from './node-link.js';

export interface Chosen {
  readonly link: NodeLink;
  readonly reason: ChoiceReason | 'no-user';
}

/** State of a node, as it answers the gateway's question. */
export type Sighting =
  | {
      readonly state: 'up' | 'draining';
      readonly versions: Readonly<Record<string, string>>;
      /** Another process than that of the HTTP address answers over gRPC. */
      readonly isOtherOverGrpc?: boolean;
      /** Users' chains in its KV pool. */
      readonly chains?: number;
      /** Store of keys and values as `/health` names it; left out: the node's own. */
      readonly kvStore?: string;
      readonly relevance?: RelevanceProfile | undefined;
      /** Left out: it follows no log. */
      readonly log?: LogWord | undefined;
      /** Why it is not ready though it takes requests; left out: it is. */
      readonly blocked?: string;
    }
  /** `isSilent`: it accepts connections and says nothing. */
  | { readonly state: 'down'; readonly reason: string; readonly isSilent?: boolean };

/**
 * Share of the nodes that answer, below which silence is no verdict: they are slow or the gateway
 * is, and to ask a slow node is no worse than to refuse (Envoy, "panic threshold").
 */
const PANIC_SHARE = 0.5;

/**
 * The nodes of one cluster as a gateway knows them: who is a member, who takes requests, how much
 * is outstanding where. Owner: the gateway's main thread.
 */
export class Cluster {
  private readonly router = new Router();
  private readonly progress = new LogProgress();
  private byName = new Map<string, NodeLink>();
  /** Nodes that are members no more and whose answers are still waited for. */
  private readonly leaving = new Set<NodeLink>();
  /** Names of nodes, as they say it themselves, by their addresses. */
  private readonly owners = new Map<string, string>();
  private decided: Readonly<Record<string, string>> = {};
  private behind: ReadonlyMap<string, LogLag> = new Map();
  private missing: readonly CallRole[] = [];

  constructor(
    private readonly connection: Connection,
    private readonly log: Pick<Log, 'info' | 'warn'>,
  ) {}

  get table(): RoutingTable {
    return this.router.table;
  }

  /** The versions that the cluster serves, by kind. */
  get versions(): Readonly<Record<string, string>> {
    return this.decided;
  }

  /** In the order of the table. */
  links(): readonly NodeLink[] {
    return this.table.members.map(({ name }) => this.byName.get(name) as NodeLink);
  }

  /** All that are asked how they are: members, and those whose answers are waited for. */
  watched(): readonly NodeLink[] {
    return [...this.links(), ...this.leaving];
  }

  link(name: string): NodeLink | undefined {
    return this.byName.get(name);
  }

  /** Name of the node that has said that it is at an address of a member. */
  ownerOf(address: string): string | undefined {
    return this.owners.get(address);
  }

  outstandingUs(name: string): number {
    return this.router.outstandingUs(name);
  }

  /** A new table: nodes that stay keep their connections and what is outstanding at them. */
  setMembers(members: readonly Member[]): void {
    const before = this.byName;
    this.byName = new Map();
    for (const member of members) {
      const known = before.get(member.name);
      const isSame = known?.member.grpc === member.grpc && known.member.http === member.http;
      const link = known !== undefined && isSame ? known : this.linkTo(member);
      link.member = member;
      this.byName.set(member.name, link);
    }
    this.router.setMembers(members);
    for (const { member, state } of this.links()) this.router.setUp(member.name, state === 'up');
    for (const [name, link] of before) {
      if (this.byName.get(name) !== link) this.leaving.add(link);
    }
    const addresses = new Set(members.flatMap(({ grpc, http }) => [grpc, http]));
    for (const address of this.owners.keys()) {
      if (!addresses.has(address)) this.owners.delete(address);
    }
    this.closeIdle();
    const { revision, digest } = this.table;
    const nodes = members.map(({ name }) => name);
    if (nodes.length > 0 || revision > 1)
      this.log.info({ revision, digest, nodes }, 'routing table updated');
    this.decide();
  }

  /** Node for a call of a role and a user's partition, or nobody's. Undefined: no node takes it. */
  choose(
    partition: number | undefined,
    role: CallRole,
    without: readonly string[] = [],
  ): Chosen | undefined {
    const chosen = this.router.choose(partition, without, role);
    const link = chosen && this.byName.get(chosen.name);
    return chosen && link && { link, reason: chosen.reason };
  }

  /** An answer of a node bore this load class. */
  stated(name: string, loadClass: number): void {
    this.router.state(name, loadClass);
  }

  /** True for a node that takes calls of a role now. */
  takes({ state, member }: NodeLink, role: CallRole): boolean {
    return state === 'up' && isOfRole(member, this.router.servedBy(role));
  }

  /** Roles whose calls go to nodes of the other one, since none of theirs takes requests. */
  get missingRoles(): readonly CallRole[] {
    return this.missing;
  }

  /** Least wait of a node, as Router.leastWaitUs(). */
  leastWaitUs(partition: number, role: CallRole): number {
    return this.router.leastWaitUs(partition, role);
  }

  /**
   * A request of a kind begins at a node.
   * @returns what ends it, once; `isAnswered`: its time says what such requests cost
   */
  begin(link: NodeLink, kind: string): (isAnswered: boolean) => void {
    link.inFlight += 1;
    const end = this.router.begin(link.member.name, kind);
    let hasEnded = false;
    return (isAnswered) => {
      if (hasEnded) return;
      hasEnded = true;
      link.inFlight -= 1;
      end(isAnswered);
      if (this.leaving.has(link)) this.closeIdle();
    };
  }

  private noteOwner({ member, versions }: NodeLink): void {
    const { node = '' } = versions;
    if (node === '') return;
    this.owners.set(member.http, node);
    if (node === member.name) this.owners.set(member.grpc, node);
  }

  /** Takes the state of a node that was asked. */
  saw(link: NodeLink, sighting: Sighting): void {
    if (this.leaving.has(link)) {
      if (sighting.state === 'down') link.endWaiting();
      return;
    }
    if (this.byName.get(link.member.name) !== link) return;
    const [before, wasCounted] = [link.state, isCounted(link)];
    const isUp = sighting.state === 'up';
    const isOther = sighting.state !== 'down' && sighting.isOtherOverGrpc === true;
    const isMoved = isOther !== link.isOtherOverGrpc;
    const isChanged = isUp && (isMoved || !isSame(link.versions, sighting.versions));
    if (sighting.state === 'down' && sighting.isSilent === true) {
      link.silentFrom ??= before;
      link.reason = sighting.reason;
    } else if (sighting.state === 'down') {
      link.silentFrom = undefined;
      this.put(link, 'down', sighting.reason);
      link.endWaiting();
    } else {
      link.silentFrom = undefined;
      link.versions = sighting.versions;
      link.isOtherOverGrpc = isOther;
      this.noteOwner(link);
      link.chains = sighting.chains ?? 0;
      link.relevance = sighting.relevance;
      link.log = sighting.log ?? NO_LOG;
      link.blocked = sighting.blocked ?? '';
      this.router.setStore(link.member.name, sighting.kvStore ?? '');
      link.work.state(sighting.relevance?.backlogUs ?? 0, performance.now());
      if (!isUp) this.put(link, 'draining', 'it is not ready');
    }
    this.judgeSilence();
    // Every node is seen twice a second, and most sightings say nothing new.
    if (wasCounted !== isUp || isChanged) this.decide(isUp ? link : undefined);
    else if (link.state !== before) this.noteRoles();
  }

  /** Nodes that are asked although they miss answers of health: most do. */
  get unbelieved(): readonly NodeLink[] {
    return this.links().filter(({ silentFrom, state }) => silentFrom && state !== 'down');
  }

  private judgeSilence(): void {
    const links = this.links();
    const silent = links.filter(({ silentFrom }) => silentFrom !== undefined);
    if (silent.length === 0) return;
    const well = links.filter(({ state, silentFrom }) => state === 'up' && !silentFrom);
    const isBelieved = well.length >= links.length * PANIC_SHARE;
    for (const link of silent) {
      const { silentFrom, state, reason } = link;
      const isAsked = !isBelieved && (silentFrom === 'up' || silentFrom === 'different');
      if (isAsked && state === 'down') this.put(link, silentFrom, reason);
      if (isAsked || state === 'down') continue;
      this.put(link, 'down', reason);
      link.endWaiting();
    }
  }

  /** Nodes that are behind the log get no requests. Once a round: it takes time to be behind. */
  noteProgress(nowMs = performance.now()): void {
    const named = this.links().filter(
      ({ member, state }) => state === 'up' || this.behind.has(member.name),
    );
    const before = JSON.stringify([...this.behind]);
    const words = new Map(named.map(({ member, log }) => [member.name, log]));
    this.behind = this.progress.note(words, nowMs);
    if (JSON.stringify([...this.behind]) !== before) this.decide();
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
    const named = seen.filter(
      ({ member, versions, isOtherOverGrpc }) =>
        (versions.node ?? '') === member.name && !isOtherOverGrpc,
    );
    const { versions, differences } = decideVersions(
      named.map(({ member, versions }) => ({ ...member, versions })),
    );
    this.decided = versions;
    for (const link of seen) {
      const { name } = link.member;
      const other = differences.find((one) => one.name === name) ?? this.behind.get(name);
      if (!named.includes(link)) {
        const got = link.versions.node ?? 'nothing';
        const reason = link.isOtherOverGrpc
          ? `${link.member.grpc}: expected ${name}, got another process`
          : `node.name: expected ${name}, got ${got}`;
        this.put(link, 'different', reason);
      } else if (other !== undefined) {
        const { kind, expected, got } = other;
        this.put(link, 'different', `${kind}: expected ${expected}, got ${got}`);
      } else {
        this.put(link, 'up', '');
      }
    }
    this.noteRoles();
  }

  /** Nodes that were never asked may be of the role that nobody else has. */
  private noteRoles(): void {
    const before = this.missing;
    const links = this.links();
    this.missing = CALL_ROLES.filter((role) => {
      const own = links.filter(({ member }) => isOfRole(member, role));
      const isKnown = own.every(({ state }) => state !== 'unknown');
      return isKnown && this.router.servedBy(role) !== role;
    });
    for (const role of this.missing) {
      if (before.includes(role)) continue;
      const takers = this.router.servedBy(role);
      this.log.warn({ role, takers }, `no ${role} node takes requests: others take their calls`);
    }
    for (const role of before) {
      if (!this.missing.includes(role)) this.log.info({ role }, `${role} nodes take calls again`);
    }
  }

  private put(link: NodeLink, state: NodeState, reason: string): void {
    this.router.setUp(link.member.name, state === 'up');
    const isNew = link.state !== state;
    link.state = state;
    link.reason = reason;
    if (!isNew) return;
    const node = link.member.name;
    if (state === 'up') this.log.info({ node }, `node ${node} is up`);
    else {
      const line = `node ${node} takes no requests: its users go to their successors`;
      this.log.warn({ node, state, reason }, line);
    }
  }

  private linkTo(member: Member): NodeLink {
    return new NodeLink(member, this.connection, (loadClass) =>
      this.stated(member.name, loadClass),
    );
  }
}

/** True if the node's versions count for those of the cluster. */
function isCounted({ state }: NodeLink): boolean {
  return state === 'up' || state === 'different';
}

/** Kinds that change while a node serves, and decide nothing alone. */
const PROGRESS_KINDS: ReadonlySet<string> = new Set(['changes', 'adapters']);

function isSame(a: NodeLink['versions'], b: NodeLink['versions']): boolean {
  const kinds = Object.keys(a);
  const isEqual = (kind: string) => a[kind] === b[kind] || PROGRESS_KINDS.has(kind);
  return kinds.length === Object.keys(b).length && kinds.every(isEqual);
}
