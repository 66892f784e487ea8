/** Terms of heads as the engine appraises them, against the formulas of docs/concepts/value.md. */

import { join } from 'node:path';
import { temporaryFolder } from '@tessera/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ChangingCatalogue } from './catalogue.js';
import { EVERY_ITEM, type Formula, type HeadTerm, type Reach } from './index.js';
import { buildCatalogue, openCatalogue } from './native-catalogue.js';

const IDS = ['a', 'b', 'c', 'd'];
const HEADS = ['click', 'dwell', 'return', 'buy'];
const UNBOUNDED = { min: Number.NEGATIVE_INFINITY, max: Number.POSITIVE_INFINITY };
const headTerm = (head: string, function_: HeadTerm['function'], weight: number): HeadTerm => ({
  name: `by-${head}`,
  head,
  function: function_,
  weight,
  ...(function_ === 'clamp' ? { min: -0.5, max: 0.5 } : UNBOUNDED),
});
const TERMS = [
  headTerm('click', 'log', 2),
  headTerm('dwell', 'log1p', -0.5),
  headTerm('return', 'identity', 1),
  headTerm('buy', 'clamp', 3),
];
const FORMULA: Formula = {
  name: 'worth',
  scoreWeight: 1,
  terms: [
    {
      name: 'bid',
      attribute: 'bid',
      function: 'identity',
      weight: 1,
      byDefault: Number.NaN,
      ...UNBOUNDED,
    },
  ],
  headTerms: TERMS,
  floor: Number.NEGATIVE_INFINITY,
  bid: 'bid',
  pace: '',
};

const folder = temporaryFolder({
  'items.jsonl': IDS.map((item_id, i) =>
    JSON.stringify({ item_id, sid: [i], attributes: i === 3 ? {} : { bid: i + 1 } }),
  ).join('\n'),
});
let catalogue: ChangingCatalogue;
let reach: Reach;

beforeAll(async () => {
  const outputPath = join(folder.path, 'catalogue.snapshot');
  const sources = [{ path: join(folder.path, 'items.jsonl'), domain: '' }];
  await buildCatalogue({ sources, titlesPath: '', levelSizes: [], outputPath }, () => undefined);
  catalogue = await openCatalogue(outputPath);
  await catalogue.valueBy([FORMULA]);
  reach = await catalogue.reach(EVERY_ITEM);
});

afterAll(() => {
  catalogue.close();
  folder.remove();
});

function expected({ function: named, min, max }: HeadTerm, weight: number, x: number): number {
  if (weight === 0) return 0;
  if (named === 'log') return x > 0 ? weight * Math.log(x) : Number.NaN;
  if (named === 'log1p') return x > -1 ? weight * Math.log1p(x) : Number.NaN;
  return weight * (named === 'clamp' ? Math.min(Math.max(x, min), max) : x);
}

const use = (weights: readonly number[]) => ({
  name: 'worth',
  scoreWeight: Number.NaN,
  floor: Number.NaN,
  weights: TERMS.map(({ name }, i) => ({ term: name, weight: weights[i] ?? 0 })),
});

it('are weighted functions of the numbers, by name, and sum to the part of heads', () => {
  const number = fc.double({ min: -2, max: 2 }).map(Math.fround);
  const weights = fc.array(fc.constantFrom(0, 1, -0.25, 2.5), { minLength: 4, maxLength: 4 });
  const numbers = fc.array(number, { minLength: 16, maxLength: 16 });
  const order = fc.shuffledSubarray(HEADS, { minLength: 4 });
  const holds = (own: number[], given: number[], names: string[]) => {
    const heads = { names, numbers: Float32Array.from(given) };
    const {
      names: terms,
      terms: found,
      headSums,
    } = catalogue.appraise(...[reach, IDS, use(own), heads]);
    expect(terms).toEqual(['bid', ...TERMS.map(({ name }) => name)]);
    IDS.forEach((_, item) => {
      const wanted = TERMS.map((term, i) =>
        expected(term, own[i] ?? 0, given[item * 4 + names.indexOf(term.head)] ?? Number.NaN),
      );
      wanted.forEach((value, i) => {
        if (Number.isNaN(value)) expect(found[item * 5 + 1 + i]).toBeNaN();
        else expect(found[item * 5 + 1 + i]).toBeCloseTo(value, 12);
      });
      const sum = wanted.reduce((all, one) => all + one, 0);
      if (Number.isNaN(sum)) expect(headSums[item]).toBeNaN();
      else expect(headSums[item]).toBeCloseTo(sum, 12);
    });
  };
  fc.assert(fc.property(weights, numbers, order, holds), { seed: 20261128, numRuns: 200 });
});

it('are left out without heads, and refused where a head or a number is missing', () => {
  const ask = (names: readonly string[], count: number) => () =>
    catalogue.appraise(reach, IDS, use([1, 1, 1, 1]), { names, numbers: new Float32Array(count) });
  expect(catalogue.appraise(reach, IDS, use([1, 1, 1, 1]))).toMatchObject({
    names: ['bid'],
    headSums: new Float64Array(),
    sums: Float32Array.of(1, 2, 3, Number.NEGATIVE_INFINITY),
  });
  expect(ask(['click'], 4)).toThrow("catalogueAppraise.heads: expected 'dwell' among them");
  expect(ask(HEADS, 15)).toThrow('catalogueAppraise.numbers: expected 16, got 15');
});
