/** The tables of the inspection store (docs/operate/console.md), and how a recall lies in them. */

import { eligibilityText, type RecallAnswer, type RecallRequest } from '@tessera/recall';
import type { RecordableRecall } from '../domain/recordable.js';
import type { RecordedRequest } from '../domain/recorded-recall.js';
import { treeBytes } from '../domain/tree-rows.js';

/** Column -> type, and the type that its value has in JSON where that is another. */
type Columns = Readonly<Record<string, string>>;

const RECALLS: Columns = {
  id: 'VARCHAR',
  time: 'TIMESTAMP',
  request_id: 'VARCHAR',
  user_id: 'VARCHAR',
  source: 'VARCHAR',
  reason: 'VARCHAR',
  code: 'VARCHAR',
  message: 'VARCHAR',
  model: 'VARCHAR',
  /** Digest of the version, and its name; '' for the base model alone. */
  adapter: 'VARCHAR',
  adapter_name: 'VARCHAR',
  catalogue: 'VARCHAR',
  catalogue_sequence: 'UBIGINT',
  prompt_template: 'VARCHAR',
  item_count: 'UINTEGER',
  short: 'BOOLEAN',
  completeness: 'VARCHAR',
  widths: 'UINTEGER[]',
  history_items: 'UINTEGER',
  prompt_tokens: 'UINTEGER',
  kv_device_tokens: 'UINTEGER',
  kv_host_tokens: 'UINTEGER',
  kv_disk_tokens: 'UINTEGER',
  kv_shared_tokens: 'UINTEGER',
  kv_computed_tokens: 'UINTEGER',
  features_us: 'FLOAT',
  prompt_us: 'FLOAT',
  queue_us: 'FLOAT',
  prefill_us: 'FLOAT',
  decode_us: 'FLOAT',
  total_us: 'FLOAT',
  /** JSON of what is only shown whole. */
  detail: 'VARCHAR',
  tree: 'BLOB',
  /** Found in each tier of the user KV pool, by its name. */
  kv_tokens: 'MAP(VARCHAR, UINTEGER)',
  /** certified or beam. */
  search: 'VARCHAR',
  certified: 'BOOLEAN',
  /** Of what the search may have missed; none where it is certified. */
  gap: 'FLOAT',
  rows: 'UINTEGER',
};

const ITEMS: Columns = {
  recall: 'VARCHAR',
  time: 'TIMESTAMP',
  rank: 'UINTEGER',
  item_id: 'VARCHAR',
  sid: 'VARCHAR',
  score: 'FLOAT',
  title: 'VARCHAR',
  /** Of a recall with a valuation; none otherwise. */
  value: 'FLOAT',
  /** JSON: by name. */
  terms: 'VARCHAR',
  pace: 'FLOAT',
  critical_bid: 'FLOAT',
  /** Of a recall that explores; none otherwise. */
  explored: 'BOOLEAN',
  propensity: 'FLOAT',
  /** Of a recall that ranks; none otherwise. Heads are JSON: by name. */
  heads: 'VARCHAR',
  recall_rank: 'UINTEGER',
  rank_value: 'FLOAT',
  /** JSON: by name. */
  rank_terms: 'VARCHAR',
  rank_pace: 'FLOAT',
};

const PULSES: Columns = { time: 'TIMESTAMP', detail: 'VARCHAR' };

const CHANGES: Columns = {
  time: 'TIMESTAMP',
  catalogue: 'VARCHAR',
  /** Number of the last change of a batch, and how many it had. */
  sequence: 'UBIGINT',
  change_count: 'UINTEGER',
  source: 'VARCHAR',
  /** JSON: how many of each kind, and the first of them. */
  ops: 'VARCHAR',
  told: 'VARCHAR',
};

const define = (name: string, columns: Columns) =>
  `CREATE TABLE IF NOT EXISTS ${name} (${Object.entries(columns)
    .map(([column, type]) => `${column} ${type}`)
    .join(', ')})`;

/** Columns that stores from before lack; older recalls have no value in them. */
const ADDED_TO_RECALLS = ['kv_tokens', 'search', 'certified', 'gap', 'rows'];
const ADDED_TO_ITEMS = [
  ...['value', 'terms', 'pace', 'critical_bid', 'explored', 'propensity'],
  ...['heads', 'recall_rank', 'rank_value', 'rank_terms', 'rank_pace'],
];

const added = (name: string, columns: Columns, names: readonly string[]) =>
  names.map(
    (column) => `ALTER TABLE ${name} ADD COLUMN IF NOT EXISTS ${column} ${columns[column]}`,
  );

export const TABLE_DEFINITIONS: readonly string[] = [
  define('recalls', RECALLS),
  ...added('recalls', RECALLS, ADDED_TO_RECALLS),
  define('items', ITEMS),
  ...added('items', ITEMS, ADDED_TO_ITEMS),
  define('pulses', PULSES),
  define('changes', CHANGES),
  'CREATE TABLE IF NOT EXISTS notes ' +
    '(id VARCHAR, recall VARCHAR, time TIMESTAMP, author VARCHAR, text VARCHAR)',
  'CREATE TABLE IF NOT EXISTS sets ' +
    '(name VARCHAR, time TIMESTAMP, author VARCHAR, recalls VARCHAR[])',
  'CREATE TABLE IF NOT EXISTS comparisons ' +
    '(id VARCHAR, time TIMESTAMP, author VARCHAR, title VARCHAR, user_count UINTEGER, ' +
    'overlap FLOAT, users VARCHAR[], detail VARCHAR)',
];

/** Tables that analysts may read. */
export const TABLE_NAMES: ReadonlySet<string> = new Set([
  ...['recalls', 'items', 'pulses', 'changes', 'notes', 'sets', 'comparisons'],
]);

/** Times cross as milliseconds, bytes as Base64. */
function jsonType(type: string): unknown {
  if (type === 'TIMESTAMP') return 'BIGINT';
  if (type === 'BLOB') return 'VARCHAR';
  return type.endsWith('[]') ? [type.slice(0, -2)] : type;
}

function fromJson(column: string, type: string): string {
  if (type === 'TIMESTAMP') return `make_timestamp_ms(r.${column})`;
  return type === 'BLOB' ? `from_base64(r.${column})` : `r.${column}`;
}

/** One statement for many rows, which are its only parameter, a JSON array. */
function insertion(name: string, columns: Columns): string {
  const shape = Object.entries(columns).map(([column, type]) => [column, jsonType(type)]);
  const values = Object.entries(columns).map(([column, type]) => fromJson(column, type));
  return (
    `INSERT INTO ${name} (${Object.keys(columns).join(', ')}) SELECT ${values.join(', ')} ` +
    `FROM (SELECT unnest(from_json($1, '[${JSON.stringify(Object.fromEntries(shape))}]')) AS r)`
  );
}

export const INSERT_RECALLS = insertion('recalls', RECALLS);
export const INSERT_ITEMS = insertion('items', ITEMS);
export const INSERT_PULSES = insertion('pulses', PULSES);
export const INSERT_CHANGES = insertion('changes', CHANGES);

function answerRow(answer: RecallAnswer) {
  const { versions, kv, timings } = answer;
  return {
    model: versions.model,
    adapter: versions.adapter,
    adapter_name: versions.adapterName,
    catalogue: versions.catalogue,
    catalogue_sequence: versions.catalogueSequence,
    prompt_template: versions.promptTemplate,
    item_count: answer.items.length,
    short: answer.short,
    completeness: answer.completeness,
    search: answer.search,
    certified: answer.certified,
    gap: answer.gap,
    rows: answer.rows,
    widths: answer.widthsUsed,
    history_items: answer.historyItems,
    prompt_tokens: answer.promptTokens,
    kv_device_tokens: kv.tokensByTier.device ?? 0,
    kv_host_tokens: kv.tokensByTier.host ?? 0,
    kv_disk_tokens: kv.tokensByTier.disk ?? 0,
    kv_shared_tokens: kv.sharedTokens,
    kv_computed_tokens: kv.computedTokens,
    kv_tokens: kv.tokensByTier,
    features_us: timings.featuresUs,
    prompt_us: timings.promptUs,
    queue_us: timings.queueUs,
    prefill_us: timings.prefillUs,
    decode_us: timings.decodeUs,
    total_us: timings.totalUs,
    tree: Buffer.from(treeBytes(answer.sight?.tree)).toString('base64'),
  };
}

/** Documentation that the columns do not carry. */
export interface StoredDetail {
  readonly request: RecordedRequest;
  readonly answer?: Omit<RecallAnswer, 'items' | 'sight' | 'requestId'>;
  readonly history?: NonNullable<RecallAnswer['sight']>['history'];
  readonly profile?: Readonly<Record<string, string>>;
}

/** Asked again, the same places are drawn: by the seed that the service drew for it. */
function withSeed<Request extends Pick<RecallRequest, 'explore'>>(
  request: Request,
  outcome: RecordableRecall['outcome'],
): Request {
  const { explore } = request;
  const drawn = 'answer' in outcome ? outcome.answer.exploration : undefined;
  if (explore === undefined || drawn === undefined) return request;
  return { ...request, explore: { ...explore, seed: drawn.seed } };
}

function detailOf(recall: RecordableRecall): StoredDetail {
  const { request: asked, outcome } = recall;
  const { wantsSight: _own, eligibility, ...rest } = asked;
  const seeded = withSeed(rest, outcome);
  const request = eligibility ? { ...seeded, eligibility: eligibilityText(eligibility) } : seeded;
  if (!('answer' in outcome)) return { request };
  const { items: _items, sight, requestId: _id, ...answer } = outcome.answer;
  return { request, answer, history: sight?.history ?? [], profile: sight?.profile ?? {} };
}

/** A recall as a row of `recalls`. */
export function recallRow(recall: RecordableRecall): object {
  const { id, timeMs, source, reason, request, outcome } = recall;
  const isAnswered = 'answer' in outcome;
  return {
    id,
    time: timeMs,
    request_id: isAnswered ? outcome.answer.requestId : request.requestId,
    user_id: request.userId ?? '',
    source,
    reason,
    code: isAnswered ? 'OK' : outcome.code,
    message: isAnswered ? '' : outcome.message,
    detail: JSON.stringify(detailOf(recall)),
    ...(isAnswered ? answerRow(outcome.answer) : {}),
  };
}

/** Its items as rows of `items`. */
export function itemRows({ id, timeMs, outcome }: RecordableRecall): object[] {
  if (!('answer' in outcome)) return [];
  return outcome.answer.items.map(
    ({ rank, itemId, sid, score, title, value, explored, propensity, ranking }) => ({
      recall: id,
      time: timeMs,
      rank,
      item_id: itemId,
      sid: sid.join('-'),
      score,
      title,
      value: value?.value,
      terms: value && JSON.stringify(value.terms),
      pace: value?.pace,
      critical_bid: value?.criticalBid,
      explored,
      propensity,
      heads: ranking && JSON.stringify(ranking.heads),
      recall_rank: ranking?.recallRank,
      rank_value: ranking?.value?.value,
      rank_terms: ranking?.value && JSON.stringify(ranking.value.terms),
      rank_pace: ranking?.value?.pace,
    }),
  );
}
