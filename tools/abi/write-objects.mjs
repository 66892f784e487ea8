// native/src/bridge/generated: readers of JavaScript objects into C++ values, and the way back.
import { listOf, NOTICE, snake } from './names.mjs';

const MEMBERS = {
  text: 'std::string',
  flag: 'bool',
  u32: 'uint32_t',
  u53: 'uint64_t',
  f64: 'double',
  texts: 'std::vector<std::string>',
};
const READ_ARRAYS = {
  u32s: 'std::span<const uint32_t>',
  i32s: 'std::span<const int32_t>',
};
const WRITTEN_ARRAYS = {
  bytes: 'std::vector<uint8_t>',
  u32s: 'std::vector<uint32_t>',
  codes: 'std::vector<uint32_t>',
  f64s: 'std::vector<double>',
};
const READERS = {
  text: 'string',
  u32: 'u32',
  u53: 'u53',
  f64: 'f64',
  texts: 'strings',
  u32s: 'u32_array',
  i32s: 'i32_array',
};

const typeOf = (record) => record.cpp ?? record.name;

/** The member of a structure that the generator makes. */
function memberOf(name, field, arrays) {
  const made = field.kind === 'choice' ? 'uint32_t' : (MEMBERS[field.kind] ?? arrays[field.kind]);
  const type = field.kind === 'list' ? `std::vector<${typeOf(field.record)}>` : made;
  return `  ${type} ${snake(name)}${/^(bool|double|u?int)/.test(type) ? '{}' : ''};`;
}

const structOf = (record, arrays) => [
  `struct ${record.name} {`,
  ...Object.entries(record.fields).map(([name, field]) => memberOf(name, field, arrays)),
  '};',
  '',
];

const fieldsConstant = ({ name }) => `k${name}Fields`;

function tableOf(record) {
  const names = Object.keys(record.fields).map((name) => `"${name}"`);
  return [
    `inline constexpr std::array<std::string_view, ${names.length}> ${fieldsConstant(record)} = {`,
    ...names.map((name) => `    ${name},`),
    '};',
    '',
  ];
}

function readLine([name, field]) {
  const to = field.cpp ?? `to.${snake(name)}`;
  if (field.kind !== 'choice') return `  assign(${to}, reader.${READERS[field.kind]}("${name}"));`;
  const words = `{${listOf(field.words)
    .map((word) => `"${word}"`)
    .join(', ')}}`;
  return [
    `  static constexpr std::string_view k_${name}[] = ${words};`,
    `  assign(${to}, reader.choice("${name}", k_${name}));`,
  ].join('\n');
}

const readSignature = (record) =>
  `void read(Napi::Env env, const Napi::Value& value, const char* path, ${typeOf(record)}& to)`;

const readerOf = (record) => [
  `${readSignature(record)} {`,
  `  const ObjectReader reader(env, value, path, ${fieldsConstant(record)});`,
  ...Object.entries(record.fields).map(readLine),
  '}',
  '',
];

/** The kind decides what a value becomes, not the C++ type that it has. */
const CASTS = { flag: 'bool', u32: 'double', u53: 'double', f64: 'double' };

function writeLine([name, field]) {
  const value = field.cpp ?? `from.${snake(name)}`;
  const cast = CASTS[field.kind];
  const from = cast === undefined ? value : `static_cast<${cast}>(${value})`;
  const words = field.kind === 'choice' ? `, k${field.words.name}Words` : '';
  const call = field.kind === 'codes' ? 'list_to_js' : 'to_js';
  return `  to["${name}"] = ${call}(env, ${from}${words});`;
}

const writeSignature = (record) =>
  `Napi::Value to_js(Napi::Env env, const ${typeOf(record)}& from)`;

const writerOf = (record) => [
  `${writeSignature(record)} {`,
  '  Napi::Object to = Napi::Object::New(env);',
  ...Object.entries(record.fields).map(writeLine),
  '  return to;',
  '}',
  '',
];

/** Words of an enumeration; one that has other enumerators, or another order, does not compile. */
const wordsOf = (words) => [
  `inline constexpr std::array<std::string_view, ${words.list.length}> k${words.name}Words = {`,
  ...words.list.map((word) => `    "${word}",`),
  '};',
  ...(words.cpp === undefined ? [] : words.enumerators).map(
    (enumerator, i) => `static_assert(static_cast<uint32_t>(${words.cpp}::${enumerator}) == ${i});`,
  ),
  '',
];

const file = (lines) => [NOTICE, '// clang-format off', ...lines, ''];
const inNamespace = (lines) => [
  'namespace tessera::bridge {',
  '',
  ...lines,
  '}  // namespace tessera::bridge',
];

const numberAsserts = ({ values }) =>
  Object.values(values).map(({ value, cpp }) => `static_assert(${cpp} == ${value}u);`);

export function objectModules({ digest, read, written, words, numbers }) {
  const made = (records) => records.filter((record) => record.cpp === undefined);
  const tables = [
    ...words.flatMap(wordsOf),
    ...numbers.flatMap(numberAsserts),
    '',
    ...read.flatMap(tableOf),
    '/// Structures that the addon reads, with their fields in order.',
    `inline constexpr std::array<StructTable, ${read.length}> kReadStructs = {{`,
    ...read.map((record) => `    {"${record.name}", ${fieldsConstant(record)}},`),
    '}};',
    '',
    '// Readers. Spans are good until the call returns.',
    '',
    ...made(read).flatMap((record) => structOf(record, READ_ARRAYS)),
    '// Writers.',
    '',
    ...made(written).flatMap((record) => structOf(record, WRITTEN_ARRAYS)),
    '// Throw REQUEST_INVALID naming the field.',
    '',
    ...read.map((record) => `${readSignature(record)};`),
    '',
    ...written.map((record) => `${writeSignature(record)};`),
    '',
  ];
  const digestLine = `inline constexpr std::string_view kAbiDigest = "${digest}";`;
  return {
    'native/src/bridge/generated/digest.h': file([
      '#pragma once',
      '',
      '#include <string_view>',
      '',
      ...inNamespace([digestLine, '']),
    ]),
    'native/src/bridge/generated/objects.h': file([
      '#pragma once',
      '',
      '#include "bridge/reports.h"',
      '',
      ...inNamespace(tables),
    ]),
    'native/src/bridge/generated/objects.cc': file([
      '#include "bridge/generated/objects.h"',
      '',
      '#include "bridge/object_reader.h"',
      '#include "bridge/object_writer.h"',
      '',
      ...inNamespace([...read.flatMap(readerOf), ...written.flatMap(writerOf)]),
    ]),
  };
}
