import { expect, it } from 'vitest';
import { isOfRole, isSameMembers, parseMembers } from './members.js';

it('reads nodes with their addresses, weights and roles, in the order of their names', () => {
  expect(parseMembers('b=h:2/h:3*4, a=[::1]:5/h:6@append, c=h:7/h:8*2@answer')).toEqual([
    { name: 'a', grpc: '[::1]:5', http: 'h:6', weight: 1, role: 'append' },
    { name: 'b', grpc: 'h:2', http: 'h:3', weight: 4, role: 'both' },
    { name: 'c', grpc: 'h:7', http: 'h:8', weight: 2, role: 'answer' },
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
  ['a=h:1/h:2@none', 'cluster.nodes: expected a role of both, answer, append for a, got none'],
  ['a=h:1/h:2@', 'a role of both, answer, append for a, got '],
  ['a=h:1/h:2@append*2', 'a role of both, answer, append for a, got append*2'],
  [Array.from({ length: 1001 }, (_, n) => `n${n}=h${n}:1/g${n}:1`).join(), 'at most 1000 nodes'],
])('refuses %.40s', (text, message) => {
  expect(() => parseMembers(text)).toThrow(message);
});

it('knows the same members in another order', () => {
  const [a, b] = parseMembers('a=h:1/h:2,b=h:3/h:4') as [never, never];
  expect(isSameMembers([a, b], [b, a])).toBe(true);
  expect(isSameMembers([a, b], [a])).toBe(false);
  expect(isSameMembers([a], parseMembers('a=h:1/h:2*2'))).toBe(false);
  expect(isSameMembers([a], parseMembers('a=h:1/h:2@append'))).toBe(false);
  expect(isSameMembers([a], [{ name: 'a', grpc: 'h:1', http: 'h:2', weight: 1 }])).toBe(true);
});

it('takes a node without a role for every call, and others for those of theirs', () => {
  const calls = [{}, ...parseMembers('a=h:1/h:2@answer,b=h:3/h:4@append,c=h:5/h:6')];
  expect(calls.map((one) => [isOfRole(one, 'answer'), isOfRole(one, 'append')])).toEqual([
    [true, true],
    [true, false],
    [false, true],
    [true, true],
  ]);
});
