/**
 * Bounds the maps and lists of a protobuf message before it is decoded: each entry takes a hundred
 * times the time of as many bytes of text, and the whole message is built before a handler sees it.
 */

import { eachField } from './wire-fields.js';

/** Entries of the maps of a request, all together. */
export const MAP_ENTRIES_MAX = 4000;
/** Values of the lists of a request itself, all together; of a message in it those of its own. */
export const LIST_VALUES_MAX = 65_536;

interface Field {
  readonly number: number;
  readonly label: string;
  readonly type: string;
  readonly typeName: string;
}

/** A message as @grpc/proto-loader describes it, as far as it is read here. */
interface Described {
  readonly field?: readonly Field[];
  readonly nestedType?: readonly {
    readonly name: string;
    readonly field?: readonly { readonly name: string }[];
  }[];
}

/** Fields that have many values. */
export interface ManyFields {
  /** Numbers of the maps: repeated messages of a key and a value. */
  readonly maps: ReadonlySet<number>;
  /** Minimum bytes of a packed value, by number of a list; 0 where it is not packed. */
  readonly lists: ReadonlyMap<number, number>;
}

const PACKED_BYTES: Readonly<Record<string, number>> = {
  TYPE_MESSAGE: 0,
  TYPE_STRING: 0,
  TYPE_BYTES: 0,
  TYPE_FLOAT: 4,
  TYPE_FIXED32: 4,
  TYPE_SFIXED32: 4,
  TYPE_DOUBLE: 8,
  TYPE_FIXED64: 8,
  TYPE_SFIXED64: 8,
};
/** Minimum bytes of a number whose length depends on its size. */
const VARINT_BYTES = 1;

export function manyFields(type: object): ManyFields {
  const { field = [], nestedType = [] } = type as Described;
  const entries = nestedType
    .filter(({ field: members = [] }) => members.map(({ name }) => name).join() === 'key,value')
    .map(({ name }) => name);
  const repeated = field.filter(({ label }) => label === 'LABEL_REPEATED');
  const isMap = ({ typeName }: Field) => entries.includes(typeName.split('.').at(-1) ?? '');
  const lists = repeated.filter((one) => !isMap(one));
  return {
    maps: new Set(repeated.filter(isMap).map(({ number }) => number)),
    lists: new Map(lists.map(({ number, type: of }) => [number, PACKED_BYTES[of] ?? VARINT_BYTES])),
  };
}

/** Excess of a message by its bytes; undefined where it may be decoded. */
export function excessOf(bytes: Buffer, { maps, lists }: ManyFields): string | undefined {
  // Every entry takes two bytes at least, and every packed number one.
  if (bytes.length <= MAP_ENTRIES_MAX) return undefined;
  let [entries, values] = [0, 0];
  eachField(bytes, (field, _value, length) => {
    if (maps.has(field)) entries += 1;
    const packedBytes = lists.get(field);
    if (packedBytes === undefined) return;
    values += packedBytes === 0 ? 1 : Math.ceil(Math.max(length, packedBytes) / packedBytes);
  });
  if (entries > MAP_ENTRIES_MAX) return `maps of more than ${MAP_ENTRIES_MAX} entries`;
  return values > LIST_VALUES_MAX ? `lists of more than ${LIST_VALUES_MAX} values` : undefined;
}
