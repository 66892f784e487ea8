import { describe, expect, it } from 'vitest';
import { CARD_SHAPES, CUDA_STAGES, planLines, planOf } from './plan.js';

const full = planOf({ quick: false, stages: CUDA_STAGES, shapes: CARD_SHAPES, cache: 'kept' });

describe('plan of a run on a card', () => {
  it('sets the recalls of the published shape against each published figure', () => {
    const published = full
      .filter(({ name }) => name === 'recall-qwen3-1.7b')
      .flatMap(({ measures }) => measures.map((one) => [one.what, one.published?.value]));
    expect(published).toEqual([
      ['qwen3-1.7b: 1 recalls of a context of 1000, beam 256', 17.6],
      ['qwen3-1.7b: 8 recalls of a context of 1000, beam 256', 93.2],
      ['qwen3-1.7b: 1 recalls of a context of 5000, beam 256', 42.3],
      ['qwen3-1.7b: 4 recalls of a context of 5000, beam 256', 154.2],
      ['qwen3-1.7b: 8 recalls of a context of 5000, beam 256', 307.9],
    ]);
  });

  it('sets no other shape against figures of that one', () => {
    const others = full.filter(({ name }) => /^(recall|load)-qwen3-0\.6b$/.test(name));
    expect(others.length).toBe(2);
    const measures = others.flatMap((task) => task.measures);
    expect(measures.every(({ published }) => published === undefined)).toBe(true);
  });

  it('gives every run a name of its own, which is a file', () => {
    const names = full.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.every((name) => /^[\w.-]+$/.test(name))).toBe(true);
  });

  it('runs the peers on the catalogue and weights that card_bench has drawn', () => {
    const words = full.filter(({ stage }) => stage === 'peers').map((task) => task.words);
    expect(words[1]).toEqual([
      ...['bench/peers/sparse_constraint_peer.py', 'time'],
      ...['kept/card-catalogue-10000000-8192-1/sids.u16', '3', '8192', 'cuda'],
      ...['70,128,256,512', '15'],
    ]);
    expect(words[2]?.slice(1, 3)).toEqual([
      'kept/card-qwen3-1.7b-1',
      'kept/card-catalogue-1000000-8192-1/sids.u16',
    ]);
  });

  it('has the stages and shapes that were asked for, in smaller sizes where it is quick', () => {
    const quick = planOf({
      quick: true,
      stages: ['constraint'],
      shapes: ['qwen3-0.6b'],
      cache: 'kept',
    });
    expect(planLines(quick)).toEqual([
      'constraint: card_bench constraint --items 1000000 --widths 70,256 --rounds 5 --cache kept',
      ...[70, 256].map(
        (width) =>
          `  step and export, 1000000 SIDs of 3 x 8192, ${width} beams; published: ` +
          '0.033 ms (TPU v6e, model of 3B, 20 million items, beam 70: 0.25 % of an inference; ' +
          'STATIC, youtube/static-constraint-decoding)',
      ),
    ]);
  });
});
