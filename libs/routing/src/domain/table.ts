import type { Member } from './members.js';
import { xxh32 } from './xxh32.js';

/**
 * Partitions of every cluster. Fixed: with it, a node that joins takes 1/(k+1) of the users within
 * a hundredth, and a thousand nodes each own some (ADR 0119).
 */
export const PARTITION_COUNT = 65_536;

/** Nodes kept per partition: the owner and its successors. */
const KEPT_NODES = 3;

const encoder = new TextEncoder();

/** Partition of a user: XXH32 of the UTF-8 bytes of their ID, modulo the partitions. */
export function partitionOf(user: string | Uint8Array): number {
  return xxh32(typeof user === 'string' ? encoder.encode(user) : user) % PARTITION_COUNT;
}

/** Murmur3's finaliser: a bijection of 32 bits that spreads every one of them. */
function mixed(value: number): number {
  let hash = value;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function drawOf(partition: number, seed: number): number {
  return mixed(Math.imul(mixed(partition), 0x9e3779b1) ^ seed);
}

/**
 * A node's rank in a partition by weighted rendezvous (Schindelhauer, Schomaker 2005): the least
 * comes first, with a probability in proportion to its weight.
 */
function rankOf(draw: number, weight: number): number {
  return -Math.log((draw + 0.5) / 2 ** 32) / weight;
}

/**
 * Who owns which partition: a pure function of names and weights, so that all who know the same
 * members agree without asking. Nodes are indices into `members`, which are in the order of names.
 */
export class RoutingTable {
  readonly members: readonly Member[];
  /** Of names and weights: equal on all who route alike. */
  readonly digest: string;
  private readonly seeds: readonly number[];
  private readonly indices: ReadonlyMap<string, number>;
  private readonly kept: Uint16Array;
  private readonly depth: number;

  /**
   * `members`: checked. `revision`: of the membership, for people; each change is one.
   */
  constructor(
    members: readonly Member[],
    readonly revision: number,
  ) {
    this.members = members;
    this.indices = new Map(members.map(({ name }, node) => [name, node]));
    this.seeds = members.map(({ name }) => xxh32(encoder.encode(name)));
    this.digest = xxh32(
      encoder.encode(JSON.stringify(members.map(({ name, weight }) => [name, weight]))),
    )
      .toString(16)
      .padStart(8, '0');
    this.depth = Math.min(KEPT_NODES, members.length);
    this.kept = new Uint16Array(PARTITION_COUNT * this.depth);
    this.fill();
  }

  /** Of a node by its name; -1: it is none of these. */
  indexOf(name: string): number {
    return this.indices.get(name) ?? -1;
  }

  /** Bytes of what is kept per partition. */
  get bytes(): number {
    return this.kept.byteLength;
  }

  /** The owner (place 0) or a successor of a partition; undefined where there are fewer nodes. */
  nodeAt(partition: number, place: number): number | undefined {
    return place < this.depth ? this.kept[partition * this.depth + place] : undefined;
  }

  /** All nodes of a partition in their order: for when those that are kept are away. */
  order(partition: number): readonly number[] {
    const ranks = this.members.map(({ weight }, node) =>
      rankOf(drawOf(partition, this.seeds[node] as number), weight),
    );
    return ranks.map((_, node) => node).sort((a, b) => (ranks[a] as number) - (ranks[b] as number));
  }

  /** Partitions that each node owns. */
  ownedCounts(): readonly number[] {
    const counts = this.members.map(() => 0);
    if (this.depth === 0) return counts;
    for (let at = 0; at < this.kept.length; at += this.depth) {
      const node = this.kept[at] as number;
      counts[node] = (counts[node] as number) + 1;
    }
    return counts;
  }

  private fill(): void {
    const { kept, depth, seeds, members } = this;
    const weights = members.map(({ weight }) => weight);
    const isEven = weights.every((weight) => weight === weights[0]);
    const ranks = new Float64Array(depth);
    const nodes = new Uint16Array(depth);
    for (let partition = 0; partition < PARTITION_COUNT; partition += 1) {
      const base = Math.imul(mixed(partition), 0x9e3779b1);
      ranks.fill(Number.POSITIVE_INFINITY);
      for (let node = 0; node < members.length; node += 1) {
        const draw = mixed(base ^ (seeds[node] as number));
        // With equal weights the order of ranks is the order of draws, greatest first.
        const rank = isEven ? -draw : rankOf(draw, weights[node] as number);
        // Of equal ranks the one whose name comes first: it is there already.
        if (rank >= (ranks[depth - 1] as number)) continue;
        let place = depth - 1;
        for (; place > 0 && rank < (ranks[place - 1] as number); place -= 1) {
          ranks[place] = ranks[place - 1] as number;
          nodes[place] = nodes[place - 1] as number;
        }
        ranks[place] = rank;
        nodes[place] = node;
      }
      kept.set(nodes, partition * depth);
    }
  }
}
