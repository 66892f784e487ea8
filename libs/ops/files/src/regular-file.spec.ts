import { spawnSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { temporaryFolder } from '@tessera/testing';
import { afterAll, expect, it } from 'vitest';
import { partsOfRegular, readRegular, readRegularSync } from './regular-file.js';

const folder = temporaryFolder({ 'file.txt': 'some text' });
afterAll(() => folder.remove());
const at = (name: string) => join(folder.path, name);
spawnSync('mkfifo', [at('fifo')]);
symlinkSync('/dev/zero', at('zeros'));
symlinkSync(at('file.txt'), at('link'));

const ways: [string, (path: string) => Promise<string>][] = [
  ['at once', async (path) => String(readRegularSync(path, 9))],
  ['behind other work', async (path) => String(await readRegular(path, 9))],
  ['in parts', async (path) => text(partsOfRegular(path))],
];

it.each(ways)('a file and what a link leads to are read %s', async (_how, read) => {
  expect(await read(at('file.txt'))).toBe('some text');
  expect(await read(at('link'))).toBe('some text');
});

it.each(
  ways.flatMap(([how, read]) =>
    [
      ['fifo', 'a FIFO'],
      ['zeros', 'a device or socket'],
      ['', 'a folder'],
    ].map(([name, kind]) => [how, kind, name, read] as const),
  ),
)('%s, %s is refused and not waited for', async (_how, kind, name, read) => {
  await expect(read(at(name ?? ''))).rejects.toThrow(`expected a regular file, got ${kind}`);
});

it('a larger file than is expected is refused', async () => {
  expect(() => readRegularSync(at('file.txt'), 8)).toThrow('expected at most 8 bytes, got more');
  await expect(readRegular(at('file.txt'), 8)).rejects.toThrow('expected at most 8 bytes');
});
