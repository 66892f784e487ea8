import { seededRandom } from '@tessera/testing';
import { expect, it } from 'vitest';
import type { PairWork } from './pair-work.js';
import { lowerBoundUs, type Part, type SplitNode, splitWork } from './split-work.js';

const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];

function logNormal(random: () => number, median: number, sigma: number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return Math.max(1, Math.round(median * Math.exp(sigma * normal)));
}

const IDLE: SplitNode = { tokenUs: 100, pairUs: 0.02, backlogUs: 0, partUs: 500 };

function workOf(texts: readonly (readonly number[])[], sharedTokens: number): PairWork {
  const common = texts.map((text, i) => {
    const before = texts[i - 1] ?? [];
    const until = text.findIndex((token, at) => token !== before[at]);
    return i === 0 ? 0 : until < 0 ? text.length : until;
  });
  return { sharedTokens, tokens: texts.map(({ length }) => length), common };
}

/** Few letters, so that they share beginnings; in their order, none twice. */
function randomTexts(random: () => number, count: number): readonly (readonly number[])[] {
  const texts = new Map<string, readonly number[]>();
  while (texts.size < count) {
    const letter = () => Math.floor(random() * 2);
    const text = Array.from({ length: 4 + Math.floor(random() * 28) }, (_, i) =>
      i < 12 ? 7 * letter() * (i === 0 ? 1 : 0) : letter(),
    );
    texts.set(text.join(), text);
  }
  const compare = (a: readonly number[], b: readonly number[]) => {
    const at = a.findIndex((token, i) => token !== b[i]);
    return at < 0 ? a.length - b.length : (a[at] as number) - (b[at] ?? -1);
  };
  return [...texts.values()].sort(compare);
}

/** The cost of a part by the nodes of the trie of its prompts, each by its depth. */
function trieUs(texts: readonly (readonly number[])[], shared: number, of: SplitNode): number {
  if (texts.length === 0) return 0;
  const nodes = new Map<string, number>();
  for (const text of texts) {
    for (let depth = 1; depth <= text.length; depth += 1) {
      nodes.set(text.slice(0, depth).join(), shared + depth - 1);
    }
  }
  const tokenUs = (depth: number) => of.tokenUs + of.pairUs * (depth + 0.5);
  let us = of.partUs;
  for (let depth = 0; depth < shared; depth += 1) us += tokenUs(depth);
  for (const depth of nodes.values()) us += tokenUs(depth);
  return us;
}

type Texts = readonly (readonly number[])[];

/** Over all assignments: the least worth, by the texts of each node. */
function leastOf(texts: Texts, nodes: number, worth: (parts: readonly Texts[]) => number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let code = 0; code < nodes ** texts.length; code += 1) {
    const nodeOf = (i: number) => Math.floor(code / nodes ** i) % nodes;
    const parts = Array.from({ length: nodes }, (_, node) =>
      texts.filter((_, i) => nodeOf(i) === node),
    );
    least = Math.min(least, worth(parts));
  }
  return least;
}

/** When the last part ends. */
const finishUs = (parts: readonly Texts[], shared: number, nodes: readonly SplitNode[]) =>
  Math.max(
    ...nodes.map((of, node) => {
      const own = parts[node] ?? [];
      return own.length === 0 ? 0 : of.backlogUs + trieUs(own, shared, of);
    }),
  );

/** The same, and 2 w (1 + w) of what is computed more than once, on the node that begins first. */
function worthUs(parts: readonly Texts[], shared: number, nodes: readonly SplitNode[]): number {
  const begins = nodes.map((of) => of.backlogUs + trieUs([[]], shared, of));
  const first = nodes[begins.indexOf(Math.min(...begins))] as SplitNode;
  const wholeUs = trieUs(parts.flat(), shared, first);
  const moreUs = parts.reduce((sum, own) => sum + trieUs(own, shared, first), 0) - wholeUs;
  const waits = nodes.reduce((sum, of) => sum + of.backlogUs, 0) / nodes.length / wholeUs;
  return finishUs(parts, shared, nodes) + 2 * waits * (1 + waits) * moreUs;
}

const finishOf = (parts: readonly Part[]) => Math.max(...parts.map(({ finishUs }) => finishUs));
const scored = (parts: readonly Part[]) =>
  parts.flatMap(({ documents }) => documents).sort((a, b) => a - b);

it.each(SEEDS)('is worth nearly as much as the best of all assignments, seed %i', (seed) => {
  const random = seededRandom(seed);
  for (let round = 0; round < 6; round += 1) {
    const texts = randomTexts(random, 3 + Math.floor(random() * 4));
    const shared = Math.floor(random() * 60);
    const most = round < 3 ? 4000 : 16_000;
    const nodes = Array.from({ length: 2 + Math.floor(random() * 2) }, (): SplitNode => {
      const factor = 0.5 + random();
      const rates = { tokenUs: 100 * factor, pairUs: 2 * factor };
      return { ...rates, backlogUs: most * random(), partUs: 500 };
    });
    const work = workOf(texts, shared);
    const parts = splitWork(work, nodes);
    for (const { node, documents, us, finishUs } of parts) {
      const of = nodes[node] as SplitNode;
      const own = documents.map((document) => texts[document] as readonly number[]);
      expect(us).toBeCloseTo(trieUs(own, shared, of), 3);
      expect(finishUs).toBeCloseTo(of.backlogUs + us, 3);
    }
    const least = leastOf(texts, nodes.length, (each) => finishUs(each, shared, nodes));
    expect(least / lowerBoundUs(work, nodes)).toBeGreaterThan(0.9999);
    const best = leastOf(texts, nodes.length, (each) => worthUs(each, shared, nodes));
    const own = nodes.map((_, at) =>
      parts.flatMap(({ node, documents }) =>
        node === at ? documents.map((document) => texts[document] as readonly number[]) : [],
      ),
    );
    // So few documents can be dealt out in few ways only; of many see below.
    expect(worthUs(own, shared, nodes) / best).toBeLessThan(1.2);
  }
});

it.each([2, 3, 4, 6, 8, 12, 16])('ends within a tenth of the bound on %i nodes', (count) => {
  for (const seed of SEEDS) {
    const random = seededRandom(seed);
    const tokens = Array.from({ length: 16 * count }, () => logNormal(random, 200, 0.8));
    const work = { sharedTokens: 120, tokens, common: tokens.map(() => 0) };
    const nodes = Array.from({ length: count }, () => IDLE);
    const parts = splitWork(work, nodes);
    expect(scored(parts)).toEqual(tokens.map((_, i) => i));
    expect(finishOf(parts) / lowerBoundUs(work, nodes)).toBeLessThan(1.1);
    const mean = parts.reduce((sum, { us }) => sum + us, 0) / parts.length;
    expect(Math.max(...parts.map(({ us }) => us)) / mean).toBeLessThan(1.1);
  }
});

it.each(SEEDS)('waits for what nodes have to do before, seed %i', (seed) => {
  const random = seededRandom(seed);
  const tokens = Array.from({ length: 60 }, () => logNormal(random, 150, 1));
  const work = { sharedTokens: 60, tokens, common: tokens.map(() => 0) };
  const nodes = Array.from({ length: 5 }, (): SplitNode => {
    const factor = 0.5 + 2 * random();
    return {
      tokenUs: 100 * factor,
      pairUs: 0.02 * factor,
      backlogUs: 400_000 * random(),
      partUs: 500,
    };
  });
  const parts = splitWork(work, nodes);
  expect(finishOf(parts) / lowerBoundUs(work, nodes)).toBeLessThan(1.1);
});

it('splits into fewer parts the more nodes have to do, and ends in one', () => {
  const tokens = Array.from({ length: 12 }, () => 100);
  const work = { sharedTokens: 100, tokens, common: tokens.map(() => 0) };
  const partsAt = (backlogUs: number) =>
    splitWork(work, Array(4).fill(Object.assign({}, IDLE, { backlogUs }))).length;
  const counts = [0, 20_000, 50_000, 100_000, 200_000, 1_000_000].map(partsAt);
  expect(counts).toEqual([...counts].sort((a, b) => b - a));
  expect(counts[0]).toBe(4);
  expect(counts.at(-1)).toBe(1);
});

it('keeps documents with a long common beginning together', () => {
  // Twelve families of eight: 600 tokens in common, then 20 of their own.
  const tokens = Array.from({ length: 96 }, () => 620);
  const work = { sharedTokens: 50, tokens, common: tokens.map((_, i) => (i % 8 === 0 ? 0 : 600)) };
  const nodes = Array.from({ length: 4 }, () => IDLE);
  const parts = splitWork(work, nodes);
  for (const { documents } of parts) {
    expect(new Set(documents.map((document) => Math.floor(document / 8))).size).toBe(3);
  }
  expect(finishOf(parts) / lowerBoundUs(work, nodes)).toBeLessThan(1.01);
});

it('asks one node where a second would compute the shared tokens for little', () => {
  const work = { sharedTokens: 5000, tokens: [20, 20, 20], common: [0, 0, 0] };
  expect(splitWork(work, [IDLE, IDLE, IDLE])).toHaveLength(1);
});

it('takes equal documents for one', () => {
  const tokens = Array.from({ length: 10 }, () => 400);
  const common = tokens.map((_, i) => (i % 5 === 0 ? 0 : 400));
  const parts = splitWork({ sharedTokens: 10, tokens, common }, [IDLE, IDLE]);
  expect(parts.map(({ documents }) => documents.length)).toEqual([5, 5]);
});

it('splits a thousand documents over sixteen nodes', () => {
  const random = seededRandom(9);
  const tokens = Array.from({ length: 1000 }, () => logNormal(random, 200, 1));
  const common = tokens.map((own, i) => (i % 4 === 0 ? 0 : Math.min(own, 40)));
  const parts = splitWork({ sharedTokens: 100, tokens, common }, Array(16).fill(IDLE));
  expect(scored(parts)).toEqual(tokens.map((_, i) => i));
});
