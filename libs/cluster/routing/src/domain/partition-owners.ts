import type { Member } from './members.js';
import { xxh32 } from './xxh32.js';

/**
 * Partitions of every cluster. Fixed: with it, a node that joins takes 1/(k+1) of the users within
 * a hundredth, and a thousand nodes each own some (docs/internals/routing.md).
 */
export const PARTITION_COUNT = 65_536;

/** Nodes kept per partition: the owner and its successors. */
const KEPT_NODES = 3;

/** Factor of the bound that leaves out a node: rounding must not leave out one of the first. */
const LEFT_OUT = 1 - 1e-9;

const encoder = new TextEncoder();

const SIGN = 2 ** 31;

/** mixed() less 2^31: engines have numbers of 32 bits with a sign at hand, and others not. */
function signed(value: number): number {
  let hash = value;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16) ^ -SIGN;
}

/** Murmur3's finaliser: a bijection of 32 bits that spreads every one of them. */
function mixed(value: number): number {
  return signed(value) + SIGN;
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
 * Owner and successors of each partition among some nodes: a pure function of their names and
 * weights. Nodes are indices into these.
 */
export class PartitionOwners {
  private readonly seeds: readonly number[];
  private readonly indices: ReadonlyMap<string, number>;
  private readonly kept: Uint16Array;
  private readonly depth: number;

  /** `members` and `before` as of RoutingTable. */
  constructor(
    private readonly members: readonly Member[],
    before?: PartitionOwners,
  ) {
    this.indices = new Map(members.map(({ name }, node) => [name, node]));
    this.seeds = members.map(({ name }) => xxh32(encoder.encode(name)));
    this.depth = Math.min(KEPT_NODES, members.length);
    this.kept = new Uint16Array(PARTITION_COUNT * this.depth);
    if (before === undefined || before.depth !== this.depth) this.fill();
    else this.fillFrom(before);
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
    if (this.depth === 0) return;
    const places = this.places();
    for (let partition = 0; partition < PARTITION_COUNT; partition += 1) {
      this.kept.set(places.firstOfAll(partition), partition * this.depth);
    }
  }

  /** Nodes that were there keep their ranks: only those that are new, or were kept, are drawn. */
  private fillFrom(before: PartitionOwners): void {
    const { depth, members } = this;
    const every = members.map((_, node) => node);
    const isSame = (node: number, old: number) => members[node]?.weight === before.weightAt(old);
    const oldOf = members.map(({ name }) => before.indices.get(name) ?? -1);
    const added = every.filter((node) => {
      const old = oldOf[node] as number;
      return old < 0 || !isSame(node, old);
    });
    const nodeOf = new Int32Array(before.members.length).fill(-1);
    const isAdded = new Set(added);
    for (const node of every) if (!isAdded.has(node)) nodeOf[oldOf[node] as number] = node;
    const places = this.places();
    const candidates: number[] = [];
    for (let at = 0; at < this.kept.length; at += depth) {
      candidates.length = 0;
      for (let place = 0; place < depth; place += 1) {
        const node = nodeOf[before.kept[at + place] as number] as number;
        if (node >= 0) candidates.push(node);
      }
      const isWhole = candidates.length === depth;
      if (isWhole && added.length === 0) {
        this.kept.set(candidates, at);
        continue;
      }
      for (const node of added) candidates.push(node);
      // Where one of the first is gone, any of the others may take its place.
      const partition = at / depth;
      const first = isWhole ? places.first(partition, candidates) : places.firstOfAll(partition);
      this.kept.set(first, at);
    }
  }

  private weightAt(node: number): number | undefined {
    return this.members[node]?.weight;
  }

  private places(): Places {
    const weights = this.members.map(({ weight }) => weight);
    return new Places(this.seeds, weights, this.depth);
  }
}

/** Finds the first nodes of a partition; one for many partitions, since it allocates nothing. */
class Places {
  private readonly ranks: Float64Array;
  private readonly nodes: Uint16Array;
  private readonly seeds: Int32Array;
  private readonly weights: Float64Array;
  private readonly isEven: boolean;

  constructor(
    seeds: readonly number[],
    weights: readonly number[],
    private readonly depth: number,
  ) {
    this.ranks = new Float64Array(depth);
    this.nodes = new Uint16Array(depth);
    this.seeds = Int32Array.from(seeds, (seed) => seed | 0);
    this.weights = Float64Array.from(weights);
    this.isEven = weights.every((weight) => weight === weights[0]);
  }

  /** Best of these nodes; valid until the next call. */
  first(partition: number, from: readonly number[]): Uint16Array {
    const { ranks, seeds } = this;
    const base = Math.imul(mixed(partition), 0x9e3779b1);
    ranks.fill(Number.POSITIVE_INFINITY);
    for (const node of from) this.offer(node, mixed(base ^ (seeds[node] as number)));
    return this.nodes;
  }

  /**
   * First nodes among all. Of a thousand nearly none is among the first, so that each is left out
   * by what costs least: draws as 32 bits with a sign, in the order that they have without one.
   */
  firstOfAll(partition: number): Uint16Array {
    const base = Math.imul(mixed(partition), 0x9e3779b1);
    this.ranks.fill(Number.POSITIVE_INFINITY);
    if (this.isEven) this.offerDraws(base);
    else this.offerRanks(base);
    return this.nodes;
  }

  private offerDraws(base: number): void {
    const { ranks, seeds } = this;
    const last = this.depth - 1;
    let least = -SIGN;
    for (let node = 0; node < seeds.length; node += 1) {
      const draw = signed(base ^ (seeds[node] as number));
      if (draw < least) continue;
      this.offer(node, draw + SIGN);
      const worst = ranks[last] as number;
      if (worst <= 0) least = (-worst - SIGN) | 0;
    }
  }

  /** With 1 - x <= -log(x) in place of the logarithm. */
  private offerRanks(base: number): void {
    const { ranks, seeds, weights } = this;
    const last = this.depth - 1;
    let worst = Number.POSITIVE_INFINITY;
    for (let node = 0; node < seeds.length; node += 1) {
      const draw = signed(base ^ (seeds[node] as number)) + SIGN;
      if (LEFT_OUT * (1 - (draw + 0.5) / 2 ** 32) > worst * (weights[node] as number)) continue;
      this.offer(node, draw);
      worst = ranks[last] as number;
    }
  }

  private offer(node: number, draw: number): void {
    const { ranks, nodes, depth } = this;
    // With equal weights the order of ranks is the order of draws, greatest first.
    const rank = this.isEven ? -draw : rankOf(draw, this.weights[node] as number);
    if (rank > (ranks[depth - 1] as number)) return;
    let place = depth;
    for (; place > 0 && this.isBefore(rank, node, place - 1); place -= 1) {
      if (place === depth) continue;
      ranks[place] = ranks[place - 1] as number;
      nodes[place] = nodes[place - 1] as number;
    }
    if (place === depth) return;
    ranks[place] = rank;
    nodes[place] = node;
  }

  /** True if the node ranks before the place; of equal ranks the smaller name is first. */
  private isBefore(rank: number, node: number, place: number): boolean {
    const other = this.ranks[place] as number;
    return rank < other || (rank === other && node < (this.nodes[place] as number));
  }
}
