import { expect, it } from 'vitest';
import { clauseWords, eligibilityWords, refusalWords } from './eligibility-words.js';

it('says every kind of clause', () => {
  const cases = [
    [{ attribute: 'country', in: ['de'] }, 'country is de'],
    [{ attribute: 'country', in: ['de', 'at', 'ch'] }, 'country is de, at or ch'],
    [{ attribute: 'n', in: [1, 2, 3, 4, 5, 6, 7] }, 'n is 1, 2, 3, 4, 5 or 2 more'],
    [{ attribute: 'labels', contains: ['a', 'b'] }, 'labels has a or b'],
    [{ attribute: 'bid', min: 0.5 }, 'bid is at least 0.5'],
    [{ attribute: 'bid', max: 2 }, 'bid is at most 2'],
    [{ attribute: 'bid', min: 0, max: 2 }, 'bid is from 0 to 2'],
    [{ not: { attribute: 'x', in: ['y'] } }, 'not: x is y'],
    [{ all: [] }, 'any item'],
    [{ any: [] }, 'no item'],
    [
      {
        all: [
          { attribute: 'a', in: ['1'] },
          {
            any: [
              { attribute: 'b', in: ['2'] },
              { attribute: 'c', in: ['3'] },
            ],
          },
        ],
      },
      'a is 1 and (b is 2 or c is 3)',
    ],
    [{ later: 1 }, '{"later":1}'],
  ] as const;
  for (const [clause, words] of cases) expect(clauseWords(clause)).toBe(words);
});

it('says an eligibility with its lists', () => {
  const eligibility = {
    predicate: { attribute: 'country', in: ['at'] },
    allowed: ['1', '2'],
    denied: ['3'],
    seen: [],
  };
  expect(eligibilityWords(JSON.stringify(eligibility))).toBe(
    'country is at, among 2 items that are listed, without 1 item',
  );
  expect(eligibilityWords('{}')).toBe('every live item');
});

it('says what the item has beside what the request wants', () => {
  const text = JSON.stringify({
    predicate: {
      all: [
        { attribute: 'country', in: ['at'] },
        { not: { attribute: 'labels', contains: ['x'] } },
      ],
    },
  });
  const attributes = { country: 'us', labels: ['x', 'y'] };
  expect(refusalWords('predicate.all[0]', text, attributes)).toBe(
    "The item's country is us; the request wants: country is at.",
  );
  expect(refusalWords('predicate.all[1]', text, attributes)).toBe(
    "The item's labels is x, y; the request wants: not: labels has x.",
  );
  expect(refusalWords('predicate.all[0]', text, {})).toMatch(/^The item has no country; /);
  expect(refusalWords('predicate.all[0]', text)).toBe('The request wants: country is at.');
  expect(refusalWords('denied', text)).toContain('denies');
  expect(refusalWords('predicate.any[4]', text)).toContain('predicate.any[4]');
});
