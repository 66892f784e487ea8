import { ERROR_TABLE, errorBody, TesseraError } from '@tessera/errors';
import { describe, expect, it } from 'vitest';

describe('TesseraError', () => {
  it('takes status and retryability from the one table', () => {
    const error = new TesseraError('ENGINE_OVERLOADED', 'queue is full', { retryAfterMs: 20 });
    expect(error.row).toBe(ERROR_TABLE.ENGINE_OVERLOADED);
    expect(error.retryable).toBe(true);
    expect(errorBody(error)).toEqual({
      error: {
        code: 'ENGINE_OVERLOADED',
        message: 'queue is full',
        retryable: true,
        retryAfterMs: 20,
      },
    });
  });

  it('turns an unknown throw into INTERNAL and keeps its text from the caller', () => {
    const fault = new RangeError('a secret path');
    const error = TesseraError.from(fault);
    expect(error.code).toBe('INTERNAL');
    expect(error.cause).toBe(fault);
    expect(errorBody(error).error.message).toBe('internal error');
  });

  it('names the field that is at fault', () => {
    const error = new TesseraError('REQUEST_INVALID', 'expected 1..10, got 0', {
      field: 'resultCount',
    });
    expect(errorBody(error).error.field).toBe('resultCount');
  });

  it.each(['x', 'ß', '🙂', '\ud800'])('cuts what quotes a request of many %j', (one) => {
    const message = `A bad name: ${one.repeat(20_000)}`;
    const { error } = errorBody(
      new TesseraError('REQUEST_INVALID', message, { field: `profile.${one.repeat(20_000)}` }),
    );
    for (const [text, bytes] of [
      [error.message, 2048],
      [error.field ?? '', 256],
    ] as const) {
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(bytes);
      expect(Buffer.byteLength(text)).toBeGreaterThan(bytes - 8);
      const [begin = ''] = text.split(one);
      expect(text.slice(begin.length).replaceAll(one, '')).toBe('...');
    }
  });

  it('leaves a text alone that just fits', () => {
    const message = 'ß'.repeat(1024);
    expect(errorBody(new TesseraError('REQUEST_INVALID', message)).error.message).toBe(message);
  });
});
