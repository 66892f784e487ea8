import { expecting, shown } from '@tessera/errors';
import { describe, expect, it } from 'vitest';

const invalid = expecting('REQUEST_INVALID');

describe('a refusal', () => {
  it('says field, expectation and what was given, and names the field', () => {
    const error = invalid('widths[1]', '1..64', 0);
    expect(error).toMatchObject({ code: 'REQUEST_INVALID', field: 'widths[1]' });
    expect(error.message).toBe('widths[1]: expected 1..64, got 0');
  });

  it('shows texts as they are, values as JSON, and what is not there as nothing', () => {
    expect(invalid('a', 'b', "'text'").message).toBe("a: expected b, got 'text'");
    expect(invalid('a', 'b', ['text', null]).message).toBe('a: expected b, got ["text",null]');
    expect(invalid('a', 'b', undefined).message).toBe('a: expected b, got nothing');
    expect(shown('text')).toBe('"text"');
  });

  it('bounds what a caller can write into a log', () => {
    const { message } = invalid('a', 'b', 'x'.repeat(10_000));
    expect(message).toBe(`a: expected b, got ${'x'.repeat(120)}...`);
  });

  it('keeps its cause', () => {
    const cause = new RangeError('far');
    expect(invalid('a', 'b', 1, cause).cause).toBe(cause);
  });
});
