/** Tables that the console looks into, which lie with the facts (docs/operate/console.md). */

/** DuckDB type and meaning of each column. */
export type Columns = Readonly<Record<string, readonly [type: string, text: string]>>;

/** Columns of which only who has the user's key makes anything. */
export const SEALED_COLUMNS = ['sealed_user', 'sealed'] as const;

export const RECALLS: Columns = {
  id: ['VARCHAR', 'unique; in the order of time'],
  time: ['TIMESTAMP', 'when the answer was ready, UTC'],
  user_hash: ['UBIGINT', 'pseudonym of the user; 0: a history was given'],
  request_id: ['VARCHAR', 'of the caller, or made by the service'],
  source: ['VARCHAR', 'served or console'],
  reason: ['VARCHAR', 'request, user, draw or share'],
  code: ['VARCHAR', 'OK or an error code'],
  scene: ['MAP(VARCHAR, VARCHAR)', 'of the request'],
  model: ['VARCHAR', 'digest'],
  adapter: ['VARCHAR', "digest; '' for the base model alone"],
  adapter_name: ['VARCHAR', ''],
  catalogue: ['VARCHAR', 'digest'],
  catalogue_sequence: ['UBIGINT', 'number of the last change that it saw'],
  prompt_template: ['VARCHAR', 'name and digest'],
  versions: ['VARCHAR', 'JSON of all versions that answered'],
  item_count: ['UINTEGER', ''],
  short: ['BOOLEAN', 'fewer items than were wanted'],
  completeness: ['VARCHAR', ''],
  search: ['VARCHAR', 'certified or beam'],
  certified: ['BOOLEAN', ''],
  gap: ['FLOAT', 'of what the search may have missed; NULL where it is certified'],
  rows: ['UINTEGER', 'that the search computed'],
  widths: ['UINTEGER[]', 'of the beam by step'],
  history_items: ['UINTEGER', ''],
  prompt_tokens: ['UINTEGER', ''],
  kv_device_tokens: ['UINTEGER', 'found on the device'],
  kv_host_tokens: ['UINTEGER', 'found in memory'],
  kv_disk_tokens: ['UINTEGER', 'found on disk'],
  kv_shared_tokens: ['UINTEGER', 'of other requests'],
  kv_computed_tokens: ['UINTEGER', ''],
  kv_tokens: ['MAP(VARCHAR, UINTEGER)', 'found in each tier, by its name'],
  features_us: ['FLOAT', 'microseconds of the stage'],
  prompt_us: ['FLOAT', 'microseconds of the stage'],
  queue_us: ['FLOAT', 'microseconds of the stage'],
  prefill_us: ['FLOAT', 'microseconds of the stage'],
  decode_us: ['FLOAT', 'microseconds of the stage'],
  total_us: ['FLOAT', 'microseconds from parsing to the answer'],
  answer: ['VARCHAR', 'JSON of the answer but for its items'],
  answer_items: ['VARCHAR', 'JSON of its items'],
  tree: ['BLOB', 'of the search'],
  sealed_user: ['BLOB', 'ID of the user, sealed with their key'],
  sealed: ['BLOB', 'request, history, profile and message of an error, sealed with the same key'],
};

export const PULSES: Columns = {
  time: ['TIMESTAMP', 'its end, UTC'],
  detail: ['VARCHAR', 'JSON'],
};

export const CHANGES: Columns = {
  time: ['TIMESTAMP', 'when it was applied, UTC'],
  catalogue: ['VARCHAR', "name; '' for the first"],
  sequence: ['UBIGINT', 'number of its last change'],
  change_count: ['UINTEGER', ''],
  source: ['VARCHAR', 'edge or person'],
  ops: ['VARCHAR', 'JSON: how many of each kind'],
  told: ['VARCHAR', 'JSON: the first of them'],
};

const ITEMS: Columns = {
  recall: ['VARCHAR', 'id of the recall'],
  time: ['TIMESTAMP', 'of the recall'],
  rank: ['UINTEGER', 'from 1'],
  item_id: ['VARCHAR', ''],
  sid: ['VARCHAR', 'codes joined by -'],
  score: ['FLOAT', 'log-probability'],
  title: ['VARCHAR', ''],
  value: ['FLOAT', 'NULL without a valuation, as the next three'],
  terms: ['VARCHAR', 'JSON: by name'],
  pace: ['FLOAT', ''],
  critical_bid: ['FLOAT', ''],
  explored: ['BOOLEAN', 'NULL without an exploration, as the next one'],
  propensity: ['FLOAT', ''],
  heads: ['VARCHAR', 'JSON: by name; NULL without a ranking, as the next four'],
  recall_rank: ['UINTEGER', 'place in the recall, from 1'],
  rank_value: ['FLOAT', ''],
  rank_terms: ['VARCHAR', 'JSON: by name'],
  rank_pace: ['FLOAT', ''],
};

const WORTH = { value: 'FLOAT', terms: 'JSON', pace: 'FLOAT', criticalBid: 'FLOAT' };
const RANKING = { heads: 'JSON', recallRank: 'UINTEGER', value: WORTH };
/** Shape of the JSON in `answer_items`. */
const ITEM = {
  rank: 'UINTEGER',
  itemId: 'VARCHAR',
  sid: ['UINTEGER'],
  score: 'FLOAT',
  title: 'VARCHAR',
  value: WORTH,
  explored: 'BOOLEAN',
  propensity: 'FLOAT',
  ranking: RANKING,
};

/** Items of recorded recalls, read from their JSON. */
export const RECORDED_ITEMS = { name: 'items', text: 'their items', columns: ITEMS } as const;

export const RECORDED_ITEMS_QUERY =
  'SELECT recall, time, i.rank AS rank, i.itemId AS item_id, ' +
  "array_to_string(i.sid, '-') AS sid, i.score AS score, i.title AS title, " +
  'i.value.value AS value, i.value.terms::VARCHAR AS terms, i.value.pace AS pace, ' +
  'i.value.criticalBid AS critical_bid, i.explored AS explored, i.propensity AS propensity, ' +
  'i.ranking.heads::VARCHAR AS heads, i.ranking.recallRank AS recall_rank, ' +
  'i.ranking.value.value AS rank_value, i.ranking.value.terms::VARCHAR AS rank_terms, ' +
  'i.ranking.value.pace AS rank_pace FROM (SELECT id AS recall, time, ' +
  `unnest(from_json(answer_items, '[${JSON.stringify(ITEM)}]')) AS i FROM recalls)`;
