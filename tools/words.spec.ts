/** Commands of a checkout take no word that they do not know. */

import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

it.each([
  ['bootstrap.mjs', '--tests', "Unknown option '--tests'"],
  ['run-tests.mjs', 'test/e2e/start.spec.ts', "Unexpected argument 'test/e2e/start.spec.ts'"],
  ['generate.mjs', '--chek', "Unknown option '--chek'"],
  ['pack.mjs', '--to', "Option '--to <value>' argument missing"],
])('%s refuses %s', (command, word, said) => {
  const { status, stderr } = spawnSync(process.execPath, [`tools/${command}`, word], {
    encoding: 'utf8',
  });
  expect(status).toBe(2);
  expect(stderr).toMatch(new RegExp(`^${command}: expected no word but --`));
  expect(stderr).toContain(said);
});
