/**
 * A process of its own, because a trie of objects over ten million SIDs needs a larger heap than
 * the runner has: measures one kind of trie at one level size and prints
 * {"buildSeconds", "steps": {width: microseconds}}.
 */

import { quantile } from '../result.js';
import { arrayTrie } from './array-trie.js';
import { mapTrie } from './map-trie.js';
import type { Beams, Trie } from './trie.js';
import { BEAMS_MAX, LEVELS, logitsOf, makePool, makeSids, NORM } from './trie-workload.js';

export interface TrieTimes {
  readonly buildSeconds: number;
  /** Median over the repetitions of all levels' steps, microseconds, by width. */
  readonly steps: Readonly<Record<string, number>>;
}

function measure<Node>(
  trie: Trie<Node>,
  root: Node,
  levelSize: number,
  repetitions: number,
  width: number,
): number {
  const pool = makePool(repetitions, levelSize);
  const norms = new Float32Array(BEAMS_MAX).fill(NORM);
  const times: number[][] = Array.from({ length: LEVELS }, () => []);
  for (let repetition = 0; repetition < repetitions; repetition += 1) {
    let beams: Beams<Node> = { scores: new Float32Array(1), nodes: [root] };
    for (const levelTimes of times) {
      const logits = logitsOf(pool, repetition, beams.nodes.length, levelSize);
      const start = performance.now();
      const { scores, nodes } = trie.step(beams, logits, norms, levelSize, width);
      levelTimes.push((performance.now() - start) * 1000);
      beams = { scores, nodes: nodes as Node[] };
    }
  }
  return times.reduce((sum, levelTimes) => sum + quantile(levelTimes, 0.5), 0);
}

function measureAll<Node>(trie: Trie<Node>, numbers: readonly number[]): TrieTimes {
  const [items = 0, levelSize = 0, repetitions = 0, modulus = 1, rest = 0, ...widths] = numbers;
  const sids = makeSids(items, levelSize, { modulus, rest });
  const started = performance.now();
  const root = trie.build(sids, LEVELS);
  const buildSeconds = (performance.now() - started) / 1000;
  const times = widths.map((width) => [width, measure(trie, root, levelSize, repetitions, width)]);
  return { buildSeconds, steps: Object.fromEntries(times) };
}

const [kind, ...words] = process.argv.slice(2);
const numbers = words.map(Number);
const times = kind === 'maps' ? measureAll(mapTrie, numbers) : measureAll(arrayTrie, numbers);
process.stdout.write(`${JSON.stringify(times)}\n`);
