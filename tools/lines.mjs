// Lines of the product, and of bench and tools: without specs, tests, fixtures of tests,
// generated files and the kernels of cards. docs/measured.md has the figures.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const ROOMS = {
  product: ['libs', 'apps', 'native/src', 'native/abi', 'native/ts'],
  beside: ['bench', 'tools', 'native/bench'],
};
const SOURCE = /\.(tsx?|mjs|cjs|cc|h|inc|py|css)$/;
const LEFT_OUT =
  /\.spec\.ts$|_test\.cc$|\.test\.|\/(tests?|testing|fixture|generated|cuda)\/|\/card/;

for (const [name, folders] of Object.entries(ROOMS)) {
  const files = execFileSync('git', ['ls-files', ...folders], { encoding: 'utf8' }).split('\n');
  const lines = files
    .filter((file) => SOURCE.test(file) && !LEFT_OUT.test(file))
    .reduce((sum, file) => sum + readFileSync(file, 'utf8').split('\n').length - 1, 0);
  console.log(`${name} ${lines}`);
}
