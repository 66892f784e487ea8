// Makes a fresh clone runnable and does nothing when nothing changed. It uses node: modules alone,
// because it runs before node_modules exists. Each step is keyed by a hash of its inputs in
// .cache/bootstrap; a mark is removed before its step starts and written after it succeeded, so an
// interrupted run is simply repeated.
//
//   --test    also what the tests need; --system: what the tests of the whole system need
//   --quiet   say nothing where nothing is to be done
//   --cuda    build the engine for cards too, from then on; --no-cuda: not any more
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import os from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fetchCutlass } from './cutlass.mjs';
import { endGroups } from './end-groups.mjs';
import { atWork, runNpm, startNothing, succeed } from './npm.cjs';
import { PACKAGES, unpackPackages } from './packages.cjs';
import { fetchTestPrograms } from './test-programs.mjs';
import { wordsOf } from './words.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
process.chdir(root);
const words = wordsOf(['test', 'system', 'quiet', 'cuda', 'no-cuda']);
const { system: forSystem = false, quiet = false } = words;
const forTests = forSystem || words.test === true;
// The last of the two counts.
const cuda = { '--cuda': 'ON', '--no-cuda': 'OFF' }[
  process.argv.findLast((word) => /^--(no-)?cuda$/.test(word))
];
const marks = join('.cache', 'bootstrap');
const lockFile = join('.cache', 'bootstrap.lock');

const EXIT_INTERRUPTED = 130;
const HEARTBEAT_MS = 15_000;
const LOCK_POLL_MS = 500;
const BYTES_PER_COMPILE_JOB = 1.5 * 2 ** 30;

function say(line) {
  console.error(`bootstrap: ${line}`);
}

function fail(line) {
  say(line);
  process.exit(1);
}

/** Until all that this process has started has ended; undefined: it goes on. */
let stopping;

/** A compiler or npm left behind would write into folders that the next run works in. */
function stopOn(signal) {
  startNothing();
  stopping ??= endGroups(atWork, signal).then(() => process.exit(EXIT_INTERRUPTED));
}

/**
 * Runs a command with its output shown on the standard error: the standard output belongs to the
 * command that npm runs next. Rejects with the command's name when it fails.
 */
async function run(command, args, options = {}) {
  const started = Date.now();
  const beat = setInterval(() => {
    say(`${command} is at work for ${Math.round((Date.now() - started) / 1000)} s`);
  }, HEARTBEAT_MS);
  try {
    await succeed(command, args, { stdio: ['ignore', process.stderr, 'inherit'], ...options });
  } finally {
    clearInterval(beat);
  }
}

function walk(path, keep) {
  if (!fs.existsSync(path)) return [];
  if (!fs.statSync(path).isDirectory()) return keep(path) ? [path] : [];
  return fs
    .readdirSync(path)
    .sort()
    .flatMap((entry) => walk(join(path, entry), keep));
}

function digest(paths, keep = () => true) {
  const hash = createHash('sha256');
  // Not Node's version: addons are of Node-API, and one serves all versions.
  hash.update(`${process.platform} ${process.arch}\0`);
  for (const path of paths.flatMap((entry) => walk(entry, keep))) {
    hash.update(`${path}\0`).update(fs.readFileSync(path)).update('\0');
  }
  return hash.digest('hex');
}

async function step({ name, inputs, keep, outputs, holds = () => true, act }) {
  const mark = join(marks, name);
  const wanted = digest(inputs, keep);
  const done = fs.existsSync(mark) && fs.readFileSync(mark, 'utf8') === wanted;
  if (done && outputs.every((output) => fs.existsSync(output)) && holds()) {
    if (!quiet) say(`${name}: up to date`);
    return;
  }
  say(`${name} ...`);
  fs.rmSync(mark, { force: true });
  const started = Date.now();
  await act();
  const missing = outputs.filter((output) => !fs.existsSync(output));
  if (missing.length > 0) throw new Error(`${name} did not make ${missing.join(', ')}`);
  fs.mkdirSync(marks, { recursive: true });
  fs.writeFileSync(`${mark}.new`, wanted);
  fs.renameSync(`${mark}.new`, mark);
  say(`${name}: ${((Date.now() - started) / 1000).toFixed(1)} s`);
}

const onPath = (name) =>
  (process.env.PATH ?? '').split(':').some((folder) => {
    try {
      fs.accessSync(join(folder || '.', name), fs.constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });

const includeFolders = ['/usr/include', '/usr/local/include', '/opt/homebrew/include'];
const hasHeader = (name) => includeFolders.some((folder) => fs.existsSync(join(folder, name)));

/** Debian package -> how to see that it is there, whoever installed it. */
const systemPackages = [
  { name: 'g++', present: () => onPath('g++') || onPath('clang++') },
  { name: 'cmake', present: () => onPath('cmake') },
  { name: 'ninja-build', present: () => onPath('ninja') },
  { name: 'libxxhash-dev', present: () => hasHeader('xxhash.h') },
  { name: 'libroaring-dev', present: () => hasHeader('roaring/roaring.hh') },
  { name: 'libre2-dev', present: () => hasHeader('re2/re2.h') },
  { name: 'librocksdb-dev', present: () => hasHeader('rocksdb/db.h') },
  ...(cuda === 'ON' ? [{ name: 'python3-pip', present: () => onPath('pip3') }] : []),
  ...(forTests ? testPackages() : []),
  ...(forSystem ? systemTestPackages() : []),
];

/** Programs beside the service in tests: a real Redis and a real etcd. */
function testPackages() {
  return [
    { name: 'libgtest-dev', present: () => hasHeader('gtest/gtest.h') },
    { name: 'clang', present: () => onPath('clang++') },
    { name: 'redis-server', present: () => onPath('redis-server') },
    { name: 'etcd-server', present: () => onPath('etcd') },
  ];
}

/** A real broker, resolved by Maven, HAProxy and a real browser, with letters for all titles. */
function systemTestPackages() {
  return [
    { name: 'haproxy', present: () => onPath('haproxy') || fs.existsSync('/usr/sbin/haproxy') },
    { name: 'openjdk-17-jre-headless', present: () => onPath('java') },
    { name: 'maven', present: () => onPath('mvn') },
    { name: 'chromium', present: () => onPath('chromium') || onPath('google-chrome') },
    { name: 'fonts-noto-cjk', present: () => fs.existsSync('/usr/share/fonts/opentype/noto') },
  ];
}

async function installSystemPackages() {
  const missing = systemPackages.filter((entry) => !entry.present()).map((entry) => entry.name);
  if (missing.length === 0) {
    if (!quiet) say('system packages: up to date');
    return;
  }
  const line = `apt-get install -y --no-install-recommends ${missing.join(' ')}`;
  const advice = `system packages are missing; install them and run again:\n  sudo ${line}`;
  if (!onPath('apt-get')) fail(advice);
  const isRoot = process.getuid?.() === 0;
  const sudo = !isRoot && onPath('sudo') && spawnSync('sudo', ['-n', 'true']).status === 0;
  if (!isRoot && !sudo) fail(advice);
  say(`system packages ... ${missing.join(' ')}`);
  const started = Date.now();
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (args) =>
    isRoot ? run('apt-get', args, { env }) : run('sudo', ['-n', 'apt-get', ...args], { env });
  await apt(['update', '-q']);
  await apt(['install', '-q', '-y', '--no-install-recommends', ...missing]);
  const left = systemPackages.filter((entry) => !entry.present()).map((entry) => entry.name);
  if (left.length > 0) fail(`still missing after the installation: ${left.join(', ')}`);
  say(`system packages: ${((Date.now() - started) / 1000).toFixed(1)} s`);
}

/** npm needs a folder it may write to; an account without a home gets one in .cache. */
function npmEnvironment() {
  const home = os.homedir();
  try {
    fs.accessSync(home, fs.constants.W_OK);
    return process.env;
  } catch {
    return { ...process.env, npm_config_cache: join(root, '.cache', 'npm') };
  }
}

/** Sources and headers of others that the engine is compiled with. */
const HEADERS = ['@nozbe/simdjson', 'node-addon-api', 'node-api-headers'];

const nativeFolder = join('build', 'native');
const nativeCache = join(nativeFolder, 'CMakeCache.txt');

/** The choice of the build that is there. */
const isBuilt = (choice) =>
  fs.existsSync(nativeCache) &&
  fs.readFileSync(nativeCache, 'utf8').includes(`TESSERA_CUDA:BOOL=${choice}\n`);

/** An earlier choice stays where none is made now. */
const hasChosenCuda = () => cuda === undefined || isBuilt(cuda);
const isForCards = () => cuda === 'ON' || (cuda === undefined && isBuilt('ON'));

const ENGINE = join(nativeFolder, 'tessera.node');
const CARD_LIBRARY = join(nativeFolder, 'tessera_card.so');

async function buildNative() {
  const folder = nativeFolder;
  const generator = onPath('ninja') ? 'Ninja' : 'Unix Makefiles';
  if (fs.existsSync(nativeCache)) {
    const text = fs.readFileSync(nativeCache, 'utf8');
    const usable =
      text.includes(`CMAKE_HOME_DIRECTORY:INTERNAL=${join(root, 'native')}\n`) &&
      text.includes(`CMAKE_GENERATOR:INTERNAL=${generator}\n`);
    if (!usable) fs.rmSync(folder, { recursive: true, force: true });
  }
  const jobs = Math.max(
    1,
    Math.min(os.availableParallelism(), Math.floor(os.totalmem() / BYTES_PER_COMPILE_JOB)),
  );
  const chosen = cuda === undefined ? [] : [`-DTESSERA_CUDA=${cuda}`];
  const options = ['-DTESSERA_ADDON=ON', `-DTESSERA_PACKAGES=${PACKAGES}`, ...chosen];
  if (cuda === 'OFF') fs.rmSync(CARD_LIBRARY, { force: true });
  await run('cmake', ['-S', 'native', '-B', folder, '-G', generator, ...options]);
  const env = { ...process.env, NINJA_STATUS: '[%f/%t, %e s] ' };
  await run('cmake', ['--build', folder, '-j', String(jobs), '--target', 'tessera'], {
    env,
  });
}

/** True while the process that wrote the lock still runs; a recycled process ID does not count. */
function lockIsHeld() {
  let owner = '';
  try {
    owner = fs.readFileSync(lockFile, 'utf8');
    if (Number(owner) === process.pid) return false;
    process.kill(Number(owner), 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
  const commandLine = `/proc/${owner}/cmdline`;
  return !fs.existsSync(commandLine) || fs.readFileSync(commandLine, 'utf8').includes('bootstrap');
}

/** One bootstrap at a time in a checkout; a lock whose owner is gone is taken over. */
async function takeLock() {
  const mine = `${lockFile}.${process.pid}`;
  try {
    fs.mkdirSync('.cache', { recursive: true });
    fs.writeFileSync(mine, String(process.pid));
  } catch (error) {
    const start = 'what its owner has built starts with node dist/apps/standalone/src/main.js';
    fail(`expected a checkout that this user may write to, got ${error.message}; ${start}`);
  }
  for (let told = false; ; told = true) {
    try {
      fs.linkSync(mine, lockFile);
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (!lockIsHeld()) {
      fs.rmSync(lockFile, { force: true });
      continue;
    }
    if (!told) say('another bootstrap is at work in this folder, waiting for it');
    await new Promise((resolve) => setTimeout(resolve, LOCK_POLL_MS));
  }
  fs.rmSync(mine);
  process.on('exit', () => fs.rmSync(lockFile, { force: true }));
}

const pagesBuild = ['build', '--logLevel', 'warn', '-c', 'apps/console/web/vite.config.ts'];

async function main() {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => stopOn(signal));
  await takeLock();
  await installSystemPackages();
  // The compiler has the cores while packages and programs come over the network.
  await Promise.all([
    engine(),
    typescript(),
    forSystem ? fetchTestPrograms({ run, say, step, onPath, npmEnvironment, root }) : undefined,
  ]);
}

async function engine() {
  await step({
    name: 'headers of packages',
    inputs: ['package-lock.json', 'tools/packages.cjs'],
    outputs: HEADERS.map((name) => join(PACKAGES, name)),
    act: () => unpackPackages('package-lock.json', HEADERS, npmEnvironment()),
  });
  if (isForCards()) await fetchCutlass({ run, step });
  await step({
    name: 'native engine',
    inputs: ['native/CMakeLists.txt', 'native/src', 'package-lock.json'],
    keep: (path) => !/_(test|fuzz)\.(cc|h)$|\.md$/.test(path),
    outputs: isForCards() ? [ENGINE, CARD_LIBRARY] : [ENGINE],
    holds: hasChosenCuda,
    act: buildNative,
  });
}

async function typescript() {
  await step({
    name: 'npm packages',
    inputs: ['package.json', 'package-lock.json', '.npmrc'],
    outputs: ['node_modules/.package-lock.json'],
    act: () =>
      runNpm(
        ['ci', '--include=dev', '--include=optional', '--no-audit', '--no-fund'],
        { env: npmEnvironment() },
        run,
      ),
  });
  await step({
    name: 'generated TypeScript',
    inputs: [
      ...['proto', 'native/abi', 'tools', 'buf.gen.yaml', 'buf.yaml', 'package-lock.json'],
      'libs/edge/client/src/retries.ts',
    ],
    keep: (path) => !path.startsWith('tools/') || /^tools\/(abi\/|generate\.mjs)/.test(path),
    outputs: [
      'libs/ops/contracts/src/generated/services.ts',
      'clients/node/src/generated/retries.ts',
      'native/ts/generated/types.ts',
    ],
    act: () => run(process.execPath, ['tools/generate.mjs', '--build']),
  });
  await step({
    name: 'TypeScript',
    inputs: [
      ...['apps', 'libs', 'native/ts', 'tools', 'bench', 'examples', 'test'],
      ...['.swcrc', 'package-lock.json'],
    ],
    keep: (path) =>
      (/\.ts$/.test(path) && !/\.spec\.ts$/.test(path)) ||
      !path.includes('/') ||
      path.endsWith('build-typescript.mjs'),
    outputs: ['dist/apps/standalone/src/main.js'],
    act: () => run(process.execPath, ['tools/build-typescript.mjs']),
  });
  await step({
    name: 'pages of the console',
    inputs: ['apps/console/web', 'package-lock.json'],
    keep: (path) => !/\.spec\.ts$/.test(path),
    outputs: ['build/console/index.html', 'build/swagger-ui/index.html'],
    act: () => run(process.execPath, ['node_modules/vite/bin/vite.js', ...pagesBuild]),
  });
}

try {
  await main();
} catch (error) {
  // One failed while others are at work, or all were ended.
  await (stopping ?? endGroups(atWork, 'SIGTERM'));
  fail(error.message);
}
