/** Records as native/abi describes them, and values and words against them. */

import { PackedEntries } from '@tessera/native';

export interface Field {
  readonly kind: string;
  readonly words?: readonly string[] | { readonly list: readonly string[] };
  readonly record?: Described;
}

export interface Described {
  readonly name: string;
  readonly fields: Readonly<Record<string, Field>>;
}

interface Part {
  readonly written?: readonly Described[];
  readonly packedOut?: readonly Described[];
}

const NAMES = ['engine', 'kv', 'catalogue', 'store', 'completion'];

export const parts: readonly Part[] = await Promise.all(
  NAMES.map(async (name) => (await import(`../../native/abi/${name}.mjs`)).default),
);

/** Records that are part of others of the list. */
export function innerNames(records: readonly Described[]): Set<string> {
  const fields = records.flatMap((record) => Object.values(record.fields));
  return new Set(fields.flatMap(({ record }) => (record === undefined ? [] : [record.name])));
}

const KINDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  text: (value) => typeof value === 'string',
  flag: (value) => typeof value === 'boolean',
  u32: Number.isInteger,
  u53: Number.isSafeInteger,
  f32: (value) => typeof value === 'number',
  f64: (value) => typeof value === 'number',
  bytes: (value) => value instanceof Uint8Array,
  u32s: (value) => value instanceof Uint32Array,
  f32s: (value) => value instanceof Float32Array,
  f64s: (value) => value instanceof Float64Array,
  codes: (value) => Array.isArray(value) && value.every(Number.isInteger),
  texts: (value) => Array.isArray(value) && value.every((text) => typeof text === 'string'),
  handle: (value) => typeof value === 'object' && value !== null,
  rows: (value) => value instanceof Uint32Array,
  blob: Buffer.isBuffer,
  entries: (value) => value instanceof PackedEntries,
};

const wordsOf = ({ words = [] }: Field) => ('list' in words ? words.list : words);

/** Differences from the description, by path. */
export function faults(value: unknown, { fields }: Described, path: string): string[] {
  const members = Object.keys(value as object);
  if (members.join() !== Object.keys(fields).join()) return [`${path}: has ${members.join()}`];
  return Object.entries(fields).flatMap(([name, field]) => {
    const { kind, record } = field;
    const member = (value as Record<string, unknown>)[name];
    const at = `${path}.${name}`;
    if (kind === 'one') return faults(member, record as Described, at);
    if (kind === 'list' || kind === 'each') {
      return (member as unknown[]).flatMap((each) => faults(each, record as Described, at));
    }
    const isRight =
      kind === 'choice' ? wordsOf(field).includes(member as string) : KINDS[kind]?.(member);
    return isRight === true ? [] : [`${at}: expected ${kind}, got ${typeof member}`];
  });
}

const HEADER_WORDS = 4;

/** A reader of packed records that shares nothing with the generated ones but the description. */
export class DescribedReader {
  private readonly view: DataView;
  private readonly textsEnd: number;
  private at = HEADER_WORDS;
  private textAt: number;

  constructor(private readonly words: Uint32Array) {
    const { buffer, byteOffset, byteLength } = words;
    this.view = new DataView(buffer, byteOffset, byteLength);
    this.textAt = 4 * (words[1] as number);
    this.textsEnd = this.textAt + (words[2] as number);
  }

  /** True if all was read, and nothing else. */
  get isWhole(): boolean {
    const { words, at, textAt, textsEnd } = this;
    return words[0] === words.length && at === words[1] && textAt === textsEnd;
  }

  record({ fields }: Described): Record<string, unknown> {
    return Object.fromEntries(Object.entries(fields).map(([name, of]) => [name, this.field(of)]));
  }

  private word(): number {
    return this.view.getUint32(4 * this.at++, true);
  }

  private many<T>(read: () => T): T[] {
    return Array.from({ length: this.word() }, read);
  }

  private float(): number {
    return this.view.getFloat32(4 * this.at++, true);
  }

  private text(): string {
    const begin = this.textAt;
    this.textAt += this.word();
    return Buffer.from(
      this.words.buffer,
      this.words.byteOffset + begin,
      this.textAt - begin,
    ).toString();
  }

  private blob(bytes: number): Buffer {
    const begin = this.words.byteOffset + 4 * this.at;
    this.at += Math.ceil(bytes / 4);
    return Buffer.from(this.words.buffer, begin, bytes);
  }

  private entries(): PackedEntries {
    const ends = Uint32Array.from({ length: 2 * this.word() }, () => this.word());
    return new PackedEntries(this.blob(ends.at(-1) ?? 0), ends);
  }

  private field(field: Field): unknown {
    const record = field.record as Described;
    const width = Object.keys(record?.fields ?? {}).length;
    const kinds: Readonly<Record<string, () => unknown>> = {
      u32: () => this.word(),
      u53: () => this.word() + 2 ** 32 * this.word(),
      f32: () => this.float(),
      flag: () => this.word() === 1,
      text: () => this.text(),
      choice: () => wordsOf(field)[this.word()],
      codes: () => this.many(() => this.word()),
      f32s: () => Float32Array.from(this.many(() => this.float())),
      rows: () => Uint32Array.from({ length: this.word() * width }, () => this.word()),
      one: () => this.record(record),
      list: () => this.many(() => this.record(record)),
      each: () => this.many(() => this.record(record)),
      blob: () => this.blob(this.word()),
      entries: () => this.entries(),
    };
    return (kinds[field.kind] as () => unknown)();
  }
}
