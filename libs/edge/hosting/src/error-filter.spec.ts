import { TesseraError } from '@tessera/errors';
import type { FastifyReply } from 'fastify';
import { afterEach, expect, it, vi } from 'vitest';
import { answerError } from './error-filter.js';

afterEach(() => vi.useRealTimers());

const LOG = { error: () => undefined };

function replyInto(answered: number[]): FastifyReply {
  const reply = {
    raw: { destroyed: false },
    sent: false,
    header: () => reply,
    status: (code: number) => {
      answered.push(code);
      return reply;
    },
    send: () => reply,
  };
  return reply as never;
}

it('answers at once, and those who find an operation busy after a pause', () => {
  vi.useFakeTimers();
  const answered: number[] = [];
  answerError(new TesseraError('OPERATION_BUSY', 'no'), replyInto(answered), LOG);
  answerError(new TesseraError('REQUEST_INVALID', 'no'), replyInto(answered), LOG);
  expect(answered).toEqual([400]);
  vi.advanceTimersByTime(249);
  expect(answered).toEqual([400]);
  vi.advanceTimersByTime(1);
  expect(answered).toEqual([400, 429]);
});

it('answers nobody who went away in the pause', () => {
  vi.useFakeTimers();
  const answered: number[] = [];
  const reply = replyInto(answered);
  answerError(new TesseraError('OPERATION_BUSY', 'no'), reply, LOG);
  reply.raw.destroyed = true;
  vi.advanceTimersByTime(1000);
  expect(answered).toEqual([]);
});
