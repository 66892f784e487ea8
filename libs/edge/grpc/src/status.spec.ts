import type { Metadata } from '@grpc/grpc-js';
import { TesseraError } from '@tessera/errors';
import { expect, it } from 'vitest';
import { grpcStatus } from './status.js';

/** Without google.rpc's details, which are bytes. */
function textsOf(metadata: Metadata | undefined) {
  const entries = Object.entries(metadata?.getMap() ?? {});
  return Object.fromEntries(entries.filter(([name]) => !name.endsWith('-bin')));
}

it('says when to come again in our words and in those that gRPC retries read', () => {
  const { metadata } = grpcStatus(
    new TesseraError('ENGINE_OVERLOADED', 'later', { retryAfterMs: 40 }),
  );
  expect(textsOf(metadata)).toEqual({
    'tessera-code': 'ENGINE_OVERLOADED',
    'tessera-retry-after-ms': '40',
    'grpc-retry-pushback-ms': '40',
  });
  const final = grpcStatus(new TesseraError('REQUEST_INVALID', 'never', { field: 'widths' }));
  expect(textsOf(final.metadata)).toEqual({
    'tessera-code': 'REQUEST_INVALID',
    'tessera-field': 'widths',
  });
});
