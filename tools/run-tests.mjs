// Every test of the repository, stage by stage; ends with `N passed, N failed, N skipped`.
// A stage that cannot run is a failure. `--only check|vitest|native|fuzz` runs one stage. Run by
// name alone: `long`, long property tests; `sanitized`, native tests under AddressSanitizer and
// UBSan; `threads`, those of threads under ThreadSanitizer; `cuda`, CUDA kernels on a card.
import { spawn, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import os from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LONG_FUZZES, LONG_PROGRAMS, LONG_RUNS, LONG_SPECS } from './long-runs.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
process.chdir(root);
const reports = join('.cache', 'reports');
const jobs = String(Math.max(1, Math.min(os.availableParallelism(), 4)));
const totals = { passed: 0, failed: 0, skipped: 0 };

const CLANG_FORMAT_MAJOR = '14';

function count(passed, failed, skipped = 0) {
  totals.passed += passed;
  totals.failed += failed;
  totals.skipped += skipped;
}

function run(command, args, options = {}) {
  const result = spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'], ...options });
  if (result.error) console.error(`${command}: ${result.error.message}`);
  return result.status === 0;
}

function output(command, args) {
  const result = spawnSync(command, args, { encoding: 'utf8' });
  return result.status === 0 ? result.stdout : '';
}

function checker(name, command, args, options) {
  const started = Date.now();
  const ok = run(command, args, options);
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  console.log(`  ${ok ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`);
  count(ok ? 1 : 0, ok ? 0 : 1);
}

const bin = (name) => join('node_modules', '.bin', name);

// The compiler of TypeScript 7 takes a third of the time of 6, which is there for the tools that
// use its API: version 7 has none for them.
const TSC = join('node_modules', 'typescript7', 'bin', 'tsc');

/** Files of the repository by patterns of git. */
function listed(...patterns) {
  const names = output('git', ['ls-files', '-z', ...patterns]).split('\0');
  return names.filter((file) => file !== '' && fs.existsSync(file));
}

function clangFormat() {
  const major = /version (\d+)/.exec(output('clang-format', ['--version']))?.[1];
  if (major !== CLANG_FORMAT_MAJOR) {
    console.log(`  absent clang-format ${CLANG_FORMAT_MAJOR}: C++ layout is not checked here`);
    return;
  }
  const files = listed('native/*.h', 'native/*.cc', 'native/*.cu');
  if (files.length === 0) throw new Error('git lists no C++ file');
  checker('C++ layout', 'clang-format', ['--dry-run', '--Werror', ...files]);
}

function findNvcc() {
  const folders = [process.env.CUDA_PATH, process.env.CUDA_HOME, '/usr/local/cuda'];
  const named = folders.filter(Boolean).map((folder) => join(folder, 'bin', 'nvcc'));
  return [...named, 'nvcc'].find((command) => output(command, ['--version']) !== '');
}

function cudaSources() {
  const nvcc = findNvcc();
  if (nvcc === undefined) {
    console.log('  absent nvcc: CUDA kernels are compiled for emulated threads alone');
    return;
  }
  const words = ['-std=c++20', '-fmad=false', '-arch=sm_90', '-Werror', 'all-warnings', '-cubin'];
  for (const file of listed('native/*.cu')) {
    checker(file, nvcc, [...words, '-I', 'native/src', '-o', os.devNull, file]);
  }
}

function check() {
  checker('format and lint (biome)', bin('biome'), ['check', '--error-on-warnings', '.']);
  checker('types (tsc)', process.execPath, [TSC, '--noEmit', '-p', 'tsconfig.json']);
  for (const at of ['apps/console/web', 'clients/node'])
    checker(`types of ${at} (tsc)`, process.execPath, [TSC, '--noEmit', '-p', at]);
  checker('import law (dependency-cruiser)', bin('depcruise'), [
    '--config',
    '.dependency-cruiser.cjs',
    ...['apps', 'libs', 'native/ts', 'tools', 'bench', 'examples', 'test'].filter((f) =>
      fs.existsSync(f),
    ),
  ]);
  checker('tidy', process.execPath, ['tools/tidy.mjs']);
  checker('dead code (knip)', bin('knip'), ['--no-progress']);
  checker('proto lint (buf)', bin('buf'), ['lint']);
  checker('proto v1 kept (buf)', bin('buf'), ['breaking', '--against', 'test/contract/v1.binpb']);
  checker('OpenAPI: lint, v1 kept', process.execPath, ['tools/openapi.mjs']);
  checker('generated code is up to date', process.execPath, ['tools/generate.mjs', '--check']);
  clangFormat();
  checker('libraries as one file, locks (clang)', process.execPath, ['tools/clang-check.mjs']);
  cudaSources();
}

const MEMORY_FOLDER = '/dev/shm';
const MEMORY_BYTES_MIN = 4 * 2 ** 30;

/**
 * Where tests have their folders: in memory where there is room. What they do to files they do
 * through the file system all the same, and nothing waits for a disk that the build is writing to.
 */
function temporaryFolder() {
  if (!fs.existsSync(MEMORY_FOLDER)) return undefined;
  const { bavail, bsize } = fs.statfsSync(MEMORY_FOLDER);
  if (bavail * bsize < MEMORY_BYTES_MIN) return undefined;
  return fs.mkdtempSync(join(MEMORY_FOLDER, 'tessera-tests-'));
}

function vitest() {
  const report = join(reports, 'vitest.json');
  fs.rmSync(report, { force: true });
  const folder = temporaryFolder();
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const ok = run(bin('vitest'), ['run', ...reporters], {
    env: { ...process.env, ...(folder !== undefined && { TMPDIR: folder }) },
  });
  if (folder !== undefined) fs.rmSync(folder, { recursive: true, force: true });
  if (!fs.existsSync(report)) {
    count(0, 1);
    return;
  }
  const result = JSON.parse(fs.readFileSync(report, 'utf8'));
  count(
    result.numPassedTests,
    result.numFailedTests,
    result.numPendingTests + (result.numTodoTests ?? 0),
  );
  // A file that fails to load, or a fault outside any test, has no test to count.
  if (!ok && result.numFailedTests === 0) count(0, 1);
}

function configure(folder, options) {
  const ninja = output('ninja', ['--version']) !== '';
  const cache = join(folder, 'CMakeCache.txt');
  const home = `CMAKE_HOME_DIRECTORY:INTERNAL=${join(root, 'native')}\n`;
  if (fs.existsSync(cache) && !fs.readFileSync(cache, 'utf8').includes(home)) {
    fs.rmSync(folder, { recursive: true, force: true });
  }
  const generator = fs.existsSync(cache) ? [] : ninja ? ['-G', 'Ninja'] : [];
  return run('cmake', [
    '-S',
    'native',
    '-B',
    folder,
    ...generator,
    '--log-level=WARNING',
    ...options,
  ]);
}

const buildEnvironment = { ...process.env, NINJA_STATUS: '[%f/%t, %e s] ' };

/** Verdicts of ctest by test name, from its JUnit report. */
function ctestVerdicts(file) {
  if (!fs.existsSync(file)) return new Map();
  const cases = fs
    .readFileSync(file, 'utf8')
    .matchAll(/<testcase name="([^"]+)"[^>]*status="(\w+)"/g);
  return new Map([...cases].map((match) => [match[1], match[2]]));
}

function ctest(folder, args, environment = {}) {
  const report = join(root, reports, `${folder.replaceAll('/', '-')}.xml`);
  fs.rmSync(report, { force: true });
  const ok = run(
    'ctest',
    ['--test-dir', folder, '-j', jobs, '--output-on-failure', '--output-junit', report, ...args],
    { env: { ...process.env, ...environment } },
  );
  return { ok, verdicts: ctestVerdicts(report) };
}

/** Counts the cases of a GoogleTest report; null where the binary wrote none. */
function gtestCases(file) {
  if (!fs.existsSync(file)) return null;
  const report = JSON.parse(fs.readFileSync(file, 'utf8'));
  const cases = report.testsuites.flatMap((suite) => suite.testsuite);
  const failed = cases.filter((entry) => entry.failures !== undefined).length;
  const skipped = cases.filter((entry) => entry.result !== 'COMPLETED').length;
  return { passed: cases.length - failed - skipped, failed, skipped };
}

// The product's own folder: what is tested are the objects that serve, compiled once.
const nativeFolder = join('build', 'native');

/** Builds targets; all of them when none is named. */
function build(folder, targets = []) {
  const chosen = targets.length > 0 ? ['--target', ...targets] : [];
  return run('cmake', ['--build', folder, '-j', jobs, ...chosen], { env: buildEnvironment });
}

// How little the builds in the background take from what runs beside them.
const BACKGROUND_NICENESS = '19';
let background = Promise.resolve();

/**
 * Builds what native() and fuzz() want while the stages before them leave a core free: check works
 * on one, and vitest waits for timers and sockets half of the time. What fails here fails again,
 * and is told, in the stage that needs it.
 */
function buildInBackground() {
  const log = fs.openSync(join(reports, 'background-build.log'), 'w');
  const words = ['tools/run-tests.mjs', '--only', 'build'];
  const child = spawn('nice', ['-n', BACKGROUND_NICENESS, process.execPath, ...words], {
    stdio: ['ignore', log, log],
  });
  background = new Promise((resolve) => {
    child.on('error', resolve);
    child.on('exit', resolve);
  });
}

/** Builds native tests as they serve; all of them when none is named. */
function buildTests(targets = []) {
  return configure(nativeFolder, ['-DTESSERA_TESTS=ON']) && build(nativeFolder, targets);
}

/** Runs tests of a folder and counts their cases; all tests when no regular expression is given. */
function countCases(folder, chosen = '', environment = {}) {
  const cases = join(root, reports, 'gtest', folder.replaceAll('/', '-'));
  fs.rmSync(cases, { recursive: true, force: true });
  const { ok, verdicts } = ctest(folder, chosen === '' ? [] : ['-R', chosen], {
    ...environment,
    GTEST_OUTPUT: `json:${cases}/`,
  });
  let anyFailed = false;
  for (const [name, verdict] of verdicts) {
    const found = gtestCases(join(cases, `${name}.json`));
    if (found) count(found.passed, found.failed, found.skipped);
    const crashed = verdict !== 'run' && !(found && found.failed > 0);
    if (!found || crashed) count(verdict === 'run' ? 1 : 0, verdict === 'run' ? 0 : 1);
    anyFailed ||= verdict !== 'run';
  }
  if (verdicts.size === 0 || (!ok && !anyFailed)) count(0, 1);
}

function native() {
  if (buildTests()) countCases(nativeFolder);
  else count(0, 1);
}

// AddressSanitizer, and of UBSan what a reader of bytes can get wrong. Left out: null, vptr and
// object-size, which double the time of compilation to find what AddressSanitizer stops as well.
const SANITIZERS = [
  'address',
  ...['alignment', 'bool', 'bounds', 'enum', 'float-cast-overflow', 'float-divide-by-zero'],
  ...['integer-divide-by-zero', 'pointer-overflow', 'return', 'shift', 'signed-integer-overflow'],
  ...['unreachable', 'vla-bound'],
].join(',');

const addressFolder = join('build', 'native-sanitized');
const fuzzFolder = join('build', 'native-fuzz');
const threadsFolder = join('build', 'native-threads');

// Half the time of compilation of -O1, for which the readers run some seconds longer.
const FUZZ_OPTIMISATION = '-O0';

// -O1 compiles in half the time of -O3; the kernels of device/cpu take half a minute more.
function configureSanitized(folder, sanitizers, { kernels = 'OFF', optimisation = '-O1' } = {}) {
  return configure(folder, [
    '-DTESSERA_TESTS=ON',
    '-DTESSERA_ADDON=OFF',
    `-DTESSERA_SANITIZE=${sanitizers}`,
    `-DTESSERA_SANITIZE_KERNELS=${kernels}`,
    '-DCMAKE_BUILD_TYPE=Release',
    `-DTESSERA_OPTIMISATION=${optimisation}`,
  ]);
}

function buildFuzz() {
  const optimisation = FUZZ_OPTIMISATION;
  if (!configureSanitized(fuzzFolder, SANITIZERS, { optimisation })) return false;
  const listed = output('cmake', ['--build', fuzzFolder, '--target', 'help']);
  const targets = [...new Set([...listed.matchAll(/\b(\w+_fuzz)(?=:|$|\s)/gm)].map((m) => m[1]))];
  return targets.length > 0 && build(fuzzFolder, targets);
}

function fuzz() {
  if (!buildFuzz()) {
    console.error('fuzz: no fuzz target could be built');
    count(0, 1);
    return;
  }
  const { ok, verdicts } = ctest(fuzzFolder, ['-R', '_fuzz']);
  const passed = [...verdicts.values()].filter((verdict) => verdict === 'run').length;
  count(passed, verdicts.size - passed);
  if (verdicts.size === 0 || (!ok && passed === verdicts.size)) count(0, 1);
}

function sanitized() {
  const isConfigured = configureSanitized(addressFolder, SANITIZERS, { kernels: 'ON' });
  if (!isConfigured || !build(addressFolder)) count(0, 1);
  else countCases(addressFolder);
}

// Programs that have more than one thread.
const THREADED = [
  ...['platform_test', 'device_test', 'matmul_test', 'ops_conformance_test', 'attention_test'],
  ...['model_test', 'parity_test', 'live_catalogue_test', 'beam_test', 'live_test'],
  ...['live_threads_test', 'select_test', 'odd_catalogue_test', 'kv_slot_test', 'kv_pool_test'],
  ...['kv_sim_test', 'kv_codec_test', 'kv_disk_test', 'kv_kill_test', 'kv_threads_test'],
  ...['kv_sharing_test', 'store_test', 'store_fault_test', 'live_damage_test', 'engine_test'],
  ...['adapter_test', 'kv_transparency_test', 'measure_scales_test', 'kv_store_link_test'],
];

function threads() {
  if (!configureSanitized(threadsFolder, 'thread') || !build(threadsFolder, THREADED)) {
    count(0, 1);
    return;
  }
  const suppressions = join(root, 'tools', 'thread-sanitizer.supp');
  const words = `suppressions=${suppressions} second_deadlock_stack=1`;
  countCases(threadsFolder, `^(${THREADED.join('|')})$`, { TSAN_OPTIONS: words });
}

const cudaFolder = join('build', 'native-cuda');
const KERNEL_TESTS = [
  ...['row_kernels_test', 'attend_kernels_test', 'search_kernels_test'],
  ...['card_decoder_test', 'card_catalogue_test', 'card_recall_test', 'card_engine_test'],
  'card_bench_test',
];

function cuda() {
  const options = ['-DTESSERA_TESTS=ON', '-DTESSERA_ADDON=OFF', '-DTESSERA_CUDA=ON'];
  if (!configure(cudaFolder, options) || !build(cudaFolder, KERNEL_TESTS)) count(0, 1);
  else countCases(cudaFolder, `^(${KERNEL_TESTS.join('|')})$`, { TESSERA_TEST_DEVICE: 'cuda' });
}

function long() {
  if (!buildTests(LONG_RUNS.map(([, target]) => target)) || !buildFuzz()) {
    count(0, 1);
    return;
  }
  const inFolder =
    (built) =>
    ([folder, target, ...words]) =>
      checker([target, ...words].join(' '), join(built, 'src', folder, target), words);
  LONG_RUNS.forEach(inFolder(nativeFolder));
  LONG_FUZZES.forEach(inFolder(fuzzFolder));
  for (const [name, words, environment] of LONG_SPECS) {
    const env = { ...process.env, ...environment };
    checker(name, bin('vitest'), ['run', ...words, '--testTimeout=3600000'], { env });
  }
  for (const [name, ...words] of LONG_PROGRAMS) checker(name, process.execPath, words);
}

/** Builds for the stages native and fuzz, and nothing else. */
function onlyBuild() {
  for (const isBuilt of [buildTests(), buildFuzz()]) count(isBuilt ? 1 : 0, isBuilt ? 0 : 1);
}

const stages = { check, vitest, native, fuzz };
const byName = { ...stages, build: onlyBuild, long, sanitized, threads, cuda };

function selected() {
  const at = process.argv.indexOf('--only');
  if (at < 0) return Object.entries(stages);
  const name = process.argv[at + 1] ?? '';
  if (!Object.hasOwn(byName, name)) {
    console.error(`--only: expected one of ${Object.keys(byName).join(', ')}, got '${name}'`);
    process.exit(2);
  }
  return [[name, byName[name]]];
}

fs.mkdirSync(reports, { recursive: true });
const chosen = selected();
const beforeBuilds = ['check', 'vitest'];
if (chosen.length > 1) buildInBackground();
for (const [name, stage] of chosen) {
  console.log(`\n== ${name}`);
  if (!beforeBuilds.includes(name)) await background;
  const before = { ...totals };
  const started = Date.now();
  try {
    stage();
  } catch (error) {
    console.error(`${name}: ${error.stack}`);
    count(0, 1);
  }
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  const [passed, failed] = [totals.passed - before.passed, totals.failed - before.failed];
  console.log(`== ${name}: ${passed} passed, ${failed} failed in ${seconds} s`);
}
console.log(`\n${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`);
process.exit(totals.failed === 0 ? 0 : 1);
