/**
 * A process of its own, because a trie of objects over ten million SIDs needs a larger heap than
 * the runner has: measures one level size and prints {"buildSeconds", "steps": {width: microseconds}}.
 */

import { quantile } from '../result.js';
import { type Beams, buildTrie, step, type TrieNode } from './pointer-trie.js';
import { BEAMS_MAX, LEVELS, logitsOf, makePool, makeSids, NORM } from './trie-workload.js';

export interface TrieTimes {
  readonly buildSeconds: number;
  /** Median over the repetitions of all levels' steps, microseconds, by width. */
  readonly steps: Readonly<Record<string, number>>;
}

function measure(root: TrieNode, levelSize: number, repetitions: number, width: number): number {
  const pool = makePool(repetitions, levelSize);
  const norms = new Float32Array(BEAMS_MAX).fill(NORM);
  const times: number[][] = Array.from({ length: LEVELS }, () => []);
  for (let repetition = 0; repetition < repetitions; repetition += 1) {
    let beams: Beams = { scores: new Float32Array(1), nodes: [root] };
    for (const levelTimes of times) {
      const logits = logitsOf(pool, repetition, beams.nodes.length, levelSize);
      const start = performance.now();
      const { scores, nodes } = step(beams, logits, norms, levelSize, width);
      levelTimes.push((performance.now() - start) * 1000);
      beams = { scores, nodes: nodes as TrieNode[] };
    }
  }
  return times.reduce((sum, levelTimes) => sum + quantile(levelTimes, 0.5), 0);
}

const [items = 0, levelSize = 0, repetitions = 0, ...widths] = process.argv.slice(2).map(Number);
const sids = makeSids(items, levelSize);
const started = performance.now();
const root = buildTrie(sids, LEVELS);
const buildSeconds = (performance.now() - started) / 1000;
const steps = Object.fromEntries(
  widths.map((width) => [width, measure(root, levelSize, repetitions, width)]),
);
process.stdout.write(`${JSON.stringify({ buildSeconds, steps } satisfies TrieTimes)}\n`);
