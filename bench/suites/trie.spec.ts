import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arrayTrie } from './array-trie.js';
import { mapTrie } from './map-trie.js';
import type { Beams, Trie } from './trie.js';

const DEPTH = 3;
const SIZE = 6;

const sid = fc.tuple(fc.nat(SIZE - 1), fc.nat(SIZE - 1), fc.nat(SIZE - 1));

/** Logits from a few values only, so that ties occur. */
function logitsFor(beams: number, seed: number): Float32Array {
  return Float32Array.from({ length: beams * SIZE }, (_, i) => ((i * 7919 + seed) % 5) - 4);
}

describe.each([
  ['of arrays', arrayTrie as Trie<unknown>],
  ['of maps', mapTrie as Trie<unknown>],
])('the pointer trie %s', (_name, trie) => {
  it('keeps the best extensions of the paths, as sorting all of them does', () => {
    fc.assert(
      fc.property(
        fc.array(sid, { minLength: 1, maxLength: 40 }),
        fc.integer({ min: 1, max: 8 }),
        fc.nat(1000),
        (sids, width, seed) => {
          let beams: Beams<unknown> = {
            scores: new Float32Array(1),
            nodes: [trie.build(Uint32Array.from(sids.flat()), DEPTH)],
          };
          let paths: number[][] = [[]];
          for (let level = 0; level < DEPTH; level += 1) {
            const logits = logitsFor(paths.length, seed + level);
            const norms = new Float32Array(paths.length);
            const all = paths.flatMap((path, beam) =>
              [
                ...new Set(
                  sids.filter((s) => path.every((c, i) => c === s[i])).map((s) => s[level]),
                ),
              ]
                .map((code) => ({
                  path: [...path, code as number],
                  score: (beams.scores[beam] ?? 0) + (logits[beam * SIZE + (code as number)] ?? 0),
                }))
                .sort((a, b) => (a.path.at(-1) ?? 0) - (b.path.at(-1) ?? 0)),
            );
            const expected = all.sort((a, b) => b.score - a.score).slice(0, width);
            const got = trie.step(beams, logits, norms, SIZE, width);
            const next = [...got.codes].map((code, i) => [
              ...(paths[got.parents[i] ?? 0] ?? []),
              code,
            ]);
            expect(next).toEqual(expected.map((entry) => entry.path));
            expect([...got.scores]).toEqual(expected.map((entry) => entry.score));
            paths = next;
            beams = { scores: got.scores, nodes: got.nodes };
          }
        },
      ),
      { numRuns: 300, verbose: 1 },
    );
  });
});
