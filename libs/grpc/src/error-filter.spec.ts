import { TesseraError } from '@tessera/errors';
import { expect, it } from 'vitest';
import { grpcStatus } from './error-filter.js';

it('says when to come again in our words and in those that gRPC retries read', () => {
  const { metadata } = grpcStatus(
    new TesseraError('ENGINE_OVERLOADED', 'later', { retryAfterMs: 40 }),
  );
  expect(metadata?.getMap()).toEqual({
    'tessera-code': 'ENGINE_OVERLOADED',
    'tessera-retry-after-ms': '40',
    'grpc-retry-pushback-ms': '40',
  });
  const final = grpcStatus(new TesseraError('REQUEST_INVALID', 'never', { field: 'widths' }));
  expect(final.metadata?.getMap()).toEqual({
    'tessera-code': 'REQUEST_INVALID',
    'tessera-field': 'widths',
  });
});
