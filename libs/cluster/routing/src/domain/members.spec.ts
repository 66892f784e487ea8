import { expect, it } from 'vitest';
import { isSameMembers, parseMembers } from './members.js';

it('reads nodes with their addresses and weights, in the order of their names', () => {
  expect(parseMembers('b=h:2/h:3*4, a=[::1]:5/h:6')).toEqual([
    { name: 'a', grpc: '[::1]:5', http: 'h:6', weight: 1 },
    { name: 'b', grpc: 'h:2', http: 'h:3', weight: 4 },
  ]);
  expect(parseMembers('')).toEqual([]);
});

it.each([
  ['a=h:1/h:2,a=h:3/h:4', 'each name and address once, got name a twice'],
  ['a=h:1/h:2,b=h:1/h:3', 'each name and address once, got address h:1 twice'],
  ['a=h:1/h:2,b=h:3/h:2', 'each name and address once, got address h:2 twice'],
  ['a', 'NAME=GRPC_HOST:PORT/HTTP_HOST:PORT'],
  ['a=h/h:2', 'HOST:PORT, got h'],
  ['a=h:70000/h:2', 'HOST:PORT, got h:70000'],
  ['a=h:1/h:2*0', 'a weight of 1..1000 for a, got 0'],
  [Array.from({ length: 1001 }, (_, n) => `n${n}=h${n}:1/g${n}:1`).join(), 'at most 1000 nodes'],
])('refuses %.40s', (text, message) => {
  expect(() => parseMembers(text)).toThrow(message);
});

it('knows the same members in another order', () => {
  const [a, b] = parseMembers('a=h:1/h:2,b=h:3/h:4') as [never, never];
  expect(isSameMembers([a, b], [b, a])).toBe(true);
  expect(isSameMembers([a, b], [a])).toBe(false);
  expect(isSameMembers([a], parseMembers('a=h:1/h:2*2'))).toBe(false);
});
