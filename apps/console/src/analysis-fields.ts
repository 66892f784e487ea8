/** Filters and settings of the questions of the analysis, from their queries. */

import type { AnalysisFilter } from '@tessera/analysis';
import { type Fields, fieldsOf, integerOf, invalid, optionalText } from './fields.js';

const DAY_MS = 24 * 3_600_000;
const TEXT_LENGTH_MAX = 1024;
const PAIRS_MAX = 16;
/** So that spans before a span are times as well; the end of the year 9999. */
const TIME = { min: 0, max: 253_402_300_799_999 };
const SOURCES = ['served', 'console', 'all'] as const;

/** Members of every question's query. */
const FILTER_FIELDS = [
  ...['from', 'to', 'scene', 'attribute', 'adapter', 'model', 'source', 'catalogue'],
];

/**
 * Members of the query and of the path, which become literals of statements.
 * @throws TesseraError REQUEST_INVALID with the field
 */
export function askedFields(query: unknown, names: readonly string[], path: Fields = {}): Fields {
  const fields = fieldsOf(query, [...FILTER_FIELDS, ...names]);
  for (const [name, value] of [...Object.entries(path), ...Object.entries(fields)]) {
    const hasNul = [value].flat().some((one) => String(one).includes('\0'));
    if (hasNul) throw invalid(name, 'text without NUL', 'one with it');
  }
  return fields;
}

/** `KEY=VALUE`, once or several times. @throws TesseraError REQUEST_INVALID */
function pairsOf(fields: Fields, name: string): [string, string][] {
  const given = fields[name] ?? [];
  const texts = Array.isArray(given) ? given : [given];
  if (texts.length > PAIRS_MAX) throw invalid(name, `at most ${PAIRS_MAX}`, texts.length);
  return texts.map((text) => {
    const at = typeof text === 'string' ? text.indexOf('=') : -1;
    const key = String(text).slice(0, Math.max(0, at));
    if (at < 1 || key.length > TEXT_LENGTH_MAX) {
      throw invalid(name, 'NAME=VALUE', text);
    }
    return [key, String(text).slice(at + 1)];
  });
}

/** @throws TesseraError REQUEST_INVALID with the field */
export function filterOf(fields: Fields, nowMs: number): AnalysisFilter {
  const toMs = integerOf(fields, 'to', { ...TIME, fallback: nowMs });
  const fromMs = integerOf(fields, 'from', { ...TIME, fallback: toMs - DAY_MS });
  if (fromMs >= toMs) throw invalid('from', `a time before ${toMs}`, fromMs);
  const adapter = optionalText(fields, 'adapter', TEXT_LENGTH_MAX);
  const source = SOURCES.find((one) => one === (fields.source ?? 'served'));
  if (source === undefined) throw invalid('source', SOURCES.join(', '), fields.source);
  return {
    fromMs,
    toMs,
    source,
    catalogue: optionalText(fields, 'catalogue', TEXT_LENGTH_MAX) ?? '',
    adapter: adapter === 'base' ? '' : adapter,
    model: optionalText(fields, 'model', TEXT_LENGTH_MAX),
    scenes: pairsOf(fields, 'scene'),
    attributes: pairsOf(fields, 'attribute'),
  };
}

/** Name of an attribute; '' for none. @throws TesseraError REQUEST_INVALID */
export function attributeOf(fields: Fields, name: string): string {
  return optionalText(fields, name, TEXT_LENGTH_MAX) ?? '';
}
