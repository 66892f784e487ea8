import { describe, expect, it } from 'vitest';
import { logitError, pathAgreement } from './agreement.js';

const paths = (...scores: [number, number][]) => ({
  paths: scores.map(([code, score]) => ({ sid: [code], score })),
});

describe('agreement of two answers', () => {
  it('counts the paths that both have and takes the largest difference of their scores', () => {
    const found = pathAgreement(
      paths([1, -1], [2, -2.5], [9, -3]),
      paths([1, -1], [2, -2], [3, -3]),
    );
    expect(found?.overlap).toBeCloseTo(2 / 3);
    expect(found?.scoreError).toBeCloseTo(0.5);
  });

  it('looks at the first fifty paths alone', () => {
    const many = Array.from({ length: 60 }, (_, at): [number, number] => [at, -at]);
    const swapped = many.map(([code, score]): [number, number] => [(code + 30) % 60, score]);
    expect(pathAgreement(paths(...swapped), paths(...many))?.overlap).toBeCloseTo(40 / 50);
  });

  it('is absent where an answer has no paths', () => {
    expect(pathAgreement({ totalMs: 1 }, paths([1, -1]))).toBeUndefined();
  });

  it('compares logits as log-probabilities, so that a constant added to all is no error', () => {
    const error = logitError({ firstLogits: [1, 2, 3] }, { firstLogits: [11, 12, 13] });
    expect(error).toBeCloseTo(0, 12);
    expect(logitError({ firstLogits: [0, 0] }, { firstLogits: [0, Math.log(3)] })).toBeCloseTo(
      Math.log(2),
    );
  });
});
