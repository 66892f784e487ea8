// native/ts/generated/types.ts: what crosses, as TypeScript sees it.
import { listOf, NOTICE } from './names.mjs';

const COLUMNS = 100;

const SCALARS = {
  text: 'string',
  flag: 'boolean',
  u32: 'number',
  u53: 'number',
  f32: 'number',
  f64: 'number',
  bytes: 'Uint8Array',
  u32s: 'Uint32Array',
  i32s: 'Int32Array',
  f32s: 'Float32Array',
  f64s: 'Float64Array',
  rows: 'Uint32Array',
  codes: 'readonly number[]',
  paths: 'readonly (readonly number[])[]',
  texts: 'readonly string[]',
  blob: 'Buffer',
  blobs: 'readonly Buffer[]',
  entries: 'PackedEntries',
};

const quoted = (word) => `'${word}'`;

function typeOf(field) {
  if (field.kind === 'choice') {
    return field.words.name ?? field.words.map(quoted).join(' | ');
  }
  if (field.kind === 'handle') return field.type;
  if (field.kind === 'optional') return `${typeOf(field.of)} | undefined`;
  if (field.kind === 'one') return field.record.name;
  if (field.kind === 'list' || field.kind === 'each') return `readonly ${field.record.name}[]`;
  return SCALARS[field.kind];
}

/** A comment, wrapped. */
function comment(doc, indent = '') {
  if (doc === '') return [];
  const one = `${indent}/** ${doc} */`;
  if (one.length <= COLUMNS) return [one];
  const lines = [];
  let line = `${indent} *`;
  for (const word of doc.split(' ')) {
    if (`${line} ${word}`.length > COLUMNS) {
      lines.push(line);
      line = `${indent} *`;
    }
    line += ` ${word}`;
  }
  return [`${indent}/**`, ...lines, line, `${indent} */`];
}

const interfaceOf = ({ name, doc, fields }) => [
  ...comment(doc),
  `export type ${name} = {`,
  ...Object.entries(fields).flatMap(([field, of]) => [
    ...comment(of.doc, '  '),
    `  readonly ${field}: ${typeOf(of)};`,
  ]),
  '};',
  '',
];

const wordsOf = (words) => [
  ...comment(words.doc),
  `export const ${words.constant} = [`,
  ...listOf(words).map((word) => `  ${quoted(word)},`),
  '] as const;',
  `export type ${words.name} = (typeof ${words.constant})[number];`,
  '',
];

/** Names of the numbers of a row. */
const slotsOf = ({ name, fields }) => [
  `export const ${name.replace(/(.)([A-Z])/g, '$1_$2').toUpperCase()}_SLOTS = [`,
  ...Object.keys(fields).map((field) => `  ${quoted(field)},`),
  '] as const;',
  '',
];

const shown = (value) => (value > 0x7fff_ffff ? `0x${value.toString(16)}` : String(value));

const numbersOf = ({ constant, doc, values }) => [
  ...comment(doc),
  `export const ${constant} = {`,
  ...Object.entries(values).map(([name, { value }]) => `  ${name}: ${shown(value)},`),
  '} as const;',
  '',
];

export function typesModule({ digest, records, words, rows, numbers, handles }) {
  const imported = [
    `import type { ${handles.join(', ')} } from '../handles.js';`,
    "import type { PackedEntries } from '../packed.js';",
    '',
  ];
  return [
    NOTICE,
    '',
    ...imported,
    '/** Of the descriptions that this was written from; the addon must be built from the same. */',
    `export const ABI_DIGEST = '${digest}';`,
    '',
    ...words.flatMap(wordsOf),
    ...numbers.flatMap(numbersOf),
    ...rows.flatMap(slotsOf),
    ...records.flatMap(interfaceOf),
  ];
}
