import { expect, it } from 'vitest';
import { hedged } from './hedged.js';

const NEVER_MS = 1e9;
const silent = (signal: AbortSignal) =>
  new Promise<string>((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')));
  });
const failing = (message: string) => async (): Promise<string> => {
  throw new Error(message);
};

it('asks the next one where the first says nothing, and aborts the first', async () => {
  let isAborted = false;
  const first = (signal: AbortSignal) => {
    signal.addEventListener('abort', () => {
      isAborted = true;
    });
    return silent(signal);
  };
  expect(await hedged([first, async () => 'b'], 1)).toEqual({ answer: 'b', place: 1 });
  expect(isAborted).toBe(true);
});

it('asks the next one at once where one fails, and nobody behind an answer', async () => {
  const third = async () => {
    throw new Error('nobody asks the third');
  };
  const asks = [failing('one'), async () => 'b', third];
  expect(await hedged(asks, NEVER_MS)).toEqual({ answer: 'b', place: 1 });
});

it('fails with the last failure where none answers', async () => {
  await expect(hedged([failing('one'), failing('two')], NEVER_MS)).rejects.toThrow('two');
  let fail = () => {};
  const late = () =>
    new Promise<string>((_, reject) => {
      fail = () => reject(new Error('late'));
    });
  const second = async (): Promise<string> => {
    setImmediate(() => fail());
    throw new Error('second');
  };
  await expect(hedged([late, second], 1)).rejects.toThrow('late');
});
