import { MILLISECONDS_PER_HOUR } from '@tessera/units';
import type { Row } from '../domain/analysis-store.js';
import type { Mark } from '../domain/answers.js';
import type { Dialect } from '../domain/dialect.js';
import type { AnalysisFilter } from '../domain/filter.js';
import { numberOf, textOf } from './question.js';

/** Batches of the catalogue that are marks at most: the largest. */
const BATCHES_MAX = 100;
/** Kinds of changes in them. */
const ROWS_MAX = 4 * BATCHES_MAX;
const EFFECTS = ['added', 'paused', 'resumed', 'patched'] as const;

/** Changes of a batch by kind, beside what became of items: those of most items first. */
function batchStatement(filter: AnalysisFilter, dialect: Dialect): string {
  const { number } = dialect;
  const own = `catalogue = ${dialect.text(filter.catalogue)}`;
  const sum = (condition: string, name: string) =>
    `sum(CASE WHEN ${condition} THEN 1 ELSE 0 END) AS ${name}`;
  const differs = ['title', 'attributes', 'sid'].map((name) => `v.${name} <> p.${name}`);
  const before = 'item_id, to_seq, 1 AS is_known, live, title, attributes, sid';
  const effects =
    'SELECT v.from_seq AS seq, count(*) AS items, ' +
    `${sum('p.is_known = 1 AND p.live AND NOT v.live', 'paused')}, ` +
    `${sum('p.is_known = 1 AND v.live AND NOT p.live', 'resumed')}, ` +
    `${sum(`p.is_known = 1 AND p.live = v.live AND (${differs.join(' OR ')})`, 'patched')}, ` +
    `${sum('v.live AND coalesce(p.is_known, 0) = 0', 'added')} ` +
    `FROM (SELECT * FROM item_version WHERE ${own} AND ${within(filter, 'from_time', dialect)}) ` +
    `AS v LEFT JOIN (SELECT ${before} FROM item_version WHERE ${own}) AS p ` +
    'ON p.item_id = v.item_id AND p.to_seq = v.from_seq GROUP BY v.from_seq';
  const batches =
    `SELECT seq, source, op, min(time) AS begin_time, count(*) AS changes FROM change ` +
    `WHERE ${own} AND ${within(filter, 'time', dialect)} GROUP BY seq, source, op`;
  const counts = EFFECTS.map((name) => `${number(`coalesce(e.${name}, 0)`)} AS ${name}`);
  return (
    `SELECT ${number(dialect.ms('b.begin_time'))} AS time_ms, ${number('b.seq')} AS sequence, ` +
    `b.source AS source, b.op AS op, ${number('b.changes')} AS changes, ${counts.join(', ')} ` +
    `FROM (${batches}) AS b LEFT JOIN (${effects}) AS e ON e.seq = b.seq ` +
    `ORDER BY greatest(b.changes, coalesce(e.items, 0)) DESC, b.seq DESC LIMIT ${ROWS_MAX}`
  );
}

const within = ({ fromMs, toMs }: AnalysisFilter, column: string, dialect: Dialect) =>
  `${column} >= ${dialect.time(fromMs)} AND ${column} < ${dialect.time(toMs)}`;

/** Two statements: batches of the catalogue, and versions of other things. */
export function marksStatements(filter: AnalysisFilter, dialect: Dialect): string[] {
  const { number } = dialect;
  return [
    batchStatement(filter, dialect),
    `SELECT ${number(dialect.ms('time'))} AS time_ms, kind, digest, name, state FROM version ` +
      `WHERE ${within(filter, 'time', dialect)} AND state IN ('active', 'canary') ORDER BY time`,
  ];
}

function ofBatch(rows: readonly Row[]): Mark {
  const [first] = rows;
  const ops = rows.map((row) => textOf(row, 'op'));
  const told = EFFECTS.filter((name) => numberOf(first, name) > 0).map((name) => {
    const word = name === 'paused' && ops.includes('remove') ? 'removed' : name;
    return [word, numberOf(first, name)] as const;
  });
  const parts =
    told.length > 0
      ? told
      : rows.map((row) => [textOf(row, 'op'), numberOf(row, 'changes')] as const);
  const what = ops.includes('roll_back')
    ? 'rolled back'
    : parts.map(([word, count]) => `${count} ${word}`).join(', ');
  return {
    timeMs: Math.min(...rows.map((row) => numberOf(row, 'time_ms'))),
    kind: 'catalogue',
    text: `${textOf(first, 'source') || 'catalogue'}: ${what}`,
    changes: parts.reduce((sum, [, count]) => sum + count, 0),
    firstSequence: numberOf(first, 'sequence'),
    sequence: numberOf(first, 'sequence'),
    digest: '',
  };
}

/** Batches of an hour are one mark, where the first of them is. */
function ofHour(batches: readonly Mark[]): Mark[] {
  const [first, ...others] = [...batches].sort((a, b) => a.timeMs - b.timeMs);
  if (first === undefined || others.length === 0) return [...batches];
  const counts = new Map<string, number>();
  for (const { text } of batches) {
    const what = text.slice(text.indexOf(': ') + 2);
    for (const part of what.split(', ')) {
      const [, count = '1', word = part] = /^(\d+) (.+)$/.exec(part) ?? [];
      counts.set(word, (counts.get(word) ?? 0) + Number(count));
    }
  }
  const parts = [...counts].map(([word, count]) => `${count} ${word}`);
  const changes = batches.reduce((sum, one) => sum + one.changes, 0);
  const sequence = Math.max(...batches.map((one) => one.sequence));
  const text = `${batches.length} batches: ${parts.join(', ')}`;
  return [Object.assign({}, first, { text, changes, sequence })];
}

/** Oldest first. */
export function marksOf([changes = [], versions = []]: readonly (readonly Row[])[]): Mark[] {
  const keyOf = (row: Row) => `${numberOf(row, 'sequence')} ${textOf(row, 'source')}`;
  const batches = [...Map.groupBy(changes, keyOf).values()].map(ofBatch).slice(0, BATCHES_MAX);
  const hours = Map.groupBy(batches, ({ timeMs }) => Math.floor(timeMs / MILLISECONDS_PER_HOUR));
  const ofVersion = (row: Row): Mark => ({
    timeMs: numberOf(row, 'time_ms'),
    kind: textOf(row, 'kind') as Mark['kind'],
    text: `${textOf(row, 'name') || textOf(row, 'digest').slice(0, 8)}: ${textOf(row, 'state')}`,
    changes: 0,
    firstSequence: 0,
    sequence: 0,
    digest: textOf(row, 'digest'),
  });
  const marks = [...[...hours.values()].flatMap(ofHour), ...versions.map(ofVersion)];
  return marks.sort((a, b) => a.timeMs - b.timeMs);
}
