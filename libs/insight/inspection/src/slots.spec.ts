import { expect, it } from 'vitest';
import { Slots } from './process/slots.js';

const PATIENCE_MS = 2 ** 30;
const turn = () => new Promise(setImmediate);

/** Takes a place and notes that it has it. */
function people(rules: { countMax: number; ownMax: number; waitMs?: number }) {
  const slots = new Slots({ waitMs: PATIENCE_MS, ...rules });
  const inside: string[] = [];
  const enter = (name: string, signal?: AbortSignal) =>
    slots.take(name.slice(0, 1), signal).then((leave) => {
      inside.push(name);
      return leave;
    });
  return { enter, inside };
}

it('one person never has all places, whoever came first', async () => {
  const { enter, inside } = people({ countMax: 3, ownMax: 2 });
  const asked = ['a1', 'a2', 'a3', 'b1', 'c1'].map((name) => enter(name));
  await turn();
  expect(inside).toEqual(['a1', 'a2', 'b1']);
  (await asked[3])?.();
  await turn();
  expect(inside).toEqual(['a1', 'a2', 'b1', 'c1']);
  (await asked[0])?.();
  await turn();
  expect(inside).toEqual(['a1', 'a2', 'b1', 'c1', 'a3']);
});

it('who waits too long is told when to come again, and who goes leaves no gap', async () => {
  const { enter, inside } = people({ countMax: 1, ownMax: 1, waitMs: 5 });
  const leave = await enter('a1');
  await expect(enter('b1')).rejects.toMatchObject({ code: 'OPERATION_BUSY', retryAfterMs: 1000 });
  const gone = new AbortController();
  const waits = enter('c1', gone.signal);
  gone.abort();
  await expect(waits).rejects.toMatchObject({ code: 'CANCELLED' });
  leave();
  await enter('d1');
  expect(inside).toEqual(['a1', 'd1']);
});
