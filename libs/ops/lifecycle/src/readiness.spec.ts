import { expect, it, vi } from 'vitest';
import type { ConditionState } from './conditions.js';
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
  expect(readiness.description).toBe('failed: the weights are of no model');
  expect(new Set(seen)).toEqual(new Set(['ready', 'failed']));
});

it('drains after a failure, and a failure does not end a drain', () => {
  const { readiness, seen } = watched();
  readiness.fail('why');
  readiness.set('draining');
  readiness.fail('again');
  expect(seen).toEqual(['failed', 'draining']);
  expect(readiness.description).toBe('draining');
});

it('is not ready while a needed condition is down, names it, and is ready again after it', () => {
  const { readiness, seen } = watched();
  let state: ConditionState = 'ok';
  const reason = () => (state === 'ok' ? '' : 'no space left on the device');
  const read = () => ({ state, reason: reason() });
  readiness.conditions.add({ name: 'changes', kind: 'store', isNeeded: true, read });
  readiness.conditions.add({
    name: 'kafka',
    kind: 'dependency',
    isNeeded: false,
    read: () => ({ state: 'down', reason: 'no broker answers' }),
  });
  readiness.started();
  expect([readiness.ready, readiness.reason]).toEqual([true, '']);
  vi.useFakeTimers();
  const end = readiness.watchConditions();
  state = 'down';
  vi.advanceTimersByTime(1000);
  expect([readiness.ready, readiness.reason]).toEqual([
    false,
    'changes: no space left on the device',
  ]);
  state = 'degraded';
  vi.advanceTimersByTime(1000);
  end();
  vi.useRealTimers();
  expect(readiness.ready).toBe(true);
  expect(seen).toEqual(['ready', 'ready', 'ready']);
});

it('refuses two conditions of one name', () => {
  const { readiness } = watched();
  const source = { name: 'kv', kind: 'store', isNeeded: false } as const;
  const add = () =>
    readiness.conditions.add({ ...source, read: () => ({ state: 'ok', reason: '' }) });
  add();
  expect(add).toThrow("condition 'kv' exists already");
});
