// Writes libs/contracts/src/generated from proto/: TypeScript types and the schema that the
// server loads. `--check` writes nothing and fails when the committed files are not up to date.
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
process.chdir(root);
const committed = join('libs', 'contracts', 'src', 'generated');
const onlyCheck = process.argv.includes('--check');
const require = createRequire(import.meta.url);

function buf(args) {
  const command = join('node_modules', '.bin', 'buf');
  const result = spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  if (result.status !== 0) {
    console.error(`generate: 'buf ${args.join(' ')}' failed ${result.error?.message ?? ''}`);
    process.exit(1);
  }
}

/**
 * The parsed proto files as the loader of the gRPC server takes them; it needs no file at run time.
 */
function schemaModule() {
  const loaderRequire = createRequire(require.resolve('@grpc/proto-loader'));
  const protobuf = loaderRequire('protobufjs');
  const files = fs.readdirSync('proto', { recursive: true }).map(String).sort();
  const schema = (options) => {
    const space = new protobuf.Root();
    space.resolvePath = (_origin, target) => join('proto', target);
    space.loadSync(
      files.filter((file) => file.endsWith('.proto')),
      options,
    );
    return JSON.stringify(space.toJSON(), null, 2);
  };
  return [
    '// Generated from proto/ by tools/generate.mjs. Do not edit.',
    '',
    '/** Every message and service as protobufjs writes a schema in JSON; fields in camel case. */',
    `export const protoSchema: object = ${schema({ keepCase: false })};`,
    '',
    '/** The same with the names of the proto files, for reflection. */',
    `export const protoSchemaAsWritten: object = ${schema({ keepCase: true })};`,
    '',
  ].join('\n');
}

function generateInto(folder) {
  buf(['generate', '-o', folder]);
  fs.writeFileSync(join(folder, 'proto-schema.ts'), schemaModule());
}

function filesOf(folder) {
  if (!fs.existsSync(folder)) return new Map();
  const names = fs.readdirSync(folder, { recursive: true }).map(String).sort();
  const files = names.filter((name) => fs.statSync(join(folder, name)).isFile());
  return new Map(files.map((name) => [name, fs.readFileSync(join(folder, name), 'utf8')]));
}

const fresh = fs.mkdtempSync(join(os.tmpdir(), 'tessera-generate-'));
try {
  generateInto(fresh);
  const [wanted, found] = [filesOf(fresh), filesOf(committed)];
  const names = [...new Set([...wanted.keys(), ...found.keys()])];
  const stale = names.filter((name) => wanted.get(name) !== found.get(name));
  if (onlyCheck && stale.length > 0) {
    console.error(`generate: not up to date: ${stale.join(', ')}; run npm run generate`);
    process.exitCode = 1;
  } else if (stale.length > 0) {
    fs.rmSync(committed, { recursive: true, force: true });
    fs.cpSync(fresh, committed, { recursive: true });
    console.log(`generate: wrote ${stale.join(', ')}`);
  }
} finally {
  fs.rmSync(fresh, { recursive: true, force: true });
}
