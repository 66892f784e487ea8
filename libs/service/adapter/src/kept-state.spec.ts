import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FILE_SYSTEM } from '@tessera/files';
import { temporaryFolder } from '@tessera/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { KeptState } from './outside/kept-state.js';
import { RegistryFile } from './outside/registry-file.js';
import { repairRegistry } from './repair-registry.js';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder({});
});
afterEach(() => folder.remove());
const at = (name: string) => join(folder.path, name);

/** Both the file and its copy. */
function put(document: object): string {
  const text = JSON.stringify(document);
  for (const name of ['registry.json', 'registry.copy.json']) writeFileSync(at(name), text);
  return text;
}

it('of a newer release is named, and neither read nor repaired', async () => {
  const newer = put({ format: 3, checksum: '', versions: [], more: true });
  const message = expect.stringMatching(/registry\.json: expected format 2 at most, got 3/);
  const read = new RegistryFile(folder.path, FILE_SYSTEM).read();
  await expect(read).rejects.toMatchObject({ code: 'STORE_NEWER', message });
  const wanted = { folder: folder.path, name: 'main', baseModel: '', apply: true };
  await expect(repairRegistry(wanted)).rejects.toMatchObject({ code: 'STORE_NEWER', message });
  expect(readFileSync(at('registry.json'), 'utf8')).toBe(newer);
});

it('of an older release is kept beside what takes its place, once', async () => {
  const older = put({ format: 1, versions: ['a'] });
  const kept = new KeptState(FILE_SYSTEM, at('registry.json'), 'a state');
  expect(await kept.read((members) => members)).toMatchObject({ state: { versions: ['a'] } });
  await kept.write({ versions: ['b'] });
  expect(readFileSync(at('registry.v1.json'), 'utf8')).toBe(older);
  writeFileSync(at('registry.v1.json'), 'mine');
  await kept.write({ versions: ['c'] });
  expect(readFileSync(at('registry.v1.json'), 'utf8')).toBe('mine');
  expect(readFileSync(at('registry.json'), 'utf8')).toContain('"format": 2');
});
