import { describe, expect, it } from 'vitest';
import { maskedLists, parseLists } from './lists.js';
import { describeSystems, difference, sideBySide } from './side-by-side.js';

const line = (row: unknown) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`;
const parse = (...rows: unknown[]) => parseLists(rows.map(line).join(''), 'lists.jsonl');

describe('lists of other systems', () => {
  it('are one of each user and system, with numbers as IDs', () => {
    const systems = parse(
      { system: 'SASRec', user: 'a', items: ['x', 7] },
      '',
      { system: 'HSTU', user: 'a', items: [] },
      { system: 'SASRec', user: 5, items: ['y'] },
    );
    expect([...systems.keys()]).toEqual(['SASRec', 'HSTU']);
    expect(systems.get('SASRec')).toEqual(
      new Map([
        ['a', ['x', '7']],
        ['5', ['y']],
      ]),
    );
  });

  it.each([
    ['{"system"', 'lines[2]: expected JSON, got '],
    [[], 'lines[2]: expected an object, got an array'],
    [{ system: 'S', user: 'a', list: [] }, "the keys system, user, items, got 'list'"],
    [{ system: 7, user: 'a', items: [] }, 'lines[2].system: expected a string, got 7'],
    [{ system: ' ', user: 'a', items: [] }, 'lines[2].system: expected an ID that is not blank'],
    [{ system: 'S', items: [] }, 'lines[2].user: expected a string or an integer, got undefined'],
    [{ system: 'S', user: 'a' }, 'lines[2].items: expected an array of item IDs, got undefined'],
    [{ system: 'S', user: 'a', items: ['x', null] }, 'lines[2].items[1]: expected a string or an'],
    [
      { system: 'S', user: 'a', items: ['x', '1', 1] },
      "lines[2].items[2]: expected each item once, got '1' of lines[2].items[1] again",
    ],
    [
      { system: 'S', user: 'z', items: [] },
      "lines[2].user: expected one list of S for each user, got another of 'z'",
    ],
    [
      { system: 'S', user: 'a', items: Array.from({ length: 10_001 }, (_, i) => i) },
      'lines[2].items: expected at most 10000 items, got 10001',
    ],
  ])('name the line and the member at fault: %j', (row, message) => {
    expect(() => parse({ system: 'S', user: 'z', items: ['x'] }, row)).toThrow(message);
  });

  it('are not none', () => {
    expect(() => parse('')).toThrow('lists.jsonl: expected a list of a user, got none');
  });
});

const CASES = [
  { userId: 'a', history: ['h'], target: 't' },
  { userId: 'b', history: ['i'], target: 'h' },
  { userId: 'c', history: ['i'], target: 'i' },
];
const GIVEN = new Map([
  ['a', ['gone', 'h', 't']],
  ['c', ['i']],
  ['stranger', ['t']],
]);
const UNKNOWN = new Set(['gone']);

describe('a row beside ours', () => {
  it('has the users that are asked, and what the service could have answered', () => {
    const counts = { usersWithout: 1, otherUsers: 1, unknownItems: 1 };
    expect(maskedLists(GIVEN, CASES, UNKNOWN, false)).toEqual({
      lists: [['h', 't'], [], ['i']],
      ...counts,
    });
    expect(maskedLists(GIVEN, CASES, UNKNOWN, true)).toEqual({ lists: [['t'], [], []], ...counts });
  });

  it('has the figures of its lists, and how far they are from ours', () => {
    const judged = { cases: CASES, unknown: UNKNOWN, catalogueItems: 4, isUnseen: false };
    const [row, ...more] = sideBySide(new Map([['S', GIVEN]]), [1, 20, null], judged);
    expect(more).toEqual([]);
    expect(row?.recall[10]).toBeCloseTo(2 / 3, 12);
    expect(row?.ndcg[10]).toBeCloseTo((1 / Math.log2(3) + 1) / 3, 12);
    expect(row).toMatchObject({ coverage: 3 / 4, coldUsers: 1, usersWithout: 1 });
    expect(row?.minusOurs.mean).toBeCloseTo(1 / 3, 12);
    if (row === undefined) return;
    const text = describeSystems({ ...row, system: 'ours' }, [row]).split('\n');
    expect(text[0]).toMatch(/^system +Recall@5 +NDCG@5 +Recall@10 +NDCG@10 +Recall@10 - ours/);
    expect(text[1]).toMatch(/^ours +0\.6667 \(0\.2077 to 0\.9385\)/);
    expect(text[2]).toMatch(/^S .* 0\.3333 \(-0\.2001 to 0\.8668\) +75\.0 % .* 1 +1 +1$/);
  });

  it('differs by nothing from itself', () => {
    expect(difference([1, null, 11], [10, null, 12])).toEqual({ mean: 0, low: 0, high: 0 });
  });
});
