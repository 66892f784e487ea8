import { Injectable } from '@nestjs/common';
import type { ShownNode } from '@tessera/client';
import { TesseraError } from '@tessera/errors';
import type { FastifyRequest } from 'fastify';
import type { Unreached } from './api-types.js';
import { ConsoleParts } from './console-parts.js';
import { invalid } from './fields.js';

/** Names the node that another node's console asks; such a request is asked of nobody else. */
const NODE_HEADER = 'x-tessera-node';
const NODES_AT_ONCE = 16;
/** Time limit of one node's answer. */
const NODE_MS_MAX = 3000;
/** Time limit of all nodes' answers: nodes not asked by then are left out and named. */
const ALL_MS_MAX = 6000;

/** A request for the console of another node. */
interface NodeCall {
  readonly method: 'GET' | 'POST';
  /** Path behind `console/api/`. */
  readonly path: string;
  readonly body?: unknown;
  /** Milliseconds; left out: NODE_MS_MAX. */
  readonly timeoutMs?: number;
}

/** The node that has the keys and values of a user. */
interface Keeper {
  /** Undefined: this one. */
  readonly node: ShownNode | undefined;
  /** Why it is not the owner; '' where it is. */
  readonly fault: string;
}

/** The consoles of the other nodes, asked as this process (`peer.tokenPath`, scope read). */
@Injectable()
export class ClusterNodes {
  constructor(private readonly parts: ConsoleParts) {}

  /** Mark of this node's answers; '' outside a cluster. */
  get own(): string {
    const { gateway, node } = this.parts.cluster;
    return gateway === '' ? '' : node;
  }

  /**
   * True if only this node is asked: there is no cluster, or another node asks.
   * @throws TesseraError NODE_UNAVAILABLE for a request that is meant for another node
   */
  isAlone({ headers }: FastifyRequest): boolean {
    const { gateway, node } = this.parts.cluster;
    const meant = headers[NODE_HEADER];
    if (meant === undefined) return gateway === '';
    if (meant === node) return true;
    throw new TesseraError('NODE_UNAVAILABLE', `node: expected ${meant}, got ${node}`);
  }

  /**
   * The node of that name; undefined: this one. Rejects with REQUEST_INVALID where the cluster has
   * none of it, and with NODE_UNAVAILABLE.
   */
  async named(request: FastifyRequest, name: string | undefined): Promise<ShownNode | undefined> {
    const { cluster } = this.parts;
    if (name === undefined || name === cluster.node || this.isAlone(request)) return undefined;
    const { nodes } = await cluster.state();
    const found = nodes.find((node) => node.name === name);
    if (found === undefined) throw invalid('node', 'a node of the cluster', name);
    return found;
  }

  /** Keeper of a user's keys and values: the owner, or its first successor that is up. */
  async keeperOf(request: FastifyRequest, userId: string): Promise<Keeper> {
    const { cluster } = this.parts;
    if (this.isAlone(request)) return { node: undefined, fault: '' };
    try {
      const [{ nodes }, { owner, successors }] = await Promise.all([
        cluster.state(),
        cluster.route(userId),
      ]);
      const named = new Map(nodes.map((node) => [node.name, node]));
      const order = [owner ?? '', ...successors].flatMap((name) => named.get(name) ?? []);
      const node = order.find(({ state }) => state === 'up');
      const [first] = order;
      const fault = node !== undefined && node === first ? '' : awayText(first);
      return { node: node?.name === cluster.node ? undefined : node, fault };
    } catch (thrown) {
      return { node: undefined, fault: TesseraError.from(thrown).message };
    }
  }

  /** Rejects with what the node's console refuses with, and with NODE_UNAVAILABLE. */
  ask<Answer>(node: ShownNode, call: NodeCall): Promise<Answer> {
    const { method, path, body, timeoutMs = NODE_MS_MAX } = call;
    return this.parts.cluster.ask<Answer>({
      method,
      address: node.http,
      path: `/console/api/${path}`,
      headers: { [NODE_HEADER]: node.name, 'x-tessera-console': '1' },
      timeoutMs,
      ...(body !== undefined && { body }),
    });
  }

  /** Answers of the other nodes, and those that gave none. Never rejects. */
  async others<Answer>(path: string): Promise<{
    readonly answers: readonly Answer[];
    readonly unreached: readonly Unreached[];
  }> {
    const answers: Answer[] = [];
    const unreached: Unreached[] = [];
    const { cluster } = this.parts;
    let waiting: ShownNode[];
    try {
      waiting = (await cluster.state()).nodes.filter(({ name }) => name !== cluster.node);
    } catch (thrown) {
      const reason = TesseraError.from(thrown).message;
      return { answers, unreached: [{ node: 'gateway', reason }] };
    }
    const end = performance.now() + ALL_MS_MAX;
    const askSome = async () => {
      for (let node = waiting.shift(); node !== undefined; node = waiting.shift()) {
        const { name } = node;
        if (node.state === 'down') unreached.push({ node: name, reason: stateText(node) });
        else if (performance.now() > end) {
          unreached.push({ node: name, reason: `it was not asked within ${ALL_MS_MAX} ms` });
        } else {
          try {
            answers.push(await this.ask<Answer>(node, { method: 'GET', path }));
          } catch (thrown) {
            unreached.push({ node: name, reason: TesseraError.from(thrown).message });
          }
        }
      }
    };
    await Promise.all(Array.from({ length: NODES_AT_ONCE }, askSome));
    const byName = unreached.sort((a, b) => (a.node < b.node ? -1 : 1));
    return { answers, unreached: byName };
  }
}

/** Its state, and why; gateways begin the reason with the name. */
function stateText({ name, state, reason }: ShownNode): string {
  const why = reason.startsWith(`${name}: `) ? reason.slice(name.length + 2) : reason;
  return why === '' ? state : `${state}: ${why}`;
}

function awayText(owner: ShownNode | undefined): string {
  if (owner === undefined) return 'the cluster has no nodes';
  return `the owner ${owner.name} is ${stateText(owner)}`;
}
