// Spellings that both languages' writers use.

export const NOTICE = '// Generated from native/abi by tools/generate.mjs. Do not edit.';

export const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/**
 * All records of the parts, and those that they consist of, each once, inner ones first. A record
 * may consist of itself.
 */
export function closure(records) {
  const entered = new Set();
  const closed = [];
  const visit = (record) => {
    if (entered.has(record) || record === undefined) return;
    entered.add(record);
    for (const field of Object.values(record.fields)) visit(field.record);
    closed.push(record);
  };
  for (const record of records) visit(record);
  return closed;
}

/** Words with a constant, of the records' choices; each once. */
export function namedWords(records, more = []) {
  const fields = records.flatMap((record) => Object.values(record.fields));
  const used = fields.flatMap(({ words }) => (words?.constant === undefined ? [] : [words]));
  return [...new Set([...more, ...used])];
}

export const listOf = (words) => words.list ?? words;
