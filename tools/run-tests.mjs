// Every test of the repository, stage by stage; ends with `N passed, N failed, N skipped`. A stage
// that cannot run is a failure. Without words: what a change needs to know within minutes (check,
// specs, native). `--system`: what starts browsers, brokers, clusters and packages. `--after-test`:
// with the counts of the run before. `--only STAGE` runs one; by name alone: `long`, long property
// tests; `sanitized`, native tests under AddressSanitizer and UBSan; `threads`, those of threads
// under ThreadSanitizer; `cuda`, CUDA kernels on a card.
import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

process.chdir(dirname(dirname(fileURLToPath(import.meta.url))));
const { REPORTS, checker, count, fail, output, totals } = await import('./tests/totals.mjs');
const { check } = await import('./tests/checks.mjs');
const { specsOf } = await import('./tests/specs.mjs');
const native = await import('./tests/native.mjs');
const { wordsOf } = await import('./words.mjs');

// How little the build in the background takes from what runs beside it.
const BACKGROUND_NICENESS = '19';
let background = Promise.resolve();

/**
 * Builds for a later stage while the stages before it leave a core free: specs wait for timers and
 * sockets half of the time. A failure shows again, and counts, in that stage.
 */
function buildInBackground(stage) {
  const log = fs.openSync(join(REPORTS, 'background-build.log'), 'w');
  const words = ['tools/run-tests.mjs', '--only', `build-${stage}`];
  const child = spawn('nice', ['-n', BACKGROUND_NICENESS, process.execPath, ...words], {
    stdio: ['ignore', log, log],
  });
  background = new Promise((resolve) => {
    child.on('error', resolve);
    child.on('exit', resolve);
  });
}

/** The npm packages, installed without compilers and started. */
function packages() {
  checker('packages of npm', process.execPath, ['tools/pack.mjs', '--test']);
}

/** From the newest release that git knows to this checkout and back. */
function upgrade() {
  const release = output('git', ['describe', '--tags', '--match', 'v*', '--abbrev=0']).trim();
  if (release === '') {
    console.log('  absent a tagged release: no cluster is upgraded from one here');
    count({ skipped: 1 });
    return;
  }
  checker(`upgrade from ${release}`, process.execPath, [
    ...['tools/run.mjs', '--system', 'test/soak/main', 'upgrade', '--from', release],
  ]);
}

const everyday = {
  check,
  specs: specsOf('specs', ['parts', 'edges', 'engines']),
  native: async () => {
    await background;
    native.native();
  },
};
const system = {
  system: specsOf('system', ['system']),
  packages,
  upgrade,
  fuzz: async () => {
    await background;
    native.fuzz();
  },
};
const { long, sanitized, threads, cuda } = native;
const builds = {
  'build-native': () => countBuild('native', native.buildTests()),
  'build-fuzz': () => countBuild('fuzz', native.buildFuzz()),
  'build-cuda': () => countBuild('cuda', native.buildCuda()),
};
const byName = { ...everyday, ...system, ...builds, long, sanitized, threads, cuda };

function countBuild(name, isBuilt) {
  count(isBuilt ? { passed: 1 } : { failures: [`build of ${name}`] });
}

const words = wordsOf(['system', 'after-test'], ['only']);

function selected() {
  const name = words.only;
  if (name === undefined) return Object.entries(words.system ? system : everyday);
  if (!Object.hasOwn(byName, name)) {
    console.error(`--only: expected one of ${Object.keys(byName).join(', ')}, got '${name}'`);
    process.exit(2);
  }
  return [[name, byName[name]]];
}

fs.mkdirSync(REPORTS, { recursive: true });
const chosen = selected();
const last = chosen.at(-1)[0];
if (chosen.length > 1) buildInBackground(last);
for (const [name, stage] of chosen) {
  console.log(`\n== ${name}`);
  const before = { ...totals };
  const started = Date.now();
  try {
    await stage();
  } catch (error) {
    console.error(error.stack);
    fail(`${name}: ${error.message}`);
  }
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  const [passed, failed] = [totals.passed - before.passed, totals.failed - before.failed];
  console.log(`== ${name}: ${passed} passed, ${failed} failed in ${seconds} s`);
}
const counted = join(REPORTS, 'counted.json');
if (words['after-test']) {
  // A run that did not come to its end is a failure.
  count(
    fs.existsSync(counted)
      ? JSON.parse(fs.readFileSync(counted, 'utf8'))
      : { failures: ['npm test did not come to its end'] },
  );
} else if (words.only === undefined) {
  fs.writeFileSync(counted, JSON.stringify(totals));
}
for (const name of totals.failures) console.log(`FAILED ${name}`);
console.log(`\n${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`);
process.exit(totals.failed === 0 ? 0 : 1);
