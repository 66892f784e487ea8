import { describe, expect, it } from 'vitest';
import { judge, type Measurement } from '../../result.js';
import { besideRows, logOddsErrors, oddsRows, rateRows } from './relevance-rows.js';

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

const turns = (...ms: readonly number[]) =>
  ms.map((each, at) => ({ name: ['ours', 'a', 'b'][at] ?? '', ms: each, errors: [at, at / 10] }));

describe('rates', () => {
  it('are compared within their rounds, and held to the fastest peer', () => {
    // The machine is ten times slower in the second round, and in the third a peer is disturbed.
    const rounds = [turns(10, 30, 14), turns(100, 300, 140), turns(10, 30, 900)];
    const rows = rateRows('16 items', 16, rounds);
    expect(rows[0]).toMatchObject({ value: 1600, unit: 'items/s' });
    expect(verdicts(rows)).toEqual({
      '16 items, ours to a': [3, null, null],
      '16 items: a from ours, largest': [1, null, null],
      '16 items, ours to b': [1.4, 1.5, false],
      '16 items: b from ours, largest': [2, null, null],
    });
  });

  it('stand alone without peers', () => {
    const rows = rateRows('16 items', 16, [turns(20), turns(40), turns(10)]);
    expect(verdicts(rows)).toEqual({ '16 items, ours': [800, null, null] });
    expect(rateRows('16 items', 16, [])).toEqual([]);
  });
});

describe('log-odds', () => {
  it('are those of the first label against the second, whatever is added to both', () => {
    expect(logOddsErrors([[3, 1]], [[11, 10]])).toEqual([1]);
  });

  it('are no number where an answer lacks one', () => {
    const errors = logOddsErrors(
      [[3, 1], [7]],
      [
        [3, 1],
        [2, 1],
        [2, 1],
      ],
    );
    expect(errors).toEqual([0, Number.NaN, Number.NaN]);
  });

  it('are held to F32 in BF16 of ours alone', () => {
    const rows = oddsRows('small', [
      { name: 'peer f32', logits: [[0, 0]] },
      { name: 'peer bf16', logits: [[0.5, 0]] },
      { name: 'ours f32', logits: [[0.125, 0]] },
      { name: 'ours bf16', logits: [[0.25, 0]] },
    ]);
    const found = verdicts(rows.filter(({ name }) => name.endsWith('largest')));
    const name = (one: string, to: string) => `small, 1 pairs: ${one} from ${to}, largest`;
    expect(found).toEqual({
      [name('peer bf16', 'peer f32')]: [0.5, null, null],
      [name('ours f32', 'peer f32')]: [0.125, null, null],
      [name('ours bf16', 'peer f32')]: [0.25, 0.02, false],
      [name('ours bf16', 'peer bf16')]: [0.25, null, null],
    });
  });

  it('are held to our own F32 where there is no peer', () => {
    const rows = oddsRows('small', [
      { name: 'ours f32', logits: [[1, 0]] },
      { name: 'ours bf16', logits: [[1.01, 0]] },
    ]);
    expect(rows.map(judge).map(({ bar, holds }) => [bar, holds])).toEqual([
      [null, null],
      [0.02, true],
    ]);
  });
});

describe('recalls beside relevance', () => {
  const times = { alone: [10, 10, 10], beside: [13, 11, 11], again: [10, 10, 20] };
  const arrivals = [
    { latencies: [100, 300], refused: 1, rate: 1 },
    { latencies: [200], refused: 2, rate: 1 },
  ];

  it('are held to those alone before and behind them, which are compared as well', () => {
    expect(verdicts(besideRows(times, arrivals))).toEqual({
      'recall alone, 6 of them, p50': [10, null, null],
      'recall beside relevance, 3 of them, p50 to alone': [1.1, null, null],
      'recall alone again, 3 of them, p50 to alone before': [1, null, null],
      'recall alone, 6 of them, p99': [20, null, null],
      'recall beside relevance, 3 of them, p99 to alone': [0.65, 1.2, true],
      'recall alone again, 3 of them, p99 to alone before': [2, null, null],
      'relevance beside recalls, 3 calls, p50': [200, null, null],
      'relevance beside recalls, refused': [3, null, null],
    });
  });
});
