// Readers and writers of packed records, for both sides: native/src/abi/generated and
// native/ts/generated/packed.ts. Field by field in one order, so what one side writes is what the
// other reads.
import { listOf, NOTICE, snake } from './names.mjs';

/** Kinds whose value the packed form has a method for, of the same name on all four sides. */
const METHODS = {
  text: 'text',
  flag: 'flag',
  u32: 'u32',
  u53: 'u53',
  f32: 'f32',
  f64: 'f64',
  u32s: 'u32s',
  i32s: 'i32s',
  f32s: 'f32s',
  codes: 'u32s',
  paths: 'paths',
  texts: 'texts',
  blob: 'blob',
  blobs: 'blobs',
  entries: 'entries',
};

const typeOf = (record) => record.cpp ?? record.name;
const snakeOf = ({ name }) => snake(name).replace(/^_/, '');
const entriesOf = ({ fields }) => Object.entries(fields);

// C++.

function writeLines(record, from, indent = '  ') {
  return entriesOf(record).flatMap(([name, field]) => {
    const value = field.cpp ?? `${from}.${snake(name)}`;
    const { kind, record: inner } = field;
    if (kind === 'choice') return [`${indent}out.u32(static_cast<uint32_t>(${value}));`];
    if (kind === 'one') return [`${indent}write_${snakeOf(inner)}(out, ${value});`];
    if (kind === 'list') {
      return [
        `${indent}out.count(${value}.size());`,
        `${indent}for (const auto& each : ${value}) write_${snakeOf(inner)}(out, each);`,
      ];
    }
    if (kind === 'each') {
      return [
        `${indent}out.count(${field.count});`,
        `${indent}for (size_t i = 0; i < ${field.count}; ++i) {`,
        ...writeLines(inner, from, `${indent}  `),
        `${indent}}`,
      ];
    }
    if (kind === 'rows') {
      return [
        `${indent}out.count(${value}.size());`,
        `${indent}for (const auto& row : ${value}) {`,
        ...writeLines(inner, 'row', `${indent}  `),
        `${indent}}`,
      ];
    }
    return [`${indent}out.${METHODS[kind]}(${value});`];
  });
}

function readStatement(field, to) {
  const { kind, of, record: inner } = field;
  if (kind === 'choice') return `in.choice(${to}, ${listOf(field.words).length});`;
  if (kind === 'one') return `read_${snakeOf(inner)}(in, ${to});`;
  if (kind === 'list' || kind === 'optional') {
    const each = of ?? { kind: 'one', record: inner };
    return `in.${kind}(${to}, [&in](auto& each) { ${readStatement(each, 'each')} });`;
  }
  return `in.${METHODS[kind]}(${to});`;
}

const readLines = (record) =>
  entriesOf(record).map(
    ([name, field]) => `  ${readStatement(field, field.cpp ?? `to.${snake(name)}`)}`,
  );

const writeSignature = (record) =>
  `void write_${snakeOf(record)}([[maybe_unused]] PackedWriter& out, ` +
  `[[maybe_unused]] const ${typeOf(record)}& from)`;
const readSignature = (record) =>
  `void read_${snakeOf(record)}([[maybe_unused]] PackedReader& in, ` +
  `[[maybe_unused]] ${typeOf(record)}& to)`;

const MADE = { u32: 'uint32_t', u53: 'uint64_t', f64: 'double', choice: 'uint32_t' };
MADE.text = 'std::string';
MADE.texts = 'std::vector<std::string>';

const structOf = (record) => [
  `struct ${record.name} {`,
  ...entriesOf(record).map(([name, { kind, record: inner }]) =>
    kind === 'list'
      ? `  std::vector<${typeOf(inner)}> ${snake(name)};`
      : `  ${MADE[kind]} ${snake(name)}{};`,
  ),
  '};',
  '',
];

const tableOf = (type, name, prefix, records) => [
  `inline constexpr std::array<${type}, ${records.length}> ${name} = {`,
  ...records.map((record) => `    &${prefix}_${snakeOf(record)},`),
  '};',
  '',
];

const staticAsserts = ({ cpp, enumerators }) =>
  cpp === undefined
    ? []
    : enumerators.map(
        (enumerator, i) => `static_assert(static_cast<uint32_t>(${cpp}::${enumerator}) == ${i});`,
      );

const file = (lines) => [NOTICE, '// clang-format off', ...lines];
const space = (lines) => [
  'namespace tessera::abi {',
  '',
  ...lines,
  '}  // namespace tessera::abi',
  '',
];

/** A header of declarations and the file of their definitions. */
function modulesOf(name, includes, declared, defined) {
  const path = `abi/generated/${name}`;
  return {
    [`native/src/${path}.h`]: file(['#pragma once', '', ...includes, '', ...space(declared)]),
    [`native/src/${path}.cc`]: file([`#include "${path}.h"`, '', ...space(defined)]),
  };
}

export function packedCpp({ packedIn, packedOut, requests, answers, words }) {
  const made = packedIn.filter(({ cpp }) => cpp === undefined);
  const readers = [
    ...words.flatMap(staticAsserts),
    '',
    ...made.flatMap(structOf),
    ...packedIn.map((record) => `${readSignature(record)};`),
    '',
    '/// The fields of each kind of request.',
    'using ReadRequest = void (*)(PackedReader&, engine::Request&);',
    ...tableOf('ReadRequest', 'kReadRequest', 'read', requests),
  ];
  const writers = [
    ...packedOut.map((record) => `${writeSignature(record)};`),
    '',
    '/// The fields of an answer to each kind of request.',
    'using WriteAnswer = void (*)(PackedWriter&, const engine::Completion&);',
    ...tableOf('WriteAnswer', 'kWriteAnswer', 'write', answers),
  ];
  const functionOf = (signature, lines) => [`${signature} {`, ...lines, '}', ''];
  return {
    ...modulesOf(
      'packed_in',
      [
        '#include <array>',
        '',
        '#include "abi/packed_reader.h"',
        '#include "catalogue/given_change.h"',
        '#include "catalogue/reach_request.h"',
        '#include "engine/request.h"',
        '#include "store/ordered_store.h"',
      ],
      readers,
      packedIn.flatMap((record) => functionOf(readSignature(record), readLines(record))),
    ),
    ...modulesOf(
      'packed_out',
      [
        '#include <array>',
        '',
        '#include "abi/packed_writer.h"',
        '#include "engine/request.h"',
        '#include "store/ordered_store.h"',
      ],
      writers,
      packedOut.flatMap((record) => functionOf(writeSignature(record), writeLines(record, 'from'))),
    ),
  };
}

// TypeScript.

const codesOf = ({ name, constant, list }) => [
  `const ${constant}_CODES: Readonly<Record<${name}, number>> = {`,
  ...list.map((word, i) => `  '${word}': ${i},`),
  '};',
  '',
];

function writeStatement(field, value) {
  const { kind, of, record, words } = field;
  if (kind === 'choice') return `to.u32(${words.constant}_CODES[${value}]);`;
  if (kind === 'one') return `write${record.name}(to, ${value});`;
  if (kind === 'list') return `to.list(${value}, write${record.name});`;
  if (kind === 'optional') {
    const inner = writeStatement(of, value);
    return `to.flag(${value} !== undefined);\n  if (${value} !== undefined) ${inner}`;
  }
  return `to.${METHODS[kind]}(${value});`;
}

const writeCall = ([name, field]) => `  ${writeStatement(field, `from.${name}`)}`;

function readCall([name, { kind, words, record }]) {
  if (kind === 'choice' && words.name === undefined) {
    const all = words.map((word) => `'${word}'`);
    return `    ${name}: from.word([${all.join(', ')}] as const),`;
  }
  if (kind === 'choice') return `    ${name}: from.word(${words.constant}),`;
  if (kind === 'one') return `    ${name}: read${record.name}(from),`;
  if (kind === 'list' || kind === 'each') return `    ${name}: from.list(read${record.name}),`;
  if (kind === 'rows') return `    ${name}: from.rows(${Object.keys(record.fields).length}),`;
  const method = kind === 'codes' ? 'codes' : METHODS[kind];
  return `    ${name}: from.${method}(),`;
}

const writerOf = (record) =>
  entriesOf(record).length === 0
    ? []
    : [
        `export function write${record.name}(to: PackedWriter, from: ${record.name}): void {`,
        ...entriesOf(record).map(writeCall),
        '}',
        '',
      ];

const readerOf = (record) =>
  entriesOf(record).length === 0
    ? []
    : [
        `export function read${record.name}(from: PackedReader): ${record.name} {`,
        '  return {',
        ...entriesOf(record).map(readCall),
        '  };',
        '}',
        '',
      ];

export function packedTypeScript({ packedIn, packedOut, inWords, outWords }) {
  const isNotEmpty = (record) => entriesOf(record).length > 0;
  const used = [...packedIn, ...packedOut].filter(isNotEmpty).map(({ name }) => name);
  const types = [...used, ...inWords.map(({ name }) => name)].map((name) => `  type ${name},`);
  const values = outWords.map(({ constant }) => `  ${constant},`);
  return {
    'native/ts/generated/packed.ts': [
      NOTICE,
      '',
      "import type { PackedReader, PackedWriter } from '../packed.js';",
      'import {',
      ...[...values, ...types].sort(),
      "} from './types.js';",
      '',
      ...inWords.flatMap(codesOf),
      ...packedIn.flatMap(writerOf),
      ...packedOut.flatMap(readerOf),
    ],
  };
}
