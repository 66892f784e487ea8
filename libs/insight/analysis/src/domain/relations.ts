/** Parts of statements: each is a SELECT that others stand on. */

import type { HourSources } from './analysis-store.js';
import { type Bounds, fitsValue, valueList } from './attribute-values.js';
import type { Buckets } from './buckets.js';
import type { Dialect } from './dialect.js';
import type { AnalysisFilter } from './filter.js';

const HOUR_MS = 3_600_000;

/** Conditions of a filter on a relation with columns of `recall_fact`, but for its time. */
function conditionsOf(filter: AnalysisFilter, dialect: Dialect): string[] {
  const { catalogue, source, adapter, model, scenes } = filter;
  const edge = { served: "edge <> 'console'", console: "edge = 'console'", all: '1 = 1' }[source];
  return [
    `catalogue = ${dialect.text(catalogue)}`,
    edge,
    ...(adapter === undefined ? [] : [`adapter = ${dialect.text(adapter)}`]),
    ...(model === undefined ? [] : [`model = ${dialect.text(model)}`]),
    ...scenes.map(([key, value]) => `${dialect.member('scene', key)} = ${dialect.text(value)}`),
    ...panelCondition(filter),
  ];
}

const PSEUDONYM_MAX = 2n ** 64n - 1n;

/** Files of hours are sorted by pseudonym: what lies outside a panel is not decoded. */
export function panelCondition({ oneIn = 1 }: AnalysisFilter): string[] {
  if (oneIn === 1) return [];
  return ['user_hash <> 0', `user_hash <= ${PSEUDONYM_MAX / BigInt(oneIn)}`];
}

const within = (column: string, fromMs: number, toMs: number, dialect: Dialect) =>
  `${column} >= ${dialect.time(fromMs)} AND ${column} < ${dialect.time(toMs)}`;

/** The bucket of a column of times: when it begins, as milliseconds. */
export function bucketOf(column: string, { beginMs, lengthMs }: Buckets, dialect: Dialect) {
  const since = `${dialect.ms(column)} - ${beginMs}`;
  return `${dialect.quotient(since, lengthMs)} * ${lengthMs} + ${beginMs}`;
}

/** True of a recall that a filter lets pass. */
export function fitsOf(filter: AnalysisFilter, dialect: Dialect): string {
  const time = within('time', filter.fromMs, filter.toMs, dialect);
  return [time, ...conditionsOf(filter, dialect)].join(' AND ');
}

/** Recalls that a filter lets pass. */
export function recallsOf(filter: AnalysisFilter, dialect: Dialect, source = 'recall_fact') {
  return `SELECT * FROM ${source} WHERE ${fitsOf(filter, dialect)}`;
}

/** Conditions on attributes of an item version. */
export function attributesFit({ attributes }: AnalysisFilter, dialect: Dialect, json: string) {
  const fits = attributes.map(([name, value]) => fitsValue(dialect, json, name, value));
  return ['1 = 1', ...fits].join(' AND ');
}

/** Items that are live at the end of the span, with their attributes. */
export function liveItems(filter: AnalysisFilter, dialect: Dialect): string {
  const at = dialect.time(filter.toMs);
  return (
    'SELECT item_id, title, attributes FROM item_version WHERE ' +
    `catalogue = ${dialect.text(filter.catalogue)} AND live AND from_time <= ${at} ` +
    `AND to_time > ${at} AND ${attributesFit(filter, dialect, 'attributes')}`
  );
}

/** Exposures of recalls one by one: time_ms, scene, adapter, model, item_id, version_seq, n. */
function singleExposures(recalls: string, buckets: Buckets, dialect: Dialect) {
  const bucket = bucketOf('time', buckets, dialect);
  const columns = `${bucket} AS time_ms, catalogue, scene, adapter, model, catalogue_seq`;
  const items = dialect.items(columns, `(${recalls}) AS shown_recall`);
  const group = 'time_ms, catalogue, scene, adapter, model, item_id';
  const counted =
    `SELECT ${group}, catalogue_seq, count(*) AS n FROM (${items}) AS shown ` +
    `GROUP BY ${group}, catalogue_seq`;
  // Each recall's item has one version or none.
  const versioned =
    `SELECT c.time_ms AS time_ms, c.catalogue AS catalogue, c.scene AS scene, ` +
    'c.adapter AS adapter, c.model AS model, c.item_id AS item_id, c.n AS n, ' +
    'max(CASE WHEN v.from_seq <= c.catalogue_seq AND c.catalogue_seq < v.to_seq ' +
    'THEN v.from_seq ELSE -1 END) AS version_seq ' +
    `FROM (${counted}) AS c LEFT JOIN item_version AS v ` +
    'ON v.catalogue = c.catalogue AND v.item_id = c.item_id ' +
    'GROUP BY c.time_ms, c.catalogue, c.scene, c.adapter, c.model, c.item_id, c.catalogue_seq, c.n';
  return `SELECT ${group}, version_seq, n FROM (${versioned}) AS versioned`;
}

/**
 * How often each item was in an answer: time_ms (begin of its bucket), catalogue, scene, adapter,
 * model, item_id, version_seq (-1: not known), n. Whole hours come from `item_hour` where the
 * buckets are whole hours.
 */
export function exposures(
  filter: AnalysisFilter,
  buckets: Buckets,
  sources: HourSources,
  dialect: Dialect,
): string {
  const { fromMs, toMs } = filter;
  const single = (source: string, from: number, to: number) => {
    const recalls = recallsOf({ ...filter, fromMs: from, toMs: to }, dialect, source);
    return singleExposures(`${recalls} AND code = 'OK'`, buckets, dialect);
  };
  const firstMs = Math.ceil(fromMs / HOUR_MS) * HOUR_MS;
  const endMs = Math.floor(toMs / HOUR_MS) * HOUR_MS;
  const { beginMs, lengthMs } = buckets;
  const isOne = beginMs + lengthMs >= toMs;
  const isByHour = isOne || (beginMs % HOUR_MS === 0 && lengthMs % HOUR_MS === 0);
  if (!isByHour || endMs <= firstMs) return single('recall_fact', fromMs, toMs);
  const bucket = bucketOf('hour', buckets, dialect);
  const conditions = [within('hour', firstMs, endMs, dialect), ...conditionsOf(filter, dialect)];
  const parts = [
    `SELECT ${bucket} AS time_ms, catalogue, scene, adapter, model, item_id, version_seq, ` +
      `recalls AS n FROM item_hour WHERE ${conditions.join(' AND ')}`,
  ];
  if (fromMs < firstMs) parts.push(single(sources.rolled, fromMs, firstMs));
  if (endMs < toMs) parts.push(single(sources.rolled, endMs, toMs));
  if (sources.open !== '') parts.push(single(sources.open, fromMs, toMs));
  return parts.map((part) => `SELECT * FROM (${part}) AS part`).join(' UNION ALL ');
}

/** An attribute by whose values something is told. */
export interface Attribute {
  readonly name: string;
  readonly bounds: Bounds;
}

/**
 * Exposures with `value`, that of the item as it was, under the filter's attributes: an item with
 * several values counts for each.
 */
export function exposuresByValue(
  filter: AnalysisFilter,
  attribute: Attribute,
  exposed: string,
  dialect: Dialect,
): string {
  const versions = valuedVersions(filter, attribute, dialect);
  // Without conditions on items, those of unknown versions count as well.
  const join = filter.attributes.length === 0 ? 'LEFT JOIN' : 'JOIN';
  return (
    'SELECT e.time_ms AS time_ms, e.scene AS scene, e.adapter AS adapter, e.n AS n, ' +
    `coalesce(v.value, '') AS value FROM (${exposed}) AS e ${join} (${versions}) AS v ` +
    'ON v.catalogue = e.catalogue AND v.item_id = e.item_id AND v.from_seq = e.version_seq'
  );
}

/** The Jaccard overlap of the lists of rows `a` and `b`, and where it is defined. */
export function overlapOf(dialect: Dialect): { readonly overlap: string; readonly where: string } {
  const both = dialect.common('a.item_ids', 'b.item_ids');
  const listed = `${dialect.length('a.item_ids')} + ${dialect.length('b.item_ids')}`;
  return { overlap: `${both} * 1.0 / (${listed} - ${both})`, where: `${listed} > 0` };
}

const VERSION = 'catalogue, item_id, title, live, from_seq, to_seq, from_time, to_time';

/**
 * Item versions that a filter lets pass, with their values as `listed`.
 * @param amount a further attribute, where it is a number: as `amount`, otherwise NULL
 */
export function listedVersions(
  filter: AnalysisFilter,
  { name, bounds }: Attribute,
  dialect: Dialect,
  amount = '',
): string {
  const values = valueList(dialect, 'attributes', dialect.text(name), bounds);
  const number =
    amount === '' ? '' : `, ${dialect.numeric('attributes', dialect.text(amount))} AS amount`;
  return (
    `SELECT ${VERSION}${number}, ${values} AS listed FROM item_version ` +
    `WHERE ${attributesFit(filter, dialect, 'attributes')}`
  );
}

/** Item versions as of listedVersions() with each `value`, read from JSON once for each. */
export function valuedVersions(
  filter: AnalysisFilter,
  attribute: Attribute,
  dialect: Dialect,
  amount = '',
): string {
  const fitting = listedVersions(filter, attribute, dialect, amount);
  const columns = amount === '' ? VERSION : `${VERSION}, amount`;
  return dialect.each(columns, 'listed', 'value', `(${fitting}) AS fitting_version`);
}

/** Condition on a version `v`: it is the one that recall `r` saw. */
export const seenBy = (catalogue: string, dialect: Dialect) =>
  `v.catalogue = ${dialect.text(catalogue)} AND v.from_seq <= r.catalogue_seq ` +
  'AND r.catalogue_seq < v.to_seq';
