import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { requestStream } from './request-stream.js';

it('hands over in order what arrived before and while its handler began to listen', async () => {
  const { subject, next, complete } = requestStream();
  next(1);
  const stream = subject.asObservable() as ReturnType<typeof subject.asObservable> & {
    drainBuffer(): void;
  };
  stream.drainBuffer();
  const seen: unknown[] = [];
  stream.subscribe({ next: (one) => seen.push(one), complete: () => seen.push('end') });
  next(2);
  await turn();
  next(3);
  complete();
  expect(seen).toEqual([1, 2, 3, 'end']);
});

it('keeps an end that arrived before anybody listened', async () => {
  const { subject, next, complete } = requestStream();
  next(1);
  complete();
  const stream = subject.asObservable() as ReturnType<typeof subject.asObservable> & {
    drainBuffer(): void;
  };
  const seen: unknown[] = [];
  stream.drainBuffer();
  stream.subscribe({ next: (one) => seen.push(one), complete: () => seen.push('end') });
  await turn();
  expect(seen).toEqual([1, 'end']);
});
