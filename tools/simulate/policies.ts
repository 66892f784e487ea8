import { CostEstimates, loadClassOf, type Member, partitionOf, Router } from '@tessera/routing';
import type { Arrival } from './arrival.js';
import type { EventQueue } from './event-queue.js';
import type { SimulatedNode } from './node.js';
import { seeded } from './seeded.js';

/**
 * `router` is the product's own. `prefix-aware` is the published rule of a router that hears of
 * every block which a node keeps (NVIDIA Dynamo, docs/router: the sum of blocks to compute, those
 * of prompts under way among them, and of all blocks under way). The oracle knows every node's
 * backlog and blocks exactly.
 */
export const POLICIES = [
  'router',
  'prefix-aware',
  'random',
  'round-robin',
  'fewest-requests',
  'oracle',
] as const;
export type PolicyName = (typeof POLICIES)[number];
type CountingName = Exclude<PolicyName, 'router'>;

/** Bytes of a token in a request that brings its prompt with it. */
const TOKEN_BYTES = 4;

/** Chooses a node for each request among nodes that may take it. */
export interface Policy {
  /** Undefined: every node is away. */
  choose(arrival: Arrival): SimulatedNode | undefined;
  /** A request begins. @returns what ends it */
  begin(node: SimulatedNode, arrival: Arrival): () => void;
  lost(node: SimulatedNode): void;
}

/** The code that gateways route by, over the clock of the simulation. */
class RouterPolicy implements Policy {
  private readonly router: Router;
  private readonly byName: ReadonlyMap<string, SimulatedNode>;

  constructor(nodes: readonly SimulatedNode[], events: EventQueue) {
    this.router = new Router(() => events.nowUs / 1000);
    this.router.setMembers(membersOf(nodes));
    this.byName = new Map(nodes.map((node) => [node.name, node]));
    for (const { name, sharesStore } of nodes) {
      this.router.setStore(name, sharesStore ? 'store' : '');
      this.router.setUp(name, true);
    }
  }

  choose({ user }: Arrival): SimulatedNode | undefined {
    return this.byName.get(this.router.choose(partitionOf(user))?.name ?? '');
  }

  begin(node: SimulatedNode, { kind, promptTokens }: Arrival): () => void {
    const { name } = node;
    const end = this.router.begin(name, CostEstimates.kindOf(kind, promptTokens * TOKEN_BYTES));
    return () => {
      end(node.isUp);
      this.router.state(name, loadClassOf(node.engine.backlogUs()));
    };
  }

  lost({ name }: SimulatedNode): void {
    this.router.setUp(name, false);
  }
}

function membersOf(nodes: readonly SimulatedNode[]): readonly Member[] {
  return nodes.map(({ name }) => ({ name, grpc: `${name}:1`, http: `${name}:2`, weight: 1 }));
}

/** Requests of a node as they are counted from outside. */
interface Counts {
  /** Ever sent. */
  sent: number;
  requests: number;
  /** Of the requests: in all, and those that were not in memory. */
  blocks: number;
  freshBlocks: number;
}

type Cost = (counts: Counts, arrival: Arrival, node: SimulatedNode) => number;

const freshBlocks = (node: SimulatedNode, arrival: Arrival): number =>
  arrival.blocks.length - node.memoryBlocks(arrival);

function costOf(name: CountingName, seed: number): Cost {
  const random = seeded(seed);
  switch (name) {
    case 'random':
      return random;
    case 'round-robin':
      return ({ sent }) => sent;
    case 'fewest-requests':
      return ({ requests }) => requests;
    case 'prefix-aware':
      return (counts, arrival, node) =>
        counts.freshBlocks + freshBlocks(node, arrival) + counts.blocks;
    case 'oracle':
      return (_, arrival, node) => node.outlook(arrival).firstUs;
  }
}

/** Takes the node of the least cost. */
class CountingPolicy implements Policy {
  private readonly counts = new Map<SimulatedNode, Counts>();

  constructor(
    nodes: readonly SimulatedNode[],
    private readonly costOf: Cost,
  ) {
    for (const node of nodes) {
      this.counts.set(node, { sent: 0, requests: 0, blocks: 0, freshBlocks: 0 });
    }
  }

  choose(arrival: Arrival): SimulatedNode | undefined {
    let best: SimulatedNode | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const [node, counts] of this.counts) {
      if (!node.isUp) continue;
      const cost = this.costOf(counts, arrival, node);
      if (cost >= least) continue;
      best = node;
      least = cost;
    }
    return best;
  }

  begin(node: SimulatedNode, arrival: Arrival): () => void {
    const counts = this.counts.get(node) as Counts;
    const fresh = freshBlocks(node, arrival);
    const add = (sign: number) => {
      counts.requests += sign;
      counts.blocks += sign * arrival.blocks.length;
      counts.freshBlocks += sign * fresh;
    };
    counts.sent += 1;
    add(1);
    return () => add(-1);
  }

  lost(): void {}
}

export function policyOf(
  name: PolicyName,
  nodes: readonly SimulatedNode[],
  events: EventQueue,
  seed: number,
): Policy {
  if (name === 'router') return new RouterPolicy(nodes, events);
  return new CountingPolicy(nodes, costOf(name, seed));
}
