import { describe, expect, it } from 'vitest';
import { judge, type Measurement } from '../../result.js';
import { besideRows } from './beside-rows.js';
import { rankAgreement, spearman } from './rank-agreement.js';
import { lowestCosine, rateRows } from './rate-rows.js';
import { staticRows } from './static-rows.js';
import { drawTexts } from './texts.js';

/** Ratio or value, bar and verdict of each row, by its name and what it is compared to. */
const verdicts = (rows: readonly Measurement[]) =>
  Object.fromEntries(
    rows
      .map(judge)
      .map(({ name, value, ratio, bar, holds }) => [
        `${name}${ratio === undefined ? '' : ` to ${ratio.to}`}`,
        [ratio?.value ?? value, bar, holds],
      ]),
  );

describe('rank agreement', () => {
  it('is 1 of the same order, -1 of the opposite one', () => {
    const of = (...values: number[]) => Float64Array.from(values);
    expect(spearman(of(1, 2, 3, 9), of(0, 5, 6, 7))).toBe(1);
    expect(spearman(of(1, 2, 3, 9), of(7, 6, 5, 0))).toBe(-1);
    expect(spearman(of(1, 2, 3, 4), of(2, 1, 3, 4))).toBeCloseTo(0.8, 12);
  });

  it('compares each text with all others', () => {
    const vectors = [
      [1, 0],
      [0.9, 0.4],
      [0.5, 0.8],
      [0, 1],
    ];
    expect(rankAgreement(vectors, vectors, 2)).toBe(1);
    expect(
      rankAgreement(
        vectors,
        vectors.map(([x = 0, y = 0]) => [-x, y]),
        1,
      ),
    ).toBe(1);
    expect(
      rankAgreement(
        vectors,
        [
          [1, 0],
          [0, 1],
          [0.5, 0.8],
          [0.9, 0.4],
        ],
        1,
      ),
    ).toBe(-1);
  });
});

describe('rows of static scales', () => {
  it("hold the median of the rounds' ratios to BF16 to the bar", () => {
    const all = [
      { type: 'bf16', milliseconds: [100, 200, 100] },
      { type: 'w8a8', milliseconds: [70, 150, 50] },
      { type: 'w8a8-static', milliseconds: [60, 110, 90] },
    ];
    expect(verdicts(staticRows('x', all, [{ type: 'w8a8', value: 0.9 }]))).toEqual({
      'x: bf16, time': [100, null, null],
      'x: w8a8, time to bf16': [0.7, null, null],
      'x: w8a8-static, time to bf16': [0.6, 0.6, true],
      'x: w8a8, lowest cosine to bf16': [0.9, null, null],
    });
  });
});

describe('rows of texts a second', () => {
  it('are medians of the rounds, with what a narrower type takes of the time before', () => {
    const all = [
      { name: 'f32', milliseconds: [100, 10, 900] },
      { name: 'bf16', milliseconds: [50] },
      { name: 'w8a8', milliseconds: [40] },
    ];
    expect(verdicts(rateRows('x', 50, all))).toEqual({
      'x: f32': [500, null, null],
      'x: bf16': [1000, null, null],
      'x: bf16, time to f32': [0.5, null, null],
      'x: w8a8': [1250, null, null],
      'x: w8a8, time to bf16': [0.8, null, null],
    });
  });
});

describe('cosines', () => {
  it('are the lowest of all texts, and 0 where vectors are missing', () => {
    const one = [
      [1, 0],
      [1, 1],
    ];
    const other = [
      [3, 0],
      [1, 0],
    ];
    expect(lowestCosine(one, other)).toBeCloseTo(Math.SQRT1_2, 12);
    expect(lowestCosine(one, other.slice(1))).toBe(0);
    expect(lowestCosine([], [])).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('rows of recalls beside texts', () => {
  const turn = (latencies: number[], refused = 0) => ({ latencies, refused, rate: 1 });
  const many = (count: number, value: number) => new Array<number>(count).fill(value);

  it('are of all turns together, over the recalls alone', () => {
    const rows = verdicts(
      besideRows([
        {
          load: 'alone',
          turns: [turn(many(60, 10)), turn([...many(38, 10), 20, 20])],
          textRates: [],
        },
        { load: 'beside', turns: [turn([...many(98, 11), 30, 30])], textRates: [7, 9, 8] },
      ]),
    );
    expect(rows).toEqual({
      'recall, alone: p50': [10, null, null],
      'recall, beside: p50 to alone': [1.1, 1.2, true],
      'recall, alone: p99': [20, null, null],
      'recall, beside: p99 to alone': [1.5, 1.2, false],
      'recall, alone: answered': [100, null, null],
      'recall, beside: answered': [100, null, null],
      'texts, beside': [8, null, null],
    });
  });

  it('count a recall that was refused as one that never ended', () => {
    const rows = besideRows([
      { load: 'alone', turns: [turn(many(100, 10))], textRates: [] },
      { load: 'beside', turns: [turn(many(98, 10), 2)], textRates: [1] },
    ]);
    const found = rows.find(({ name }) => name === 'recall, beside: p99');
    expect(found?.value).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('texts of the bench', () => {
  it('are drawn alike from a seed, 8 to 256 tokens with a word for each of their own', () => {
    const texts = drawTexts(500, 3);
    expect(texts).toEqual(drawTexts(500, 3));
    const lengths = texts.map(({ tokens }) => tokens.length).sort((a, b) => a - b);
    expect(lengths[0]).toBe(8);
    expect(lengths.at(-1)).toBe(256);
    expect(lengths[250]).toBeGreaterThan(40);
    expect(lengths[250]).toBeLessThan(56);
    for (const { text, tokens } of texts) {
      expect(text.split(' ').map((word) => Number(word.slice(1)))).toEqual(tokens.slice(1, -1));
    }
  });
});
