// Counts of the stages of run-tests.mjs, and how these run programs.
import { spawn, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';

export const REPORTS = join('.cache', 'reports');
/** `failures` has a name for each that failed: a log is read from its end. */
export const totals = { passed: 0, failed: 0, skipped: 0, failures: [] };

export function count({ passed = 0, skipped = 0, failures = [] }) {
  totals.passed += passed;
  totals.failed += failures.length;
  totals.skipped += skipped;
  totals.failures.push(...failures);
}

export function fail(name) {
  count({ failures: [name] });
}

export function run(command, args, options = {}) {
  const result = spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'], ...options });
  if (result.error) console.error(`${command}: ${result.error.message}`);
  return result.status === 0;
}

/** The standard output of a program; empty where it fails or is absent. */
export function output(command, args) {
  const result = spawnSync(command, args, { encoding: 'utf8' });
  return result.status === 0 ? result.stdout : '';
}

function told(name, ok, started) {
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  console.log(`  ${ok ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`);
  count(ok ? { passed: 1 } : { failures: [name] });
}

/** One program as one test. */
export function checker(name, command, args, options) {
  const started = Date.now();
  told(name, run(command, args, options), started);
}

/** One program as one test, beside others: what it prints is shown when it has ended. */
export function checkerBeside(name, command, args) {
  const started = Date.now();
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const printed = [];
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (bytes) => printed.push(bytes));
    }
    const end = (ok) => {
      process.stdout.write(Buffer.concat(printed));
      told(name, ok, started);
      resolve();
    };
    child.on('error', (error) => {
      printed.push(Buffer.from(`${command}: ${error.message}\n`));
      end(false);
    });
    child.on('close', (status) => end(status === 0));
  });
}

const MEMORY_FOLDER = '/dev/shm';
const MEMORY_BYTES_MIN = 4 * 2 ** 30;

/**
 * Calls with an environment whose temporary folder is in memory, where there is room. Tests do to
 * files what they do through the file system all the same, and do not wait for a disk that a build
 * is writing to.
 */
export function inMemory(act) {
  const hasRoom = () => {
    const { bavail, bsize } = fs.statfsSync(MEMORY_FOLDER);
    return bavail * bsize >= MEMORY_BYTES_MIN;
  };
  if (!fs.existsSync(MEMORY_FOLDER) || !hasRoom()) return act(process.env);
  const folder = fs.mkdtempSync(join(MEMORY_FOLDER, 'tessera-tests-'));
  try {
    return act({ ...process.env, TMPDIR: folder });
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}
