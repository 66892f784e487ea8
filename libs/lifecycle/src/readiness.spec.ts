import { expect, it } from 'vitest';
import { Readiness, type ReadinessState } from './readiness.js';

function watched(): { readonly readiness: Readiness; readonly seen: ReadinessState[] } {
  const readiness = new Readiness();
  const seen: ReadinessState[] = [];
  readiness.onChange((state) => seen.push(state));
  return { readiness, seen };
}

it('is not ready any more once it has failed, and keeps the first reason', () => {
  const { readiness, seen } = watched();
  readiness.started();
  readiness.fail('the weights are of no model');
  readiness.fail('another');
  readiness.started();
  expect(readiness.ready).toBe(false);
  expect(readiness.told).toBe('failed: the weights are of no model');
  expect(new Set(seen)).toEqual(new Set(['ready', 'failed']));
});

it('drains after a failure, and a failure does not end a drain', () => {
  const { readiness, seen } = watched();
  readiness.fail('why');
  readiness.set('draining');
  readiness.fail('again');
  expect(seen).toEqual(['failed', 'draining']);
  expect(readiness.told).toBe('draining');
});
