import { expect, it } from 'vitest';
import { PredictedWork } from './predicted-work.js';

it('does what it has as time goes by, the oldest first', () => {
  const work = new PredictedWork();
  const endFirst = work.begin(4000, 100);
  const endSecond = work.begin(2000, 100);
  expect(work.backlogUs(103)).toBe(3000);
  endSecond(103);
  expect(work.backlogUs(103)).toBe(1000);
  endFirst(103);
  expect(work.backlogUs(103)).toBe(0);
});

it('has nothing left of a part that takes longer than predicted', () => {
  const work = new PredictedWork();
  const end = work.begin(1000, 0);
  expect(work.backlogUs(50)).toBe(0);
  end(60);
  expect(work.backlogUs(60)).toBe(0);
});

it('adds what the node has beyond its own', () => {
  const work = new PredictedWork();
  work.begin(2000, 0);
  work.state(5000, 0);
  expect(work.backlogUs(0)).toBe(5000);
  expect(work.backlogUs(3)).toBe(2000);
  work.state(0, 3);
  expect(work.backlogUs(3)).toBe(0);
});
