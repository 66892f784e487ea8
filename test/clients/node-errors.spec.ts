/** Errors that the client for Node makes of trailers, well-formed or not. */

import { Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { seededRandom } from '@tessera/testing';
import protobuf from 'protobufjs';
import { describe, expect, it } from 'vitest';
import { examined } from '../../clients/node/src/connection.js';
import { errorOf, TesseraError } from '../../clients/node/src/errors.js';

const DETAILS = 'grpc-status-details-bin';

/** A google.rpc.Status with an ErrorInfo whose metadata say that a repeat may help. */
function retryableDetails(): Buffer {
  const entry = protobuf.Writer.create().uint32(10).string('retryable').uint32(18).string('true');
  const info = protobuf.Writer.create().uint32(26).bytes(entry.finish()).finish();
  const any = protobuf.Writer.create()
    .uint32(10)
    .string('type.googleapis.com/google.rpc.ErrorInfo');
  const detail = any.uint32(18).bytes(info).finish();
  return Buffer.from(protobuf.Writer.create().uint32(26).bytes(detail).finish());
}

function failed(code: number, trailers: Readonly<Record<string, string | Buffer>>) {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(trailers)) metadata.set(name, value);
  return Object.assign(new Error('14'), { code, details: 'later', metadata }) as ServiceError;
}

describe('details', () => {
  it('say whether a repeat may help', () => {
    const full = failed(status.RESOURCE_EXHAUSTED, { [DETAILS]: retryableDetails() });
    expect(errorOf(full).retryable).toBe(true);
  });

  it('that are cut off, changed or drawn leave what the status says', () => {
    const seed = 3;
    const random = seededRandom(seed);
    const whole = retryableDetails();
    for (let round = 0; round < 500; round += 1) {
      const bytes = Buffer.from(whole.subarray(0, Math.ceil(random() * whole.length)));
      if (bytes.equals(whole)) continue;
      if (round % 2 === 1) bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
      const error = errorOf(failed(status.UNAVAILABLE, { [DETAILS]: bytes }));
      expect(error, `seed ${seed}, round ${round}`).toBeInstanceOf(TesseraError);
      expect(error.code).toBe('ENGINE_UNAVAILABLE');
    }
    const cut = failed(status.UNAVAILABLE, { [DETAILS]: whole.subarray(0, 20) });
    expect(errorOf(cut).retryable).toBe(true);
    const unknown = failed(status.UNKNOWN, { [DETAILS]: whole.subarray(0, 20) });
    expect(errorOf(unknown)).toMatchObject({ code: 'INTERNAL', retryable: false });
  });
});

describe('a hint', () => {
  it.each([
    ['40', 40],
    ['0', undefined],
    ['-5', undefined],
    ['soon', undefined],
    ['NaN', undefined],
    ['1e3', undefined],
    ['', undefined],
    ['9'.repeat(400), 86_400_000],
  ])('of %s', (text, expected) => {
    const error = errorOf(failed(status.UNAVAILABLE, { 'tessera-retry-after-ms': text }));
    expect(error.retryAfterMs).toBe(expected);
  });
});

it('a fault without a status is INTERNAL, in its own words', () => {
  const error = errorOf(new Error('Channel has been shut down'));
  expect(error).toMatchObject({ code: 'INTERNAL', details: 'Channel has been shut down' });
});

it('a port that is none, or a file that is gone, leaves the error of the transport', async () => {
  const away = errorOf(failed(status.UNAVAILABLE, {}));
  expect(await examined(away, 'localhost:99999', {}, 1000)).toBe(away);
  expect(await examined(away, 'localhost:1', { ca: 'gone.pem' }, 1000)).toBe(away);
});
