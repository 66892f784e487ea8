/** The words in which one database says what another says in others. */
export interface Dialect {
  readonly name: 'duckdb' | 'clickhouse';
  /** A text as a literal. */
  text(value: string): string;
  /** A time as a literal. */
  time(ms: number): string;
  /** A column of times as milliseconds since 1970. */
  ms(column: string): string;
  /** Whole quotient of numbers that are not negative. */
  quotient(dividend: string, divisor: number): string;
  /** Value of a map; '' where it has no such key. */
  member(map: string, key: string): string;
  /** An attribute of a JSON object as a list of texts: the members of a set; [''] without any. */
  members(json: string, name: string): string;
  /** An attribute of a JSON object where that is a number, otherwise NULL. */
  numeric(json: string, name: string): string;
  /** Quantile of a column: the value that a share of its rows is not above. */
  quantile(column: string, share: number): string;
  /** Names of the members of a JSON object, as a list. */
  names(json: string): string;
  /** `columns` of `source`, with `item_id` and its `rank`, for each item of its `item_ids`. */
  items(columns: string, source: string): string;
  /** `columns` of `source`, and each element of a list as `name`. */
  each(columns: string, list: string, name: string, source: string): string;
  /** Keys of a map, as a list. */
  keys(map: string): string;
  /** True where a list has the element. */
  has(list: string, element: string): string;
  /** Place of an element in a list, from 1; 0: it has none. */
  place(list: string, element: string): string;
  length(list: string): string;
  /** How many elements both lists have; none has an element twice. */
  common(left: string, right: string): string;
  /** The value of the row with the largest `by`. */
  newest(value: string, by: string): string;
  /** A number as JSON has them. */
  number(value: string): string;
  /** True where a text has the part, in any case. */
  contains(text: string, part: string): string;
}

const doubled = (text: string) => `'${text.replaceAll("'", "''")}'`;
const escaped = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
/** JSON Pointer (RFC 6901), which takes any name; paths of DuckDB take some for patterns. */
const pointerTo = (name: string) => `'/' || replace(replace(${name}, '~', '~0'), '/', '~1')`;

/** Product of the lengths of two lists. */
const SHORT_LISTS = 10_000;

export const DUCKDB: Dialect = {
  name: 'duckdb',
  text: doubled,
  time: (ms) => `make_timestamp_ms(${ms})`,
  ms: (column) => `epoch_ms(${column})`,
  quotient: (dividend, divisor) => `((${dividend}) // ${divisor})`,
  member: (map, key) => `coalesce(${map}[${doubled(key)}], '')`,
  members: (json, name) => {
    const text = `[coalesce(json_extract_string(${json}, ${pointerTo(name)}), '')]`;
    const list = `TRY_CAST(json_extract(${json}, ${pointerTo(name)}) AS VARCHAR[])`;
    const isList = `json_type(${json}, ${pointerTo(name)}) = 'ARRAY'`;
    return `CASE WHEN ${isList} AND len(${list}) > 0 THEN ${list} ELSE ${text} END`;
  },
  numeric: (json, name) =>
    `CASE WHEN json_type(${json}, ${pointerTo(name)}) IN ('DOUBLE', 'BIGINT', 'UBIGINT', ` +
    `'HUGEINT') THEN json_extract_string(${json}, ${pointerTo(name)})::DOUBLE END`,
  quantile: (column, share) => `quantile_disc(${column}, ${share})`,
  names: (json) => `json_keys(${json})`,
  items: (columns, source) =>
    `SELECT ${columns}, unnest(item_ids) AS item_id, ` +
    `unnest(range(1, len(item_ids) + 1)) AS rank FROM ${source}`,
  each: (columns, list, name, source) =>
    `SELECT ${columns}, unnest(${list}) AS ${name} FROM ${source}`,
  keys: (map) => `map_keys(${map})`,
  has: (list, element) => `list_contains(${list}, ${element})`,
  place: (list, element) => `coalesce(list_position(${list}, ${element}), 0)`,
  length: (list) => `len(${list})`,
  // list_intersect makes a set of each list, which takes longer than to look through short ones.
  common: (left, right) =>
    `CASE WHEN len(${left}) * len(${right}) > ${SHORT_LISTS} ` +
    `THEN len(list_intersect(${left}, ${right})) ` +
    `ELSE len(list_filter(${left}, lambda item: list_contains(${right}, item))) END`,
  newest: (value, by) => `arg_max(${value}, ${by})`,
  number: (value) => `(${value})::DOUBLE`,
  contains: (text, part) => `contains(lower(${text}), lower(${doubled(part)}))`,
};

export const CLICKHOUSE: Dialect = {
  name: 'clickhouse',
  text: escaped,
  time: (ms) => `fromUnixTimestamp64Milli(toInt64(${ms}), 'UTC')`,
  ms: (column) => `toUnixTimestamp64Milli(${column})`,
  quotient: (dividend, divisor) => `intDiv(${dividend}, ${divisor})`,
  member: (map, key) => `${map}[${escaped(key)}]`,
  members: (json, name) =>
    `if(JSONType(${json}, ${name}) = 'Array' AND JSONLength(${json}, ${name}) > 0, ` +
    `JSONExtract(${json}, ${name}, 'Array(String)'), ` +
    `[if(JSONType(${json}, ${name}) = 'String', JSONExtractString(${json}, ${name}), ` +
    `JSONExtractRaw(${json}, ${name}))])`,
  numeric: (json, name) =>
    `if(JSONType(${json}, ${name}) IN ('Int64', 'UInt64', 'Double'), ` +
    `JSONExtractFloat(${json}, ${name}), NULL)`,
  quantile: (column, share) => `quantileExact(${share})(${column})`,
  names: (json) => `JSONExtractKeys(${json})`,
  items: (columns, source) =>
    `SELECT ${columns}, item AS item_id, place AS rank FROM ${source} ` +
    'ARRAY JOIN item_ids AS item, arrayEnumerate(item_ids) AS place',
  each: (columns, list, name, source) =>
    `SELECT ${columns}, one AS ${name} FROM ${source} ARRAY JOIN ${list} AS one`,
  keys: (map) => `mapKeys(${map})`,
  has: (list, element) => `has(${list}, ${element})`,
  place: (list, element) => `indexOf(${list}, ${element})`,
  length: (list) => `length(${list})`,
  common: (left, right) => `length(arrayIntersect(${left}, ${right}))`,
  newest: (value, by) => `argMax(${value}, ${by})`,
  number: (value) => `toFloat64(${value})`,
  contains: (text, part) => `positionCaseInsensitiveUTF8(${text}, ${escaped(part)}) > 0`,
};
