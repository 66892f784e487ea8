import { beforeEach, expect, it } from 'vitest';
import { UserErasure } from './user-erasure.js';

const erased: string[] = [];
beforeEach(() => {
  erased.length = 0;
});
const note = (what: string) => async (userId: string) => {
  erased.push(`${what} of ${userId}`);
};
const parts = {
  behaviours: { erase: async (userId: string) => note('behaviours')(userId).then(() => true) },
  follower: { erase: note('keys and values') },
  eraseRecalls: async (userId: string) => note('recalls')(userId).then(() => 3),
  nowMs: () => 0,
};

it('takes away what is derived after what it is derived from', async () => {
  expect(await new UserErasure(parts).erase('7')).toEqual({ known: true, recalls: 3 });
  expect(erased).toEqual(['behaviours of 7', 'keys and values of 7', 'recalls of 7']);
});

it('has no recalls to take away where none are recorded', async () => {
  const { eraseRecalls: _, ...rest } = parts;
  expect(await new UserErasure(rest).erase('7')).toEqual({ known: true, recalls: 0 });
});
