import type { Row } from '../domain/analysis-store.js';
import type { Mark } from '../domain/answers.js';
import type { Dialect } from '../domain/dialect.js';
import type { AnalysisFilter } from '../domain/filter.js';
import { numberOf, textOf } from './question.js';

/** Batches of the catalogue that are marks at most: the largest. */
const BATCHES_MAX = 100;

/** Two statements: batches of the catalogue, and versions of other things. */
export function marksStatements(filter: AnalysisFilter, dialect: Dialect): string[] {
  const { fromMs, toMs, catalogue } = filter;
  const { number } = dialect;
  const within = `time >= ${dialect.time(fromMs)} AND time < ${dialect.time(toMs)}`;
  return [
    `SELECT ${number(dialect.ms('min(time)'))} AS time_ms, ${number('seq')} AS sequence, source, ` +
      `min(op) AS op, ${number('count(*)')} AS changes FROM change ` +
      `WHERE catalogue = ${dialect.text(catalogue)} AND ${within} ` +
      `GROUP BY seq, source ORDER BY changes DESC, sequence DESC LIMIT ${BATCHES_MAX}`,
    `SELECT ${number(dialect.ms('time'))} AS time_ms, kind, digest, name, state FROM version ` +
      `WHERE ${within} AND state IN ('active', 'canary') ORDER BY time`,
  ];
}

/** Oldest first. */
export function marksOf([batches = [], versions = []]: readonly (readonly Row[])[]): Mark[] {
  const ofBatch = (row: Row): Mark => {
    const changes = numberOf(row, 'changes');
    const what = textOf(row, 'op') === 'roll_back' ? 'rolled back' : `${changes} changes`;
    const text = `${textOf(row, 'source') || 'catalogue'}: ${what}`;
    const sequence = numberOf(row, 'sequence');
    return { timeMs: numberOf(row, 'time_ms'), kind: 'catalogue', text, sequence, digest: '' };
  };
  const ofVersion = (row: Row): Mark => ({
    timeMs: numberOf(row, 'time_ms'),
    kind: textOf(row, 'kind') as Mark['kind'],
    text: `${textOf(row, 'name') || textOf(row, 'digest').slice(0, 8)}: ${textOf(row, 'state')}`,
    sequence: 0,
    digest: textOf(row, 'digest'),
  });
  const all = [...batches.map(ofBatch), ...versions.map(ofVersion)];
  return all.sort((a, b) => a.timeMs - b.timeMs);
}
