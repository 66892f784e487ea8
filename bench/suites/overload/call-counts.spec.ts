import { describe, expect, it } from 'vitest';
import { countOf, noOutcome, takenOf, totalOf } from './call-counts.js';
import { CANCELLED_BY_CALLER } from './grpc-connection.js';

const SENT = { ms: 5, timeoutMs: 100, leftMs: 100 };

describe('what becomes of a call', () => {
  it('is good in time and late behind its deadline', () => {
    expect(countOf({ status: 0 }, SENT)).toBe('good');
    expect(countOf({ status: 0 }, { ms: 101, timeoutMs: 100, leftMs: 100 })).toBe('late');
  });

  it.each([
    ['RESOURCE_EXHAUSTED', { status: 8 }],
    ['UNAVAILABLE', { status: 14 }],
    ['a stream that the transport refuses', { reset: 7 }],
  ])('is a refusal by %s', (_name, end) => {
    expect(countOf(end, SENT)).toBe('refused');
  });

  it('is broken by another reset and by a lost connection', () => {
    expect(countOf({ reset: 2 }, SENT)).toBe('broken');
    expect(countOf({ lost: true }, SENT)).toBe('broken');
  });

  it('is expired at the caller where it was never sent', () => {
    const end = { status: CANCELLED_BY_CALLER };
    expect(countOf(end, { ms: 100, timeoutMs: 100, leftMs: 0 })).toBe('unsent');
    expect(countOf(end, { ms: 100, timeoutMs: 100, leftMs: 100 })).toBe('timedOut');
  });

  it('is expired at the caller where its client sent it when no refusal could come in time', () => {
    const late = { ms: 99, timeoutMs: 100, leftMs: 5 };
    expect(countOf({ status: 8 }, late)).toBe('unsent');
    expect(countOf({ status: 4 }, late)).toBe('unsent');
    expect(countOf({ status: 0 }, late)).toBe('good');
  });

  it('is expired where the service says so, and other by any other status', () => {
    expect(countOf({ status: 4 }, SENT)).toBe('expired');
    expect(countOf({ status: 13 }, SENT)).toBe('other');
  });
});

it('takes for taken what was sent and not refused, recalls and writes alike', () => {
  const recalls = Object.assign(noOutcome(), { offered: 10, good: 4, refused: 3, unsent: 2 });
  const writes = Object.assign(noOutcome(), { offered: 5, good: 4, timedOut: 1 });
  const outcome = { byPriority: { 1: recalls, 2: noOutcome() }, writes };
  expect(totalOf(outcome, 'offered')).toBe(15);
  expect(takenOf(outcome)).toBe(10);
});
