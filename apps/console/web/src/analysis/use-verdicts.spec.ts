import { expect, it } from 'vitest';
import type { ExplainAnswer } from '../../../src/api-types.js';
import { NO_VERDICTS, withVerdict } from './use-verdicts.js';

it('counts verdicts, and the steps of those that were given up', () => {
  const answers = [
    { verdict: 'pruned', step: 2 },
    { verdict: 'returned' },
    { verdict: 'pruned', step: 0 },
    { verdict: 'pruned', step: 2 },
  ] as unknown as ExplainAnswer[];
  expect(answers.reduce(withVerdict, NO_VERDICTS)).toEqual({
    asked: 4,
    failed: 0,
    counts: { pruned: 3, returned: 1 },
    steps: { 1: 1, 3: 2 },
  });
});
