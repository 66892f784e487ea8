import { existsSync, linkSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@tessera/testing';
import { afterAll, expect, it } from 'vitest';
import { wipeFile } from './wipe-file.js';

const folder = temporaryFolder({ long: 'a name'.repeat(20_000), empty: '' });
afterAll(() => folder.remove());
const at = (name: string) => join(folder.path, name);

it('overwrites every byte before the name goes', async () => {
  linkSync(at('long'), at('same bytes'));
  await wipeFile(at('long'));
  expect(existsSync(at('long'))).toBe(false);
  expect(readFileSync(at('same bytes'))).toEqual(Buffer.alloc(120_000));
});

it('takes a file without bytes, and none at all', async () => {
  await wipeFile(at('empty'));
  await wipeFile(at('empty'));
  expect(existsSync(at('empty'))).toBe(false);
});

it('rejects for what is no file', async () => {
  await expect(wipeFile(folder.path)).rejects.toMatchObject({ code: 'EISDIR' });
});
