// `npm run pack -- [--to DIR] [--test]`: the npm packages of a release, from what is built here.
// --test installs them from a registry of its own into an empty folder, with an empty home and
// without compilers, compares all versions with those that are locked here, starts the service
// there and asks it for a recall.
import { execFile, spawn, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import os from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { writeClientPackage } from './release/client-package.mjs';
import { enginePackageName, output, writeEnginePackage } from './release/engine-package.mjs';
import { recallFrom } from './release/first-recall.mjs';
import { serveRegistry } from './release/local-registry.mjs';
import { releaseLock, releaseManifest, writeRelease } from './release/release-files.mjs';
import { wordsOf } from './words.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
process.chdir(root);
const words = wordsOf(['test'], ['to']);
const target = resolve(words.to ?? join('build', 'packages'));

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
    const lock = JSON.stringify(releaseLock(root), null, 2);
    fs.writeFileSync(join(work, 'service', 'npm-shrinkwrap.json'), `${lock}\n`);
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

/** Packages that npm put below the service, each in the version that is locked here. */
function countPinned(service) {
  const { packages } = releaseLock(root);
  const paths = Object.keys(packages).filter((path) => path !== '');
  const found = paths.flatMap((path) => {
    const manifest = join(service, path, 'package.json');
    if (!fs.existsSync(manifest)) return packages[path].optional ? [] : [`${path}: absent`];
    const { version } = JSON.parse(fs.readFileSync(manifest, 'utf8'));
    return version === packages[path].version ? [] : [`${path}: ${version}`];
  });
  if (found.length > 0) throw new Error(`expected the locked versions, got ${found.join(', ')}`);
  return paths.length;
}

async function tryPackages(packages) {
  const work = fs.mkdtempSync(join(os.tmpdir(), 'tessera-installed-'));
  const env = bareEnvironment(work);
  const cwd = join(work, 'mine');
  const registry = await serveRegistry(packages);
  fs.mkdirSync(cwd);
  fs.writeFileSync(join(cwd, 'package.json'), '{"private": true}\n');
  try {
    for (const compiler of ['g++', 'cc', 'cmake', 'python3']) {
      const { error } = spawnSync(compiler, ['--version'], { env });
      if (error === undefined) throw new Error(`expected no ${compiler} on ${env.PATH}`);
    }
    fs.writeFileSync(join(cwd, '.npmrc'), `@tessera:registry=${registry.url}\n`);
    const engine = enginePackageName(root);
    const { optionalDependencies } = releaseManifest(root);
    const named = engine in optionalDependencies ? [] : [engine];
    const words = ['install', '--no-audit', '--no-fund', '@tessera/service', ...named];
    await promisify(execFile)('npm', words, { cwd, env, timeout: INSTALL_MS_MAX });
    const service = join(cwd, 'node_modules', '@tessera', 'service');
    console.log(`${countPinned(service)} packages in the versions that are locked here`);
    const program = join(cwd, 'node_modules', '.bin', 'tessera');
    const child = spawn(program, [], { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] });
    const { count, ms } = await recallFrom(child, RECALL_MS_MAX);
    console.log(`${count} items, ${ms} ms after npm install`);
    const inside = fs.existsSync(join(cwd, 'data', 'demo', 'changes'));
    if (!inside) throw new Error(`expected the stores in ${join(cwd, 'data')}`);
  } finally {
    registry.close();
    fs.rmSync(work, { recursive: true, force: true });
  }
}

const packages = packAll();
if (words.test) await tryPackages(packages);
