import { PLAIN } from '@tessera/client';
import { TesseraError } from '@tessera/errors';
import { afterAll, expect, it } from 'vitest';
import { ServedWorld } from './served-world.js';

/** No service listens on the port of `discard`. */
const served = new ServedWorld('127.0.0.1:9', PLAIN);
afterAll(() => served.close());

const question = { visit: 'v', userId: 'u', daypart: 'night', resultCount: 1, explores: true };
const change = { op: 'upsert', itemId: 'a', sid: [0], title: 'A', attributes: {} } as const;
const click = { userId: 'u', itemId: 'a', action: 'click', daypart: 'night' } as const;

it.each<[string, () => Promise<unknown>]>([
  ['items', () => served.items()],
  ['recall', () => served.recall(question)],
  ['append', () => served.append([click])],
  ['apply', () => served.apply([change])],
  ['answers', () => served.answers()],
  ['learnedUntilMs', () => served.learnedUntilMs()],
])('%s of a service that is away rejects with an error that says so', async (_name, call) => {
  const error = await call().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(TesseraError);
  expect((error as TesseraError).retryable).toBe(true);
});
