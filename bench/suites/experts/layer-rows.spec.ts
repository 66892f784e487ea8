import { describe, expect, it } from 'vitest';
import { judge } from '../../result.js';
import type { NativeResult } from '../native-bench.js';
import { medians, shapeRows, type Turn } from './layer-rows.js';

const us = (name: string, value: number): NativeResult => ({ name, value, unit: 'us' });

function layer(routing: string, rows: number, value: number, type = 'BF16'): NativeResult[] {
  const name = `experts/${type}/${routing}/${rows}/2t`;
  const ratio = (what: string, of: number) => ({ name: `${name}/${what}`, value: of, unit: '' });
  return [
    us(name, value),
    ratio('of_reading', 0.8),
    ratio('of_computing', 0.5),
    ratio('padding', 1.2),
    ratio('idle', 0.11),
    us(`experts/${type}/dense/${rows}/2t`, 50),
  ];
}

/** Ratio or value, bar and verdict of each row, by its name and what it is compared to. */
const verdicts = (own: readonly NativeResult[], turns: readonly Turn[] = []) =>
  Object.fromEntries(
    shapeRows('OLMoE', own, turns)
      .map(judge)
      .map(({ name, value, ratio, bar, holds }) => [
        `${name.replace(/^OLMoE: experts\//, '')}${ratio === undefined ? '' : ` to ${ratio.to}`}`,
        [ratio?.value ?? value, bar, holds],
      ]),
  );

describe('rows of the suite experts', () => {
  it('hold few rows to the reading of weights, and show many against computing', () => {
    const few = verdicts(layer('uniform', 16, 100));
    expect(few['BF16/uniform/16/2t to reading the chosen weights']).toEqual([0.8, 0.75, true]);
    const many = verdicts(layer('uniform', 64, 100));
    expect(many['BF16/uniform/64/2t to computing']).toEqual([0.5, null, null]);
  });

  it('show a dense block that is as large as the chosen experts, without a bar', () => {
    const shown = verdicts(layer('Zipf', 64, 100, 'INT8'));
    expect(shown['INT8/Zipf/64/2t to dense, as active']).toEqual([2, null, null]);
  });

  it('hold padding at 576 rows, and idle threads where choices are uneven', () => {
    const even = verdicts(layer('uniform', 576, 100));
    expect(even['BF16/uniform/576/2t, places over rows']).toEqual([1.2, 1.15, false]);
    expect(even['BF16/uniform/576/2t, threads idle']).toEqual([11, null, null]);
    const uneven = verdicts(layer('Zipf', 576, 100));
    expect(uneven['BF16/Zipf/576/2t, threads idle']).toEqual([11, 10, false]);
    const few = verdicts(layer('Zipf', 64, 100));
    expect(few['BF16/Zipf/64/2t, places over rows']).toEqual([1.2, null, null]);
  });

  it('hold each type to the fastest of its peers by turns, and show the others', () => {
    const own = [us('BF16/tessera/uniform/64', 100), us('INT8/tessera/uniform/64', 100)];
    const turnWith = (...peer: NativeResult[]): Turn => ({ own, peer });
    const turns = [
      turnWith(
        us('BF16/transformers eager/uniform/64', 111),
        us('BF16/transformers grouped_mm/uniform/64', 200),
        us('BF16/transformers eager/Zipf/64', 1),
      ),
      turnWith(
        us('BF16/llama.cpp bf16/uniform/64', 400),
        us('INT8/llama.cpp q8_0/uniform/64', 125),
      ),
      {
        own: [us('BF16/tessera/uniform/576', 100)],
        peer: [us('BF16/transformers eager/uniform/576', 100)],
      },
    ];
    expect(verdicts([], turns)).toEqual({
      'BF16/uniform/64, by turns to transformers eager': [100 / 111, 0.9, false],
      'BF16/uniform/64, by turns to llama.cpp bf16': [0.25, null, null],
      'INT8/uniform/64, by turns to llama.cpp q8_0': [0.8, 0.9, true],
      'BF16/uniform/576, by turns to transformers eager': [1, 1, true],
    });
  });

  it('take the median of the ratios of turns, not the ratio of medians', () => {
    const turn = (own: number, peer: number): Turn => ({
      own: [us('INT8/tessera/Zipf/1', own)],
      peer: [us('INT8/llama.cpp q8_0/Zipf/1', peer)],
    });
    const shown = verdicts([], [turn(10, 20), turn(30, 50), turn(40, 20)]);
    expect(shown['INT8/Zipf/1, by turns to llama.cpp q8_0']).toEqual([0.6, 0.9, true]);
  });

  it('have nothing of a peer that is absent', () => {
    const shown = Object.keys(verdicts(layer('uniform', 16, 100)));
    expect(shown.filter((name) => name.includes('transformers'))).toEqual([]);
  });

  it('are of the median of the rounds', () => {
    const rounds = [us('a', 10), us('b', 5), us('a', 40), us('b', 5), us('a', 20)];
    expect(medians(rounds)).toEqual([us('a', 20), us('b', 5)]);
  });
});
