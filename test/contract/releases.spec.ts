/** The pages on releases name every file that pins versions, and one number is in all packages. */

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const read = (path: string) => readFileSync(path, 'utf8');
const { version } = JSON.parse(read('package.json')) as { version: string };

const PINS = /(^|\/)(package(-lock)?\.json|.*requirements\.txt|pom\.xml|go\.mod|pyproject\.toml)$/;

it('the routine of updates has a row for every file that pins versions', () => {
  const files = execFileSync('git', ['ls-files'], { encoding: 'utf8' }).split('\n');
  const pins = files.filter((file) => PINS.test(file));
  const rows = read('docs/operate/releases.md')
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  const named = rows.flatMap((row) =>
    [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name),
  );
  expect(pins).toContain('trainer/requirements.txt');
  expect(named.sort()).toEqual(pins.sort());
});

it.each([
  ['clients/python/pyproject.toml', /^version = "([^"]+)"$/m],
  ['clients/node/package.json', /"version": "([^"]+)"/],
  ['clients/java/pom.xml', /<artifactId>tessera-client<\/artifactId>\s*<version>([^<]+)</],
])('%s has the number of package.json', (path, pattern) => {
  expect(pattern.exec(read(path))?.[1]).toBe(version);
});

it('SECURITY.md says that this release gets fixes', () => {
  const minor = version.split('.').slice(0, 2).join('.');
  expect(read('SECURITY.md')).toMatch(new RegExp(`^\\| ${minor.replace('.', '\\.')} \\| yes`, 'm'));
});

it('CHANGELOG.md has a section for each release, newest first, with its number and date', () => {
  const titles = [...read('CHANGELOG.md').matchAll(/^## (.*)$/gm)].map(([, title = '']) => title);
  const [newest = '', ...others] = titles;
  const dated = /^(\d+\.\d+\.\d+) \(\d{4}-\d{2}-\d{2}\)$/;
  const numbers = others.map((title) => dated.exec(title)?.[1] ?? `no date: ${title}`);
  expect(newest === `Unreleased (${version})` || dated.exec(newest)?.[1] === version).toBe(true);
  const numeric = new Intl.Collator('en', { numeric: true }).compare;
  expect(numbers).toEqual([...numbers].sort(numeric).reverse());
});
