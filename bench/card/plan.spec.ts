import { describe, expect, it } from 'vitest';
import { planLines, planOf } from './plan.js';

const plan = planOf('kept');

describe('plan of what is measured on a card', () => {
  it('sets the recalls of the published shape against each published figure', () => {
    const published = plan
      .filter(({ name }) => name === 'recall-qwen3-1.7b')
      .flatMap(({ measures }) => measures.map((one) => [one.what, one.published?.value]));
    expect(published).toEqual([
      ['qwen3-1.7b: 1 recalls of a context of 1000, beam 256', 17.6],
      ['qwen3-1.7b: 8 recalls of a context of 1000, beam 256', 93.2],
      ['qwen3-1.7b: 1 recalls of a context of 5000, beam 256', 42.3],
      ['qwen3-1.7b: 4 recalls of a context of 5000, beam 256', 154.2],
      ['qwen3-1.7b: 8 recalls of a context of 5000, beam 256', 307.9],
    ]);
    expect(planLines(plan)).toContain(
      '  qwen3-1.7b: 8 recalls of a context of 5000, beam 256; published: 307.9 ms ' +
        '(one H100 80 GB, Qwen3-1.7B shape, BF16, beam 256, 3 tokens a SID; ' +
        'NVIDIA recsys-examples, examples/sid-gr-inference)',
    );
  });

  it('sets no other shape against figures of that one', () => {
    const others = plan.filter(({ name }) => /^(recall|load)-qwen3-0\.6b$/.test(name));
    expect(others.length).toBe(2);
    const measures = others.flatMap((task) => task.measures);
    expect(measures.every(({ published }) => published === undefined)).toBe(true);
  });

  it('gives every run a name of its own', () => {
    const names = plan.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  it('runs the peers on the catalogue and weights that card_bench has drawn', () => {
    const words = plan.find(({ name }) => name === 'transformers-loop-qwen3-1.7b')?.words;
    expect(words?.slice(1, 3)).toEqual([
      'kept/card-qwen3-1.7b-1',
      'kept/card-catalogue-1000000-8192-1/sids.u16',
    ]);
  });
});
