import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Slow, whileMoving } from './while-moving.js';

const LIMITS = { stillMs: 100, mostMs: 1000 };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Work that ends when the test says so, and moves when it says so. */
function moving() {
  let bytes = 0;
  let end: (text: string) => void = () => undefined;
  const work = new Promise<string>((resolve) => {
    end = resolve;
  });
  const seen = whileMoving(LIMITS, () => bytes, work).catch((thrown: Error) => thrown);
  const pass = async (ms: number) => {
    await vi.advanceTimersByTimeAsync(ms);
    await new Promise((resolve) => setImmediate(resolve));
  };
  const move = () => {
    bytes += 1;
  };
  return { seen, end: (text: string) => end(text), pass, move };
}

it('waits for what moves, however long, and gives what it comes to', async () => {
  const { seen, end, pass, move } = moving();
  for (let turn = 0; turn < 9; turn++) {
    move();
    await pass(100);
  }
  end('all');
  expect(await seen).toBe('all');
});

it('rejects where nothing moves', async () => {
  const { seen, pass, move } = moving();
  move();
  await pass(100);
  await pass(100);
  const thrown = await seen;
  expect(thrown).toMatchObject({ message: 'nothing came within 100 ms' });
  expect(thrown).not.toBeInstanceOf(Slow);
});

it('rejects as slow where all of it takes too long', async () => {
  const { seen, pass, move } = moving();
  for (let turn = 0; turn < 10; turn++) {
    move();
    await pass(100);
  }
  expect(await seen).toBeInstanceOf(Slow);
});
