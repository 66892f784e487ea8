// `npm run pack -- [--to DIR] [--test]`: the npm packages of a release, from what is built here.
// --test installs them into an empty folder, with an empty home and without compilers, starts the
// service there and asks it for a recall.
import { spawn, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import os from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeClientPackage } from './release/client-package.mjs';
import { output, writeEnginePackage } from './release/engine-package.mjs';
import { recallFrom } from './release/first-recall.mjs';
import { writeRelease } from './release/release-files.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
process.chdir(root);
const at = process.argv.indexOf('--to');
const target = resolve(at < 0 ? join('build', 'packages') : (process.argv[at + 1] ?? '.'));

const MEBIBYTE = 2 ** 20;
const RECALL_MS_MAX = 20_000;
const INSTALL_MS_MAX = 300_000;

function pack(folder) {
  const [{ filename }] = JSON.parse(
    output('npm', ['pack', '--json', '--pack-destination', target], { cwd: folder }),
  );
  const path = join(target, filename);
  console.log(`${path}  ${(fs.statSync(path).size / MEBIBYTE).toFixed(1)} MiB`);
  return path;
}

function packAll() {
  const work = fs.mkdtempSync(join(os.tmpdir(), 'tessera-pack-'));
  fs.rmSync(target, { recursive: true, force: true });
  fs.mkdirSync(target, { recursive: true });
  try {
    const { glibc, libraries } = writeEnginePackage(root, join(work, 'engine'));
    console.log(
      `engine: glibc ${glibc} or later, with ${libraries.map((path) => basename(path)).join(', ')}`,
    );
    writeRelease(root, join(work, 'service'));
    writeClientPackage(root, join(work, 'client'));
    return ['engine', 'service', 'client'].map((name) => pack(join(work, name)));
  } finally {
    fs.rmSync(work, { recursive: true, force: true });
  }
}

/** Node, npm and a shell, and no compiler. */
function bareEnvironment(work) {
  const bin = join(work, 'bin');
  const home = join(work, 'home');
  for (const folder of [bin, home]) fs.mkdirSync(folder);
  for (const name of ['sh', 'env', 'npm']) {
    const path = output('sh', ['-c', `command -v ${name}`]).trim();
    fs.symlinkSync(fs.realpathSync(path), join(bin, name));
  }
  const registry = output('npm', ['config', 'get', 'registry']).trim();
  const cache = output('npm', ['config', 'get', 'cache']).trim();
  const PATH = `${dirname(process.execPath)}:${bin}`;
  return {
    ...process.env,
    PATH,
    HOME: home,
    npm_config_registry: registry,
    npm_config_cache: cache,
    npm_config_prefer_offline: 'true',
    TESSERA_HTTP_PORT: '0',
    TESSERA_GRPC_PORT: '0',
  };
}

async function tryPackages(packages) {
  const work = fs.mkdtempSync(join(os.tmpdir(), 'tessera-installed-'));
  const env = bareEnvironment(work);
  const cwd = join(work, 'mine');
  fs.mkdirSync(cwd);
  fs.writeFileSync(join(cwd, 'package.json'), '{"private": true}\n');
  try {
    for (const compiler of ['g++', 'cc', 'cmake', 'python3']) {
      const { error } = spawnSync(compiler, ['--version'], { env });
      if (error === undefined) throw new Error(`expected no ${compiler} on ${env.PATH}`);
    }
    const words = ['install', '--no-audit', '--no-fund', ...packages];
    output('npm', words, { cwd, env, timeout: INSTALL_MS_MAX });
    const program = join(cwd, 'node_modules', '.bin', 'tessera');
    const child = spawn(program, [], { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] });
    const { count, ms } = await recallFrom(child, RECALL_MS_MAX);
    console.log(`${count} items, ${ms} ms after npm install`);
    const inside = fs.existsSync(join(cwd, 'data', 'demo', 'changes'));
    if (!inside) throw new Error(`expected the stores in ${join(cwd, 'data')}`);
  } finally {
    fs.rmSync(work, { recursive: true, force: true });
  }
}

const packages = packAll();
if (process.argv.includes('--test')) await tryPackages(packages);
