// The stages of vitest, and how long each file of specs takes.
import * as fs from 'node:fs';
import { join, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { count, fail, inMemory, REPORTS, run } from './totals.mjs';

const SLOWEST_SHOWN = 10;
/** Seconds that a file may take; those of slowest.json have more, which is only ever lowered. */
const BUDGET_S = 20;
/**
 * Factor by which a file may be slower than the files beside it: a machine that is slow, or does
 * other work too, is so for every file.
 */
const OVERRUN = 3;
/** Files that install packages wait for a registry, which has no budget of ours. */
const WAIT_FOR_REGISTRY = new Set([
  'test/clients/packages.system.spec.ts',
  'test/clients/stock-clients.system.spec.ts',
]);
/** Characters of a failure's reason behind its name: the end of a log may be all that is kept. */
const REASON_LENGTH_MAX = 400;
const BUDGETS = join('tools', 'tests', 'slowest.json');

/** Shows the slowest files; one that takes several times its budget is a failed test. */
function tellSlowest(results) {
  const budgets = JSON.parse(fs.readFileSync(BUDGETS, 'utf8'));
  const files = results
    .map(({ name, startTime, endTime }) => {
      const path = relative('.', name);
      return { path, seconds: (endTime - startTime) / 1000, budget: budgets[path] ?? BUDGET_S };
    })
    .sort((a, b) => b.seconds - a.seconds);
  console.log('slowest files of specs:');
  for (const { path, seconds, budget } of files.slice(0, SLOWEST_SHOWN)) {
    const over = seconds > budget ? ` (budget ${budget} s)` : '';
    console.log(`  ${seconds.toFixed(1).padStart(6)} s ${path}${over}`);
  }
  // Median share of their budgets that measured files take: above 1 on a slow machine.
  const measured = files.filter(({ path }) => path in budgets);
  const shares = measured.map(({ seconds, budget }) => seconds / budget).sort((a, b) => a - b);
  const pace = Math.max(1, shares[Math.floor(shares.length / 2)] ?? 1);
  for (const { path, seconds, budget } of files) {
    if (seconds <= budget * OVERRUN * pace || WAIT_FOR_REGISTRY.has(path)) continue;
    fail(`${path}: expected at most ${budget} s, got ${seconds.toFixed(1)} s`);
  }
}

/** Beginning of what vitest's report says of a test that took too long. */
const TIMED_OUT = 'Error: STACK_TRACE_ERROR';

function failure(name, reason) {
  const told = reason.startsWith(TIMED_OUT) ? 'timed out' : stripVTControlCharacters(reason);
  return `${name}: ${told.replace(/\s+/g, ' ').slice(0, REASON_LENGTH_MAX)}`;
}

/** @param name of the stage, @param projects those of vitest.config.ts */
export const specsOf = (name, projects) => () => {
  const report = join(REPORTS, `${name}.json`);
  fs.rmSync(report, { force: true });
  const words = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const chosen = projects.flatMap((project) => ['--project', project]);
  const vitest = join('node_modules', '.bin', 'vitest');
  const ok = inMemory((env) => run(vitest, ['run', ...words, ...chosen], { env }));
  if (!fs.existsSync(report)) {
    fail(`${name}: vitest wrote no report`);
    return;
  }
  const result = JSON.parse(fs.readFileSync(report, 'utf8'));
  const failures = result.testResults.flatMap(({ name: file, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'failed')
      .map(({ fullName, failureMessages: [reason = ''] }) =>
        failure(`${relative('.', file)}: ${fullName}`, reason),
      ),
  );
  const skipped = result.numPendingTests + (result.numTodoTests ?? 0);
  count({ passed: result.numPassedTests, skipped, failures });
  // A file that fails to load, or a fault outside any test, has no test to count.
  if (!ok && failures.length === 0) {
    const { name: file, message } =
      result.testResults.find(({ status }) => status === 'failed') ?? {};
    fail(failure(`${name}: a file of specs, or a fault outside any test`, `${file}: ${message}`));
  }
  tellSlowest(result.testResults);
};
