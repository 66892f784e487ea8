import { TesseraError } from '@tessera/errors';
import { expect, it } from 'vitest';
import { protoPath, statusDetails } from './status-details.js';

it('writes the bytes that the messages of googleapis-common-protos 1.76 have', () => {
  const error = new TesseraError('REQUEST_INVALID', 'expected X, got Y', {
    field: 'itemPolicy.scene.userId',
    retryAfterMs: 1250,
  });
  const ofPython =
    'CAMSEWV4cGVjdGVkIFgsIGdvdCBZGloKKHR5cGUuZ29vZ2xlYXBpcy5jb20vZ29vZ2xlLnJwYy5FcnJvckluZm8SLgoP' +
    'UkVRVUVTVF9JTlZBTElEEgd0ZXNzZXJhGhIKCXJldHJ5YWJsZRIFZmFsc2UaXAopdHlwZS5nb29nbGVhcGlzLmNvbS9n' +
    'b29nbGUucnBjLkJhZFJlcXVlc3QSLwotChhpdGVtX3BvbGljeS5zY2VuZS51c2VySWQSEWV4cGVjdGVkIFgsIGdvdCBZ' +
    'GjUKKHR5cGUuZ29vZ2xlYXBpcy5jb20vZ29vZ2xlLnJwYy5SZXRyeUluZm8SCQoHCAEQgOWadw==';
  expect(statusDetails(error).toString('base64')).toBe(ofPython);
});

it.each([
  ['userId', 'user_id'],
  ['eligibility.all[0].itemIds', 'eligibility.all[0].item_ids'],
  ['scene.userId', 'scene.userId'],
  ['changes[7].upsert.itemId', 'changes[7].upsert.item_id'],
  ['what.nobody.knowsOf', 'what.nobody.knowsOf'],
])('spells %s as the proto files do', (path, written) => {
  expect(protoPath(path)).toBe(written);
});

it('keeps what a client takes of headers, whatever the length of the texts', () => {
  const long = 'x'.repeat(100_000);
  const error = new TesseraError('REQUEST_INVALID', long, { field: long });
  expect(statusDetails(error).length).toBeLessThan(4096);
});
