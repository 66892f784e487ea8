import { afterEach, describe, expect, it, vi } from 'vitest';
import { CallDeadlines } from './call-deadlines.js';

afterEach(() => vi.useRealTimers());

describe('deadlines of calls', () => {
  it('pass, also those that lie in the past when they are added', () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    let now = 1000;
    const deadlines = new CallDeadlines(() => now);
    const passed: string[] = [];
    const add = (name: string, atMs: number) => deadlines.add(atMs, () => passed.push(name));
    const tick = (ms: number) => {
      now += ms;
      vi.advanceTimersByTime(ms);
    };
    add('first of all, and past', now - 500);
    add('later', now + 100);
    tick(24);
    expect(passed).toEqual(['first of all, and past']);
    for (const ago of [0, 1, 8, 500]) add(`${ago} ms ago`, now - ago);
    add('taken back', now - 1)();
    tick(24);
    expect(passed.slice(1)).toEqual(['0 ms ago', '1 ms ago', '8 ms ago', '500 ms ago']);
    tick(100);
    expect(passed.at(-1)).toBe('later');
    expect(vi.getTimerCount()).toBe(0);
  });
});
