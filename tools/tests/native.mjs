// The stages of GoogleTest and of what is built for them.
import * as fs from 'node:fs';
import os from 'node:os';
import { join, resolve } from 'node:path';
import { LONG_FUZZ, LONG_RUNS, LONG_SOAKS, LONG_SPECS } from './long-runs.mjs';
import { checker, count, fail, inMemory, output, REPORTS, run } from './totals.mjs';

const root = resolve('.');
const jobs = String(Math.max(1, Math.min(os.availableParallelism(), 4)));

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
  const report = join(root, REPORTS, `${folder.replaceAll('/', '-')}.xml`);
  fs.rmSync(report, { force: true });
  const words = ['--test-dir', folder, '-j', jobs, '--output-on-failure'];
  const ok = inMemory((env) =>
    run('ctest', [...words, '--output-junit', report, ...args], {
      env: { ...env, ...environment },
    }),
  );
  return { ok, verdicts: ctestVerdicts(report) };
}

/** Counts the cases of a GoogleTest report; null where the binary wrote none. */
function gtestCases(file) {
  if (!fs.existsSync(file)) return null;
  const report = JSON.parse(fs.readFileSync(file, 'utf8'));
  const cases = report.testsuites.flatMap((suite) => suite.testsuite);
  const failures = cases
    .filter((entry) => entry.failures !== undefined)
    .map((entry) => `${entry.classname}.${entry.name}`);
  const skipped = cases.filter((entry) => entry.result !== 'COMPLETED').length;
  return { passed: cases.length - failures.length - skipped, failures, skipped };
}

// The product's own folder: what is tested are the objects that serve, compiled once.
const nativeFolder = join('build', 'native');

/** Builds targets; all of them when none is named. */
function build(folder, targets = [], beside = jobs) {
  const chosen = targets.length > 0 ? ['--target', ...targets] : [];
  return run('cmake', ['--build', folder, '-j', beside, ...chosen], { env: buildEnvironment });
}

/** Builds native tests as they serve; all of them when none is named. */
export function buildTests(targets = []) {
  return configure(nativeFolder, ['-DTESSERA_TESTS=ON']) && build(nativeFolder, targets);
}

/** Runs tests of a folder and counts their cases; all tests when no regular expression is given. */
function countCases(folder, chosen = '', environment = {}) {
  const cases = join(root, REPORTS, 'gtest', folder.replaceAll('/', '-'));
  fs.rmSync(cases, { recursive: true, force: true });
  const { ok, verdicts } = ctest(folder, chosen === '' ? [] : ['-R', chosen], {
    ...environment,
    GTEST_OUTPUT: `json:${cases}/`,
  });
  let anyFailed = false;
  for (const [name, verdict] of verdicts) {
    const found = gtestCases(join(cases, `${name}.json`));
    if (found) count(found);
    if (verdict !== 'run' && !(found?.failures.length > 0)) fail(name);
    else if (!found) count({ passed: 1 });
    anyFailed ||= verdict !== 'run';
  }
  if (verdicts.size === 0 || (!ok && !anyFailed)) fail(`ctest of ${folder}`);
}

export function native() {
  if (buildTests()) countCases(nativeFolder);
  else fail(`build of ${nativeFolder}`);
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

export function buildFuzz() {
  const optimisation = FUZZ_OPTIMISATION;
  if (!configureSanitized(fuzzFolder, SANITIZERS, { optimisation })) return false;
  const listed = output('cmake', ['--build', fuzzFolder, '--target', 'help']);
  const targets = [...new Set([...listed.matchAll(/\b(\w+_fuzz)(?=:|$|\s)/gm)].map((m) => m[1]))];
  return targets.length > 0 && build(fuzzFolder, targets);
}

export function fuzz() {
  if (!buildFuzz()) {
    fail('fuzz: no fuzz target could be built');
    return;
  }
  const { ok, verdicts } = ctest(fuzzFolder, ['-R', '_fuzz']);
  const failures = [...verdicts].filter(([, verdict]) => verdict !== 'run').map(([name]) => name);
  count({ passed: verdicts.size - failures.length, failures });
  if (verdicts.size === 0 || (!ok && failures.length === 0)) fail(`ctest of ${fuzzFolder}`);
}

export function sanitized() {
  const isConfigured = configureSanitized(addressFolder, SANITIZERS, { kernels: 'ON' });
  if (!isConfigured || !build(addressFolder)) fail(`build of ${addressFolder}`);
  else countCases(addressFolder);
}

// Programs that have more than one thread.
const THREADED = [
  ...['platform_test', 'device_test', 'ops_test', 'attention_test', 'model_test'],
  ...['catalogue_test', 'live_damage_test', 'beam_test', 'live_test', 'live_threads_test'],
  ...['select_test', 'kv_test', 'kv_sim_test', 'kv_kill_test', 'kv_sharing_test'],
  ...['store_test', 'store_fault_test', 'engine_test', 'kv_transparency_test'],
];

export function threads() {
  if (!configureSanitized(threadsFolder, 'thread') || !build(threadsFolder, THREADED)) {
    fail(`build of ${threadsFolder}`);
    return;
  }
  const suppressions = join(root, 'tools', 'thread-sanitizer.supp');
  const words = `suppressions=${suppressions} second_deadlock_stack=1`;
  countCases(threadsFolder, `^(${THREADED.join('|')})$`, { TSAN_OPTIONS: words });
}

const KERNEL_TESTS = [
  ...['row_kernels_test', 'attend_kernels_test', 'card_decoder_test', 'card_engine_test'],
  ...['card_library_test', 'card_bench_test'],
];
/** Read from the library by a program of the toolkit. */
const LIBRARY_TEST = 'card_library_resources';
/** Compilers of kernels take more memory than others, and one of them a minute. */
const KERNEL_JOB_BYTES = 4 * 2 ** 30;

/**
 * Builds the tests of kernels and card_bench beside the addon, whose objects and library they
 * share; a build that was broken off goes on where it was.
 */
export function buildCuda() {
  const room = Math.floor(os.totalmem() / KERNEL_JOB_BYTES);
  const many = String(Math.max(1, Math.min(os.availableParallelism(), room)));
  const targets = [...KERNEL_TESTS, 'card_bench', 'tessera_card'];
  const options = ['-DTESSERA_TESTS=ON', '-DTESSERA_CUDA=ON'];
  return configure(nativeFolder, options) && build(nativeFolder, targets, many);
}

export function cuda() {
  if (!buildCuda()) {
    fail('build of the tests of kernels');
    return;
  }
  const chosen = `^(${[...KERNEL_TESTS, LIBRARY_TEST].join('|')})$`;
  countCases(nativeFolder, chosen, { TESSERA_TEST_DEVICE: 'cuda' });
}

export function long() {
  if (!buildTests(LONG_RUNS.map(([, target]) => target)) || !buildFuzz()) {
    fail('build of the long runs');
    return;
  }
  for (const [folder, target, variables] of LONG_RUNS) {
    const name = `${target} ${JSON.stringify(variables)}`;
    const env = { ...process.env, ...variables };
    checker(name, join(nativeFolder, 'src', folder, target), [], { env });
  }
  const [folder, target, words] = LONG_FUZZ;
  checker([target, ...words].join(' '), join(fuzzFolder, 'src', folder, target), words);
  for (const [name, words, environment] of LONG_SPECS) {
    const env = { ...process.env, ...environment };
    checker(
      name,
      join('node_modules', '.bin', 'vitest'),
      ['run', ...words, '--testTimeout=3600000'],
      { env },
    );
  }
  const soak = join('dist', 'test', 'soak', 'main.js');
  for (const words of LONG_SOAKS) {
    checker(`soak ${words.join(' ')}`, process.execPath, [soak, ...words]);
  }
}
