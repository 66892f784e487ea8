/** The licence stands in every package, and NOTICE names all that is linked or installed. */

import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const read = (path: string) => readFileSync(path, 'utf8');
const packageOf = (folder: string) =>
  JSON.parse(read(`${folder}/package.json`)) as {
    license?: string;
    dependencies?: Record<string, string>;
  };
const notice = read('NOTICE');

it.each([
  ['package.json', /"license": "Apache-2\.0"/],
  ['test/nodes/package.json', /"license": "Apache-2\.0"/],
  ['docs/package.json', /"license": "Apache-2\.0"/],
  ['clients/python/pyproject.toml', /^license = "Apache-2\.0"$/m],
  ['clients/java/pom.xml', /<license>\s*<name>Apache-2\.0<\/name>/],
])('%s names the licence', (path, named) => {
  expect(read(path)).toMatch(named);
  expect(read('LICENSE')).toContain('Apache License');
});

it.each(Object.keys(packageOf('.').dependencies ?? {}))('NOTICE has %s and its licence', (name) => {
  const row = notice.split('\n').find((line) => line.trim().split(/\s+/)[0] === name);
  const { license } = packageOf(`node_modules/${name}`);
  expect(row?.trim().split(/\s{2,}/)[1]).toBe(license);
});

it('NOTICE has every library that the native engine looks for', () => {
  const lists = ['native/CMakeLists.txt', 'native/src/lora/CMakeLists.txt'].map(read).join('\n');
  const looked = [...lists.matchAll(/find_(?:library|path)\(([A-Z0-9]+)_/g)].map(
    ([, name]) => name,
  );
  expect(new Set(looked)).toEqual(new Set(['XXHASH', 'ROCKSDB', 'ROARING', 'RE2']));
  for (const name of looked) expect(notice.toUpperCase()).toContain(name);
});
