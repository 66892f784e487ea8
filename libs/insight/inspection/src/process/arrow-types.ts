import type {
  DuckDBArrayType,
  DuckDBArrayValue,
  DuckDBDecimalType,
  DuckDBDecimalValue,
  DuckDBListType,
  DuckDBListValue,
  DuckDBMapType,
  DuckDBMapValue,
  DuckDBStructType,
  DuckDBStructValue,
  DuckDBType,
  DuckDBTypeId,
  DuckDBValue,
} from '@duckdb/node-api';
import type * as Arrow from 'apache-arrow';

/** How a column of the database is built and shown in Arrow. */
export interface ColumnForm {
  /** Type whose builder takes what `value` gives. */
  readonly built: Arrow.DataType;
  /** Type that the file names for the same buffers: times are built as whole numbers. */
  readonly shown: Arrow.DataType;
  /** Null is not given to it. */
  readonly value: (value: DuckDBValue) => unknown;
}

type Scalar = (arrow: typeof Arrow, type: DuckDBType) => ColumnForm;

const WORDS_128 = 4;
const DECIMAL_WIDTH_MAX = 38;
const DECIMAL_BITS = 128;

const same = (type: Arrow.DataType): ColumnForm => ({
  built: type,
  shown: type,
  value: (value) => value,
});

/** A value of the database that holds one whole number in a field. */
const whole = (built: Arrow.DataType, shown: Arrow.DataType, field: string): ColumnForm => ({
  built,
  shown,
  value: (value) => (value as unknown as Record<string, unknown>)[field],
});

/** Two's complement in 128 bits, the low word first. */
function words(value: bigint): Uint32Array {
  const found = new Uint32Array(WORDS_128);
  for (const index of found.keys())
    found[index] = Number((value >> BigInt(32 * index)) & 0xffffffffn);
  return found;
}

const SCALARS: Partial<Record<keyof typeof DuckDBTypeId, Scalar>> = {
  BOOLEAN: ({ Bool }) => same(new Bool()),
  TINYINT: ({ Int8 }) => same(new Int8()),
  SMALLINT: ({ Int16 }) => same(new Int16()),
  INTEGER: ({ Int32 }) => same(new Int32()),
  BIGINT: ({ Int64 }) => same(new Int64()),
  UTINYINT: ({ Uint8 }) => same(new Uint8()),
  USMALLINT: ({ Uint16 }) => same(new Uint16()),
  UINTEGER: ({ Uint32 }) => same(new Uint32()),
  UBIGINT: ({ Uint64 }) => same(new Uint64()),
  FLOAT: ({ Float32 }) => same(new Float32()),
  DOUBLE: ({ Float64 }) => same(new Float64()),
  BLOB: ({ Binary }) => whole(new Binary(), new Binary(), 'bytes'),
  DATE: ({ Int32, DateDay }) => whole(new Int32(), new DateDay(), 'days'),
  TIME: ({ Int64, TimeMicrosecond }) => whole(new Int64(), new TimeMicrosecond(), 'micros'),
  TIMESTAMP: ({ Int64, TimestampMicrosecond: Time }) => whole(new Int64(), new Time(), 'micros'),
  TIMESTAMP_S: ({ Int64, TimestampSecond: Time }) => whole(new Int64(), new Time(), 'seconds'),
  TIMESTAMP_MS: ({ Int64, TimestampMillisecond: Time }) => whole(new Int64(), new Time(), 'millis'),
  TIMESTAMP_NS: ({ Int64, TimestampNanosecond: Time }) => whole(new Int64(), new Time(), 'nanos'),
  TIMESTAMP_TZ: ({ Int64, TimestampMicrosecond: Time }) =>
    whole(new Int64(), new Time('UTC'), 'micros'),
  DECIMAL: ({ Decimal }, type) => {
    const { width, scale } = type as DuckDBDecimalType;
    const shown = new Decimal(scale, width, DECIMAL_BITS);
    const value = (one: DuckDBValue) => words((one as DuckDBDecimalValue).value);
    return { built: shown, shown, value };
  },
  // As DuckDB's own Arrow does: the sum of whole numbers is one, and a text would not add up.
  HUGEINT: ({ Decimal }) => {
    const shown = new Decimal(0, DECIMAL_WIDTH_MAX, DECIMAL_BITS);
    return { built: shown, shown, value: (value) => words(value as bigint) };
  },
};

/**
 * Form of a type. Types that Arrow has no equal of (UUID, INTERVAL, BIT, UNION ...) become the text
 * that the database writes for them.
 */
export function formOf(
  arrow: typeof Arrow,
  names: typeof DuckDBTypeId,
  type: DuckDBType,
): ColumnForm {
  const of = (inner: DuckDBType) => formOf(arrow, names, inner);
  switch (type.typeId) {
    case names.LIST:
    case names.ARRAY:
      return listOf(arrow, of((type as DuckDBListType | DuckDBArrayType).valueType));
    case names.STRUCT: {
      const { entryNames, entryTypes } = type as DuckDBStructType;
      return structOf(arrow, entryNames, entryTypes.map(of));
    }
    case names.MAP: {
      const { keyType, valueType } = type as DuckDBMapType;
      return mapOf(arrow, of(keyType), of(valueType));
    }
    default:
      return scalarOf(arrow, names, type);
  }
}

function scalarOf(arrow: typeof Arrow, names: typeof DuckDBTypeId, type: DuckDBType): ColumnForm {
  const text = new arrow.Utf8();
  const scalar = SCALARS[names[type.typeId] as keyof typeof DuckDBTypeId];
  return scalar?.(arrow, type) ?? { built: text, shown: text, value: String };
}

const orNull = ({ value }: ColumnForm, one: DuckDBValue) => (one === null ? null : value(one));

function listOf({ Field, List }: typeof Arrow, item: ColumnForm): ColumnForm {
  const of = (type: Arrow.DataType) => new List(new Field('item', type, true));
  const value = (list: DuckDBValue) =>
    (list as DuckDBListValue | DuckDBArrayValue).items.map((one) => orNull(item, one));
  return { built: of(item.built), shown: of(item.shown), value };
}

function structOf(
  { Field, Struct }: typeof Arrow,
  names: readonly string[],
  forms: readonly ColumnForm[],
): ColumnForm {
  const of = (kind: 'built' | 'shown') =>
    new Struct(forms.map((form, index) => new Field(names[index] ?? '', form[kind], true)));
  const value = (struct: DuckDBValue) => {
    const { entries } = struct as DuckDBStructValue;
    return forms.map((form, index) => orNull(form, entries[names[index] ?? ''] ?? null));
  };
  return { built: of('built'), shown: of('shown'), value };
}

function mapOf(
  { Field, Map_, Struct }: typeof Arrow,
  key: ColumnForm,
  item: ColumnForm,
): ColumnForm {
  const of = (keyType: Arrow.DataType, itemType: Arrow.DataType) => {
    const fields = [new Field('key', keyType, false), new Field('value', itemType, true)] as const;
    const entries = new Struct<{ key: Arrow.DataType; value: Arrow.DataType }>([...fields]);
    return new Map_(new Field('entries', entries, false));
  };
  const value = (map: DuckDBValue) =>
    new Map(
      (map as DuckDBMapValue).entries.map((one) => [key.value(one.key), orNull(item, one.value)]),
    );
  return { built: of(key.built, item.built), shown: of(key.shown, item.shown), value };
}
