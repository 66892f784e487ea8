// Spellings that both languages' writers use.

export const NOTICE = '// Generated from native/abi by tools/generate.mjs. Do not edit.';

export const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** All records of the parts, and those that they consist of, each once, inner ones first. */
export function closure(records) {
  const seen = new Set();
  const visit = (record) => {
    if (seen.has(record) || record === undefined) return;
    for (const field of Object.values(record.fields)) visit(field.record);
    seen.add(record);
  };
  for (const record of records) visit(record);
  return [...seen];
}

/** Words with a constant, of the records' choices; each once. */
export function namedWords(records, more = []) {
  const fields = records.flatMap((record) => Object.values(record.fields));
  const used = fields.flatMap(({ words }) => (words?.constant === undefined ? [] : [words]));
  return [...new Set([...more, ...used])];
}

export const listOf = (words) => words.list ?? words;
