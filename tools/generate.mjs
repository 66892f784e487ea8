// Writes code from descriptions: TypeScript of the wire from proto/ (libs/ops/contracts, and
// clients/node with the repeats that it has from libs/edge/client), what native/abi describes for
// both languages, and schemas of the console's answers. TypeScript of proto/ and native/abi is
// build output; the rest is committed, and `--check` fails where that is not up to date. `--build`
// writes build output alone.
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { abiModules } from './abi/abi-modules.mjs';
import { consoleAnswersModule } from './console-answers.mjs';
import { wordsOf } from './words.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
process.chdir(root);
const contracts = join('libs', 'ops', 'contracts', 'src', 'generated');
const callers = join('clients', 'node', 'src', 'generated');
const KEEP_COMMENTS = { keepComments: true };
const { check: onlyCheck = false, build: onlyBuild = false } = wordsOf(['check', 'build']);
/** TypeScript that git does not have. */
const BUILD_OUTPUT = /^(native\/ts|libs\/ops\/config\/src)\/generated\//;
const require = createRequire(import.meta.url);

function buf(args) {
  const command = join('node_modules', '.bin', 'buf');
  const result = spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  if (result.status !== 0) {
    console.error(`generate: 'buf ${args.join(' ')}' failed ${result.error?.message ?? ''}`);
    process.exit(1);
  }
}

/** The parsed proto files. */
function protoRoot(options) {
  const loaderRequire = createRequire(require.resolve('@grpc/proto-loader'));
  const protobuf = loaderRequire('protobufjs');
  const files = fs.readdirSync('proto', { recursive: true }).map(String).sort();
  const space = new protobuf.Root();
  space.resolvePath = (_origin, target) => join('proto', target);
  space.loadSync(
    files.filter((file) => file.endsWith('.proto')),
    options,
  );
  return space.resolveAll();
}

/** All services with the types of their methods, for clients. */
function servicesModule() {
  const imports = new Map();
  const typeOf = ({ name, filename, parent }) => {
    const alias = parent.fullName.slice(1).replaceAll('.', '_');
    imports.set(alias, filename.slice('proto/'.length).replace(/proto$/, 'js'));
    return `${alias}.${name}`;
  };
  const methodOf = ({ name, resolvedRequestType, resolvedResponseType }) =>
    `    ${name}: [${typeOf(resolvedRequestType)}, ${typeOf(resolvedResponseType)}];`;
  const servicesIn = ({ nestedArray = [], methodsArray, fullName }) =>
    methodsArray === undefined
      ? nestedArray.flatMap(servicesIn)
      : [`  '${fullName.slice(1)}': {`, ...methodsArray.map(methodOf), '  };'];
  const services = servicesIn(protoRoot({ keepCase: false }));
  return [
    '// Generated from proto/ by tools/generate.mjs. Do not edit.',
    '',
    ...[...imports].map(([alias, file]) => `import type * as ${alias} from './${file}';`),
    '',
    '/** Services by their full names; a method has its request and its answer. */',
    'export interface WireServices {',
    ...services,
    '}',
    '',
  ].join('\n');
}

/**
 * The schema as the loader of the gRPC server takes it; it needs no file at run time.
 */
function schemaModule() {
  const schema = (options, written) => protoRoot(options).toJSON(written);
  const text = (json) => JSON.stringify(json, (_key, value) => value ?? undefined, 2);
  const described = schema({ keepCase: false, alternateCommentMode: true }, KEEP_COMMENTS);
  return [
    '// Generated from proto/ by tools/generate.mjs. Do not edit.',
    '',
    '/** Messages and services as protobufjs writes a schema; fields in camel case; comments. */',
    `export const protoSchema: object = ${text(described)};`,
    '',
    '/** Words of the enumerations, in JSON and in the domain, with their numbers on the wire. */',
    `export const enumWords = ${text(enumWords(described))} as const;`,
    '',
  ].join('\n');
}

/**
 * The files as `buf build` compiles them, each after those that it imports: what reflection serves.
 * Descriptors made from the schema above would lose files' names, imports and map entries.
 */
function descriptorsModule() {
  const folder = fs.mkdtempSync(join(os.tmpdir(), 'tessera-descriptors-'));
  const built = join(folder, 'descriptors.binpb');
  buf(['build', '--as-file-descriptor-set', '--exclude-source-info', '-o', built]);
  const { FileDescriptorProto, FileDescriptorSet } = require('protobufjs/ext/descriptor');
  const { file } = FileDescriptorSet.decode(fs.readFileSync(built));
  fs.rmSync(folder, { recursive: true });
  const encoded = (one) => Buffer.from(FileDescriptorProto.encode(one).finish());
  return [
    '// Generated from proto/ by tools/generate.mjs. Do not edit.',
    '',
    '/** FileDescriptorProto of each file in base64, by its path; imports stand before. */',
    'export const protoDescriptors: Readonly<Record<string, string>> = {',
    ...file.map((one) => `  '${one.name}': '${encoded(one).toString('base64')}',`),
    '};',
    '',
  ].join('\n');
}

/** Of every enumeration by its full name: `SCORE_NORM_FULL = 1` is `full: 1`. */
function enumWords({ nested = {}, values }, path = '') {
  if (values !== undefined) {
    const prefix = Object.keys(values)[0].replace(/UNSPECIFIED$/, '');
    const words = Object.entries(values).filter(([, number]) => number !== 0);
    const inWords = (name) => name.slice(prefix.length).toLowerCase().replaceAll('_', '-');
    return { [path]: Object.fromEntries(words.map(([name, number]) => [inWords(name), number])) };
  }
  const below = Object.entries(nested).map(([name, one]) =>
    enumWords(one, path === '' ? name : `${path}.${name}`),
  );
  return Object.assign({}, ...below);
}

function generateInto(folder) {
  buf(['generate', '-o', folder]);
  const own = join(folder, contracts);
  fs.writeFileSync(join(own, 'proto-schema.ts'), schemaModule());
  fs.writeFileSync(join(own, 'services.ts'), servicesModule());
  fs.writeFileSync(join(own, 'proto-descriptors.ts'), descriptorsModule());
  fs.copyFileSync('libs/edge/client/src/retries.ts', join(folder, callers, 'retries.ts'));
}

/** Limits of the engine, for the engine and for the configuration (ADR 0100). */
function limitModules() {
  const limits = Object.entries(JSON.parse(fs.readFileSync('native/abi/limits.json', 'utf8')));
  const inCpp = ([name, value]) =>
    `inline constexpr uint32_t k${name[0].toUpperCase()}${name.slice(1)} = ${value};`;
  return {
    'native/src/engine/limits.h': [
      '// Generated from native/abi/limits.json by tools/generate.mjs. Do not edit.',
      '#pragma once',
      '',
      '#include <cstdint>',
      '',
      'namespace tessera::engine {',
      '',
      ...limits.map(inCpp),
      '',
      '}  // namespace tessera::engine',
      '',
    ],
    'libs/ops/config/src/generated/engine-limits.ts': [
      '// Generated from native/abi/limits.json by tools/generate.mjs. Do not edit.',
      '',
      '/** Largest values that the engine takes. */',
      'export const ENGINE_LIMITS = {',
      ...limits.map(([name, value]) => `  ${name}: ${value},`),
      '} as const;',
      '',
    ],
  };
}

function filesOf(folder) {
  if (!fs.existsSync(folder)) return new Map();
  const names = fs.readdirSync(folder, { recursive: true }).map(String).sort();
  const files = names.filter((name) => fs.statSync(join(folder, name)).isFile());
  return new Map(files.map((name) => [name, fs.readFileSync(join(folder, name), 'utf8')]));
}

/** Replaces each folder of types where a file of it differs. */
function writeTypes() {
  const fresh = fs.mkdtempSync(join(os.tmpdir(), 'tessera-generate-'));
  try {
    generateInto(fresh);
    for (const folder of [contracts, callers]) {
      const [wanted, found] = [filesOf(join(fresh, folder)), filesOf(folder)];
      const names = [...new Set([...wanted.keys(), ...found.keys()])];
      if (names.every((name) => wanted.get(name) === found.get(name))) continue;
      fs.rmSync(folder, { recursive: true, force: true });
      fs.cpSync(join(fresh, folder), folder, { recursive: true });
    }
  } finally {
    fs.rmSync(fresh, { recursive: true, force: true });
  }
}

/** Writes the files that differ. @returns their paths */
function written(modules, mayWrite = true) {
  const textAt = (path) => (fs.existsSync(path) ? fs.readFileSync(path, 'utf8') : '');
  const texts = Object.entries(modules).map(([path, lines]) => [path, lines.join('\n')]);
  const stale = texts.filter(([path, text]) => textAt(path) !== text);
  for (const [path, text] of mayWrite ? stale : []) {
    fs.mkdirSync(dirname(path), { recursive: true });
    fs.writeFileSync(path, text);
  }
  return stale.map(([path]) => path);
}

writeTypes();
const described = Object.entries({ ...limitModules(), ...abiModules() });
const parts = (isOutput) =>
  Object.fromEntries(described.filter(([path]) => BUILD_OUTPUT.test(path) === isOutput));
written(parts(true));
if (!onlyBuild) {
  // The console's answers are read from TypeScript that uses all of the above.
  const stale = written({ ...parts(false), ...consoleAnswersModule() }, !onlyCheck).join(', ');
  if (onlyCheck && stale !== '') {
    console.error(`generate: not up to date: ${stale}; run npm run generate`);
    process.exitCode = 1;
  } else if (stale !== '') {
    console.log(`generate: wrote ${stale}`);
  }
}
