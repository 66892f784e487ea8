/** The tables of facts, by the names that every store of them uses (docs/operate/analysis.md). */

import {
  CHANGES,
  type Columns,
  PULSES,
  RECALLS,
  RECORDED_ITEMS,
  SEALED_COLUMNS,
} from './recorded-tables.js';

const RECALL_FACT: Columns = {
  time: ['TIMESTAMP', 'when the answer was ready, UTC'],
  recall_id: ['VARCHAR', 'unique'],
  request_id: ['VARCHAR', 'of the caller, or made by the service'],
  user_hash: ['UBIGINT', 'pseudonym of the user; 0: a history was given, or the user was erased'],
  node: ['VARCHAR', 'that answered'],
  edge: ['VARCHAR', 'grpc, http, kafka or console'],
  scene: ['MAP(VARCHAR, VARCHAR)', 'of the request'],
  catalogue: ['VARCHAR', "name; '' for the first"],
  model: ['VARCHAR', "digest; '' of a refused recall"],
  adapter: ['VARCHAR', "digest; '' for the base model alone"],
  adapter_name: ['VARCHAR', ''],
  arm: ['VARCHAR', "base, active, canary or named; '' of a refused recall"],
  catalogue_seq: ['BIGINT', 'number of the last change that it saw'],
  template: ['VARCHAR', 'name and digest of the prompt template'],
  predicate_id: ['VARCHAR', "of its eligibility; '' without one"],
  widths: ['UINTEGER[]', 'of the beam by step'],
  code: ['VARCHAR', 'OK or an error code'],
  short: ['BOOLEAN', 'fewer items than were wanted'],
  features_us: ['UINTEGER', 'microseconds of the stage'],
  prompt_us: ['UINTEGER', 'microseconds of the stage'],
  queue_us: ['UINTEGER', 'microseconds of the stage'],
  prefill_us: ['UINTEGER', 'microseconds of the stage'],
  decode_us: ['UINTEGER', 'microseconds of the stage'],
  total_us: ['UINTEGER', 'microseconds from parsing to the answer'],
  kv_device: ['UINTEGER', 'prompt tokens found on the device'],
  kv_host: ['UINTEGER', 'prompt tokens found in memory'],
  kv_disk: ['UINTEGER', 'prompt tokens found on disk'],
  kv_shared: ['UINTEGER', 'prompt tokens of other requests'],
  kv_computed: ['UINTEGER', 'prompt tokens that were computed'],
  item_ids: ['VARCHAR[]', 'in the order of ranks'],
  scores: ['FLOAT[]', 'log-probabilities in the same order, rounded to 1/256'],
  // Of these, files of an earlier release have none: they read as NULL.
  valuation: ['VARCHAR', "name; '' without one"],
  item_values: ['FLOAT[]', 'by the valuation, in the same order; empty without one'],
  item_terms: ['MAP(VARCHAR, FLOAT)[]', 'weighted terms of the values, in the same order'],
  explore_slots: ['UINTEGER', 'places that were drawn; 0: none'],
  explore_temperature: ['FLOAT', ''],
  explore_seed: ['UBIGINT', ''],
  explored: ['BOOLEAN[]', 'true of drawn items, in the same order; empty where none was'],
  propensities: [
    'FLOAT[]',
    'probabilities of the items, each drawn beside the others; empty where they are not known',
  ],
  no_propensities: [
    'VARCHAR',
    "why they are not: beam, capped, stopped, popular, relevance; '' where they are, and `part` " +
      'where they are of draws among a part of the items',
  ],
  rank_adapter: ['VARCHAR', "digest of the version whose heads ranked; '' of others"],
  rank_adapter_name: ['VARCHAR', ''],
  rank_valuation: ['VARCHAR', "name; '' without one"],
  ranked_items: ['UINTEGER', 'items that were recalled and ranked; 0: none'],
  rank_left_out: ['UINTEGER', 'of these, those that the valuation of the ranking keeps out'],
  item_heads: ['MAP(VARCHAR, FLOAT)[]', 'calibrated heads by name, in the order of item_ids'],
  rank_values: [
    'FLOAT[]',
    'by the valuation of the ranking, in the same order; empty without one, NULL of drawn items ' +
      'that it excludes',
  ],
  recall_ranks: ['UINTEGER[]', 'places in the recall, from 1, in the same order'],
  critical_bids: [
    'FLOAT[]',
    'lowest bids with which the items would keep their places, in the same order; empty where ' +
      'they are not known, NULL of drawn items',
  ],
  unpriced: ['VARCHAR', "why they are not known; '' where they are, and without a valuation"],
  runner_up: ['VARCHAR', "best item left out; '' where its bid is not known"],
  runner_up_value: ['FLOAT', 'of the best item left out; NULL where that is not known'],
  runner_up_bid: ['FLOAT', 'lowest bid with which it would have the value of the last item'],
};

const BEHAVIOUR: Columns = {
  time: ['TIMESTAMP', 'when the user did it, UTC'],
  user_hash: ['UBIGINT', 'pseudonym of the user'],
  item_id: ['VARCHAR', ''],
  action: ['VARCHAR', ''],
  scene: ['MAP(VARCHAR, VARCHAR)', ''],
  request_id: ['VARCHAR', "of the recall that it belongs to; '' where that was not said"],
  position: ['UINTEGER', 'from 1; 0 where that was not said'],
};

const CHANGE: Columns = {
  time: ['TIMESTAMP', 'when it was applied, UTC'],
  catalogue: ['VARCHAR', "name; '' for the first"],
  seq: ['BIGINT', "number of its batch's last change"],
  source: ['VARCHAR', 'edge or person'],
  op: ['VARCHAR', 'kind of change'],
  item_id: ['VARCHAR', "'' where it names a predicate or a pace"],
  attribute: ['VARCHAR', "of a pace; '' of other changes"],
  value: ['VARCHAR', 'of a pace: text of the attribute'],
  pace: ['DOUBLE', 'of a pace: factor of the bids; NULL of other changes'],
};

const ITEM_VERSION: Columns = {
  catalogue: ['VARCHAR', "name; '' for the first"],
  item_id: ['VARCHAR', ''],
  from_seq: ['BIGINT', 'first change that it is that of'],
  to_seq: ['BIGINT', 'first change that it is not that of any more; 2^63 - 1: it still is'],
  from_time: ['TIMESTAMP', 'the same by the clock'],
  to_time: ['TIMESTAMP', 'the same by the clock; 2200: it still is'],
  live: ['BOOLEAN', 'it could be recalled'],
  sid: ['VARCHAR', 'codes joined by -'],
  title: ['VARCHAR', ''],
  attributes: ['VARCHAR', 'JSON object'],
};

const PREDICATE: Columns = {
  time: ['TIMESTAMP', 'hour that it is that of, UTC'],
  catalogue: ['VARCHAR', "name; '' for the first"],
  predicate_id: ['VARCHAR', ''],
  catalogue_seq: ['BIGINT', 'version of the catalogue that was asked'],
  text: ['VARCHAR', 'JSON'],
  eligible: ['UINTEGER', 'items that it admits'],
  item_ids: ['VARCHAR[]', 'these items'],
};

const VERSION: Columns = {
  time: ['TIMESTAMP', 'when that began, UTC; of a model or template, when it was seen first'],
  kind: ['VARCHAR', 'model, adapter or template'],
  digest: ['VARCHAR', ''],
  name: ['VARCHAR', ''],
  state: ['VARCHAR', 'active, canary, retired, ...'],
  parent: ['VARCHAR', 'digest of the version that it followed'],
};

const ITEM_HOUR: Columns = {
  hour: ['TIMESTAMP', 'UTC'],
  catalogue: ['VARCHAR', "name; '' for the first"],
  scene: ['MAP(VARCHAR, VARCHAR)', ''],
  adapter: ['VARCHAR', 'digest'],
  model: ['VARCHAR', 'digest'],
  edge: ['VARCHAR', ''],
  item_id: ['VARCHAR', ''],
  version_seq: ['BIGINT', "from_seq of the item's version; -1: not known"],
  recalls: ['UBIGINT', 'that had the item'],
  rank_sum: ['UBIGINT', 'of its ranks in them, from 1'],
};

export interface FactTable {
  readonly name: string;
  readonly text: string;
  readonly columns: Columns;
  /** `rows` come for ever, in files by time; `state` is one file that is written anew. */
  readonly form: 'rows' | 'state' | 'rollup';
}

export const FACT_TABLES = [
  { name: 'recall_fact', text: 'every recall', columns: RECALL_FACT, form: 'rows' },
  { name: 'behaviour', text: 'what users did', columns: BEHAVIOUR, form: 'rows' },
  { name: 'change', text: 'every change of a catalogue', columns: CHANGE, form: 'rows' },
  { name: 'item_version', text: 'items as they were', columns: ITEM_VERSION, form: 'state' },
  { name: 'predicate', text: 'eligibilities by hour', columns: PREDICATE, form: 'rows' },
  { name: 'version', text: 'versions that served', columns: VERSION, form: 'state' },
  { name: 'item_hour', text: 'items by hour', columns: ITEM_HOUR, form: 'rollup' },
  { name: 'recalls', text: 'recorded recalls', columns: RECALLS, form: 'rows' },
  { name: 'pulses', text: 'how the service fared', columns: PULSES, form: 'rows' },
  { name: 'changes', text: 'batches of changes', columns: CHANGES, form: 'rows' },
] as const satisfies readonly FactTable[];

/** The versions of items that still hold. */
export const ITEM_NOW = {
  name: 'item_now',
  text: 'items as they are',
  columns: ITEM_VERSION,
} as const;

/** Everything that SQL may read of the facts. */
export const READ_TABLES = [...FACT_TABLES, ITEM_NOW, RECORDED_ITEMS];

export type FactTableName = (typeof FACT_TABLES)[number]['name'];
/** Tables whose rows are handed over one by one. */
export type RowTableName = Extract<(typeof FACT_TABLES)[number], { form: 'rows' }>['name'];

export const ROW_TABLES: readonly (FactTable & { readonly name: RowTableName })[] =
  FACT_TABLES.filter((table) => table.form === 'rows');

function columnsOf(name: FactTableName): Columns {
  const table = FACT_TABLES.find((one) => one.name === name);
  if (table === undefined) throw new Error(`expected a table of facts, got ${name}`);
  return table.columns;
}

/** Times of versions that are still those of their items. */
export const STILL_SEQ = '9223372036854775807';
export const STILL_TIME = '2200-01-01';

/** `CREATE TABLE` of a table, in a database of its own name or as `prefix` says. */
export function tableDefinition(name: FactTableName, prefix = ''): string {
  const columns = Object.entries(columnsOf(name)).map(([column, [type]]) => `${column} ${type}`);
  return `CREATE TABLE IF NOT EXISTS ${prefix}${name} (${columns.join(', ')})`;
}

/** Times cross as milliseconds, bytes as Base64, users as their place in a list of pseudonyms. */
function jsonType(type: string): unknown {
  if (type === 'TIMESTAMP') return 'BIGINT';
  if (type === 'BLOB') return 'VARCHAR';
  return type.endsWith('[]') ? [type.slice(0, -2)] : type;
}

const isSealed = (column: string) => (SEALED_COLUMNS as readonly string[]).includes(column);

function insertedOf(column: string, type: string): string {
  const seal = (SEALED_COLUMNS as readonly string[]).indexOf(column);
  if (seal >= 0) return `from_base64(seals[r.user + 1][${seal + 1}])`;
  if (column === 'user_hash') return 'coalesce(users[r.user + 1], 0)';
  if (type === 'BLOB') return `from_base64(r.${column})`;
  return type === 'TIMESTAMP' ? `make_timestamp_ms(r.${column})` : `r.${column}`;
}

/**
 * One statement for many rows: $1 is a JSON array of them, $2 a JSON array of pseudonyms, to which
 * the member `user` of a row refers by index from 0, and $3 a JSON array of the sealed texts of the
 * same rows, in the order of the sealed columns.
 */
export function insertionOf(name: FactTableName, prefix = ''): string {
  const columns = Object.entries(columnsOf(name));
  const shape = columns.flatMap(([column, [type]]) => {
    if (column === 'user_hash') return [['user', 'INTEGER']];
    return isSealed(column) ? [] : [[column, jsonType(type)]];
  });
  const values = columns.map(([column, [type]]) => insertedOf(column, type));
  return (
    `INSERT INTO ${prefix}${name} SELECT ${values.join(', ')} FROM ` +
    `(SELECT unnest(from_json($1, '[${JSON.stringify(Object.fromEntries(shape))}]')) AS r), ` +
    '(SELECT from_json($2, \'["UBIGINT"]\') AS users), ' +
    '(SELECT from_json($3, \'[["VARCHAR"]]\') AS seals)'
  );
}
