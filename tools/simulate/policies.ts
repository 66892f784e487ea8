import { CostEstimates, loadClassOf, type Member, partitionOf, Router } from '@tessera/routing';
import type { Arrival } from './arrival.js';
import type { EventQueue } from './event-queue.js';
import type { SimulatedNode } from './node.js';
import { seeded } from './seeded.js';

/**
 * `owner` is the product's own router. `owner-or-least` is the same one, but that users of a loaded
 * owner go to the least loaded of all nodes in place of a successor: a store makes all nodes alike.
 */
export const POLICIES = [
  'owner',
  'owner-or-least',
  'random',
  'round-robin',
  'least-loaded',
  'oracle',
] as const;
export type PolicyName = (typeof POLICIES)[number];

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

const NOTHING = () => undefined;

/** The code that gateways route by, over the clock of the simulation. */
class OwnerPolicy implements Policy {
  private readonly router: Router;
  private readonly inFlight = new Map<string, number>();
  private readonly byName: ReadonlyMap<string, SimulatedNode>;

  constructor(
    nodes: readonly SimulatedNode[],
    events: EventQueue,
    private readonly overflow: 'successors' | 'least-loaded',
  ) {
    this.router = new Router(() => events.nowUs / 1000);
    this.router.setMembers(membersOf(nodes));
    this.byName = new Map(nodes.map((node) => [node.name, node]));
    for (const { name } of nodes) this.router.setUp(name, true);
  }

  choose({ user }: Arrival): SimulatedNode | undefined {
    const chosen = this.router.choose(partitionOf(user));
    const isLoaded = this.overflow === 'least-loaded' && chosen?.reason === 'owner-loaded';
    const taken = isLoaded ? this.router.choose(undefined) : chosen;
    return this.byName.get(taken?.name ?? '');
  }

  begin(node: SimulatedNode, { kind, promptTokens }: Arrival): () => void {
    const { name } = node;
    const atOnce = (this.inFlight.get(name) ?? 0) + 1;
    this.inFlight.set(name, atOnce);
    const cost = CostEstimates.kindOf(kind, promptTokens * TOKEN_BYTES);
    const end = this.router.begin(name, cost, atOnce);
    return () => {
      this.inFlight.set(name, (this.inFlight.get(name) ?? 1) - 1);
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

type Choose = (up: readonly SimulatedNode[], arrival: Arrival) => SimulatedNode | undefined;

function leastOf(
  nodes: readonly SimulatedNode[],
  costOf: (node: SimulatedNode) => number,
): SimulatedNode | undefined {
  let best: SimulatedNode | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const node of nodes) {
    const cost = costOf(node);
    if (cost >= least) continue;
    best = node;
    least = cost;
  }
  return best;
}

function chooser(name: Exclude<PolicyName, 'owner' | 'owner-or-least'>, seed: number): Choose {
  const random = seeded(seed);
  let turn = 0;
  switch (name) {
    case 'random':
      return (up) => up[Math.floor(random() * up.length)];
    case 'round-robin':
      return (up) => up[turn++ % Math.max(1, up.length)];
    case 'least-loaded':
      return (up) => leastOf(up, ({ engine }) => engine.backlogUs());
    case 'oracle':
      return (up, arrival) => leastOf(up, (node) => node.outlook(arrival).firstUs);
  }
}

export function policyOf(
  name: PolicyName,
  nodes: readonly SimulatedNode[],
  events: EventQueue,
  seed: number,
): Policy {
  if (name === 'owner') return new OwnerPolicy(nodes, events, 'successors');
  if (name === 'owner-or-least') return new OwnerPolicy(nodes, events, 'least-loaded');
  const choose = chooser(name, seed);
  return {
    choose: (arrival) =>
      choose(
        nodes.filter(({ isUp }) => isUp),
        arrival,
      ),
    begin: () => NOTHING,
    lost: NOTHING,
  };
}
