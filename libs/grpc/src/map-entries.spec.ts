import { createRequire } from 'node:module';
import { protoSchema } from '@tessera/contracts';
import { expect, it } from 'vitest';
import { refuseMalformed, withMalformedMarked } from './malformed.js';
import { MAP_ENTRIES_MAX, mapFields } from './map-entries.js';

const protoLoader = createRequire(import.meta.url)(
  '@grpc/proto-loader',
) as typeof import('@grpc/proto-loader');
const definition = protoLoader.fromJSON(protoSchema as never);
const service = withMalformedMarked(definition)['tessera.recall.v1.RecallService'];
if (service === undefined || 'format' in service) throw new Error('expected a service');
const { requestType, requestSerialize, requestDeserialize } = service.Recall as NonNullable<
  (typeof service)[string]
>;

const withScene = (entries: number) =>
  requestDeserialize(
    requestSerialize({
      userId: 'ada',
      scene: Object.fromEntries(Array.from({ length: entries }, (_, i) => [`key${i}`, 'v'])),
    }),
  );

it('finds the maps of a request: profile and scene', () => {
  expect([...mapFields(requestType.type)]).toEqual([4, 5]);
});

it('decodes a message with as many entries as may be', () => {
  const message = withScene(MAP_ENTRIES_MAX) as { scene: object };
  expect(Object.keys(message.scene)).toHaveLength(MAP_ENTRIES_MAX);
  refuseMalformed(message);
});

it('refuses one with more before it is decoded', () => {
  expect(() => refuseMalformed(withScene(MAP_ENTRIES_MAX + 1))).toThrow(
    'expected a protobuf message, got maps of more than 4000 entries',
  );
});
