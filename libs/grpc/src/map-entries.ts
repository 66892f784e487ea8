/**
 * Bounds the maps of a protobuf message before it is decoded: each entry takes a hundred times the
 * time of as many bytes of text, and the whole message is built before a handler sees it.
 */

import { eachField } from './wire-fields.js';

/** Entries of the maps of a request, all together. */
export const MAP_ENTRIES_MAX = 4000;

/** A message as @grpc/proto-loader describes it, as far as it is read here. */
interface Described {
  readonly field?: readonly {
    readonly number: number;
    readonly label: string;
    readonly typeName: string;
  }[];
  readonly nestedType?: readonly {
    readonly name: string;
    readonly field?: readonly { readonly name: string }[];
  }[];
}

/** Numbers of the fields that are maps: repeated messages of a key and a value. */
export function mapFields(type: object): ReadonlySet<number> {
  const { field = [], nestedType = [] } = type as Described;
  const entries = nestedType
    .filter(({ field: members = [] }) => members.map(({ name }) => name).join() === 'key,value')
    .map(({ name }) => name);
  const isMap = ({ label, typeName }: { label: string; typeName: string }) =>
    label === 'LABEL_REPEATED' && entries.includes(typeName.split('.').at(-1) ?? '');
  return new Set(field.filter(isMap).map(({ number }) => number));
}

/** Entries of these fields in a message's bytes. */
export function countEntries(bytes: Buffer, fields: ReadonlySet<number>): number {
  let count = 0;
  eachField(bytes, (field) => {
    if (fields.has(field)) count += 1;
  });
  return count;
}
