import { expect, it } from 'vitest';
import { requestsOf, targetOf } from './asked-outcomes.js';

it('reads what is another one, and refuses the rest by name', () => {
  expect(targetOf('adapter=B, temperature=1.5')).toEqual({ adapter: 'B', temperature: 1.5 });
  expect(targetOf('valuation=none')).toEqual({ valuation: 'none' });
  for (const wrong of ['', 'adapter', 'adapter=', 'bid=2', 'temperature=1e-9', 'temperature=x']) {
    expect(() => targetOf(wrong), wrong).toThrow(/^what: expected/);
  }
  const twice = 'temperature=1,temperature=2';
  expect(() => targetOf(twice)).toThrow(`what: expected each name once, got ${twice}`);
});

it('asks a recorded recall again with what it saw, drawing only for a temperature', () => {
  const request = {
    requestId: 'q',
    userId: 'u',
    profile: {},
    scene: { page: 'a' },
    resultCount: 5,
    widths: [],
    itemsPerSid: 0,
    skipUnknownItems: false,
    explore: { slots: 2, seed: 7 },
    valuation: { name: 'ecpm', weights: { bid: 2 } },
  };
  const answer = {
    versions: { adapter: '' },
    history: [{ itemId: 'seen', sid: [1], action: '', time: 0 }],
    profile: { age: '30' },
  };
  const of = (what: string, id = 'r') =>
    requestsOf({ id, request, answer: answer as never }, targetOf(what));
  const [plain, ...others] = of('adapter=B');
  expect(others).toEqual([]);
  expect(plain).toMatchObject({
    history: ['seen'],
    profile: { age: '30' },
    scene: { page: 'a' },
    adapter: 'B',
    valuation: request.valuation,
    scoreNorm: 'allowed',
  });
  expect(plain).not.toHaveProperty('userId');
  expect(plain).not.toHaveProperty('explore');
  expect(of('valuation=none')[0]).not.toHaveProperty('valuation');
  expect(of('valuation=other')[0]?.valuation).toEqual({ name: 'other', weights: {} });
  const drawn = of('temperature=2');
  const seeds = [...drawn, ...of('temperature=2', 'other')].map(({ explore }) => explore?.seed);
  expect(new Set(seeds).size).toBe(16);
  expect(of('temperature=2')).toEqual(drawn);
  expect(drawn[0]).toMatchObject({ adapter: 'base', explore: { slots: 2, temperature: 2 } });
});
