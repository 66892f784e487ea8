/**
 * A pointer trie as it is usually written: a Map of children per node, every candidate an object,
 * the best ones by sorting all of them.
 */

import type { Beams, Selection, Trie } from './trie.js';

type TrieNode = Map<number, TrieNode>;

/** Stands for all nodes of the last level: they have no children. */
const LEAF: TrieNode = new Map();

export const mapTrie: Trie<TrieNode> = { build, step };

function build(sids: Uint32Array, depth: number): TrieNode {
  const root: TrieNode = new Map();
  for (let start = 0; start < sids.length; start += depth) {
    let node = root;
    for (let level = 0; level < depth; level += 1) {
      const code = sids[start + level] as number;
      let child = node.get(code);
      if (child === undefined) {
        child = level === depth - 1 ? LEAF : new Map();
        node.set(code, child);
      }
      node = child;
    }
  }
  return root;
}

function step(
  beams: Beams<TrieNode>,
  logits: Float32Array,
  logSumExp: Float32Array,
  levelSize: number,
  width: number,
): Selection<TrieNode> {
  const candidates: { score: number; beam: number; code: number; node: TrieNode }[] = [];
  beams.nodes.forEach((children, beam) => {
    const beamScore = beams.scores[beam] as number;
    const norm = logSumExp[beam] as number;
    for (const [code, node] of children) {
      const logit = logits[beam * levelSize + code] as number;
      const score = Math.fround(beamScore + Math.fround(logit - norm));
      candidates.push({ score, beam, code, node });
    }
  });
  candidates.sort((a, b) => b.score - a.score || a.beam - b.beam || a.code - b.code);
  const best = candidates.slice(0, width);
  return {
    scores: Float32Array.from(best, (candidate) => candidate.score),
    parents: Uint32Array.from(best, (candidate) => candidate.beam),
    codes: Uint32Array.from(best, (candidate) => candidate.code),
    nodes: best.map((candidate) => candidate.node),
  };
}
