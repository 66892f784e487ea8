/**
 * A tuned pointer trie: sorted arrays of children, a bounded heap over the candidates of all beams,
 * typed arrays for what the heap holds. About the best that objects in JavaScript can do.
 */

import type { Beams, Selection, Trie } from './trie.js';

interface TrieNode {
  /** Codes of the children, ascending. */
  readonly codes: number[];
  /** Children by place in `codes`; empty where they are leaves. */
  readonly children: TrieNode[];
}

export const arrayTrie: Trie<TrieNode> = { build: buildTrie, step };

/** Codes are below this: four levels fit the 53 bits of a number. */
const CODES = 4096;
const NO_CHILDREN: TrieNode[] = [];

function buildTrie(sids: Uint32Array, depth: number): TrieNode {
  const keys = Float64Array.from({ length: sids.length / depth }, (_, i) => {
    let key = 0;
    for (let at = i * depth; at < (i + 1) * depth; at += 1)
      key = key * CODES + (sids[at] as number);
    return key;
  });
  keys.sort();
  return buildNode(keys, 0, keys.length, depth - 1);
}

/** The node over the sorted keys [begin, end), which agree above it; `below` levels follow. */
function buildNode(keys: Float64Array, begin: number, end: number, below: number): TrieNode {
  const unit = CODES ** below;
  const codes: number[] = [];
  const children: TrieNode[] = [];
  for (let first = begin; first < end; ) {
    const prefix = Math.floor((keys[first] as number) / unit);
    let last = first + 1;
    while (last < end && Math.floor((keys[last] as number) / unit) === prefix) last += 1;
    codes.push(prefix % CODES);
    if (below > 0) children.push(buildNode(keys, first, last, below - 1));
    first = last;
  }
  // Copies of exactly the needed size: an array that grew keeps room that a trie never uses.
  return { codes: codes.slice(), children: below > 0 ? children.slice() : NO_CHILDREN };
}

function step(
  beams: Beams<TrieNode>,
  logits: Float32Array,
  logSumExp: Float32Array,
  levelSize: number,
  width: number,
): Selection<TrieNode> {
  const heap = new WorstFirstHeap(width);
  beams.nodes.forEach((node, beam) => {
    const score = beams.scores[beam] as number;
    const norm = logSumExp[beam] as number;
    const row = beam * levelSize;
    const { codes } = node;
    for (let at = 0; at < codes.length; at += 1) {
      const logit = logits[row + (codes[at] as number)] as number;
      heap.offer(Math.fround(score + Math.fround(logit - norm)), beam, at);
    }
  });
  return heap.drain(beams.nodes);
}

/**
 * The best `width` candidates; the worst of them is on top, so most offers end at one comparison.
 */
class WorstFirstHeap {
  private readonly scores: Float32Array;
  private readonly beams: Uint32Array;
  private readonly places: Uint32Array;
  private size = 0;

  constructor(private readonly width: number) {
    this.scores = new Float32Array(width);
    this.beams = new Uint32Array(width);
    this.places = new Uint32Array(width);
  }

  /** Offers come in the order of beam and code, so an equal score never displaces. */
  offer(score: number, beam: number, place: number): void {
    if (this.size < this.width) {
      this.set(this.size, score, beam, place);
      this.size += 1;
      this.up(this.size - 1);
    } else if (score > (this.scores[0] as number)) {
      this.set(0, score, beam, place);
      this.down(0);
    }
  }

  drain(nodes: readonly TrieNode[]): Selection<TrieNode> {
    const order = Uint32Array.from({ length: this.size }, (_, i) => i).sort((a, b) =>
      this.worse(a, b) ? 1 : -1,
    );
    const parents = order.map((i) => this.beams[i] as number);
    const places = order.map((i) => this.places[i] as number);
    return {
      scores: Float32Array.from(order, (i) => this.scores[i] as number),
      parents,
      codes: places.map((place, i) => nodes[parents[i] as number]?.codes[place] as number),
      nodes: Array.from(places, (place, i) => nodes[parents[i] as number]?.children[place]),
    };
  }

  private set(at: number, score: number, beam: number, place: number): void {
    this.scores[at] = score;
    this.beams[at] = beam;
    this.places[at] = place;
  }

  private worse(a: number, b: number): boolean {
    const apart = (this.scores[a] as number) - (this.scores[b] as number);
    if (apart !== 0) return apart < 0;
    const beams = (this.beams[a] as number) - (this.beams[b] as number);
    return beams !== 0 ? beams > 0 : (this.places[a] as number) > (this.places[b] as number);
  }

  private up(start: number): void {
    for (let at = start; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (!this.worse(at, parent)) return;
      this.swap(at, parent);
      at = parent;
    }
  }

  private down(start: number): void {
    for (let at = start; ; ) {
      let worst = at;
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < this.size && this.worse(child, worst)) worst = child;
      }
      if (worst === at) return;
      this.swap(at, worst);
      at = worst;
    }
  }

  private swap(a: number, b: number): void {
    const { scores, beams, places } = this;
    [scores[a], scores[b]] = [scores[b] as number, scores[a] as number];
    [beams[a], beams[b]] = [beams[b] as number, beams[a] as number];
    [places[a], places[b]] = [places[b] as number, places[a] as number];
  }
}
