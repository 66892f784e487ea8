import { createRequire } from 'node:module';
import { protoSchema } from '@tessera/contracts';
import { expect, it } from 'vitest';
import { refuseMalformed, withMalformedMarked } from './malformed.js';
import { LIST_VALUES_MAX, MAP_ENTRIES_MAX, manyFields } from './message-values.js';

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

it('finds the maps of a request, profile and scene, and its lists', () => {
  const { maps, lists } = manyFields(requestType.type);
  expect([...maps]).toEqual([4, 5]);
  // Widths, which are packed, attributes and frequency caps.
  expect([...lists]).toEqual([
    [7, 1],
    [25, 0],
    [26, 0],
  ]);
});

it.each([
  ['attributes', 'a'],
  ['widths', 5],
])('bounds %s before they are decoded', (field, value) => {
  const decoded = (count: number) =>
    requestDeserialize(requestSerialize({ userId: 'ada', [field]: Array(count).fill(value) }));
  refuseMalformed(decoded(LIST_VALUES_MAX));
  expect(() => refuseMalformed(decoded(LIST_VALUES_MAX + 1))).toThrow(
    'expected a protobuf message, got lists of more than 65536 values',
  );
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
