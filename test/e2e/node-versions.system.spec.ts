/**
 * The built service on the official Node binaries that the README names, cold: nothing that it
 * keeps is there yet. These binaries export symbols of libraries that they have built in.
 */

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@tessera/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { DEMO } from './random-adapter.js';
import { Service } from './service.js';

const NODES = '.cache/packages';
const ADDON = 'build/native/tessera.node';
const STARTS = Number(process.env.COLD_STARTS ?? '1');

const folder = temporaryFolder({});
afterAll(() => folder.remove());

const binaries = (existsSync(NODES) ? readdirSync(NODES) : [])
  .filter((name) => /^node-\d/.test(name))
  .map((name) => ({ major: name.slice(5, 7), path: join(NODES, name, 'bin', 'node') }));

it('has official binaries of Node 22 and 24', () => {
  expect(binaries.map(({ major }) => major).sort()).toEqual(['22', '24']);
});

describe.each(binaries)('official Node $major', ({ major, path }) => {
  it(`starts cold, recalls and stops, ${STARTS} times`, async () => {
    for (let start = 0; start < STARTS; start += 1) {
      const own = (name: string) => join(folder.path, `${major}-${start}`, name);
      const service = await Service.start(
        {
          TESSERA_MODEL_PATH: DEMO,
          TESSERA_CATALOGUE_CACHE_PATH: own('cache'),
          TESSERA_CATALOGUE_CHANGES_PATH: own('changes'),
          TESSERA_BEHAVIOURS_STORE: 'embedded',
          TESSERA_BEHAVIOURS_PATH: own('behaviours'),
          TESSERA_KV_PATH: own('kv'),
          TESSERA_KV_DISK_BYTES: String(64 << 20),
        },
        [],
        { node: path },
      );
      const { status, json } = await service.post({ userId: '1', resultCount: 5 });
      expect([status, (json.items as unknown[] | undefined)?.length]).toEqual([200, 5]);
      expect(await service.stop()).toMatchObject({ status: 0, signal: null });
    }
  });
});

const hasTools = ['nm', 'ldd'].every((tool) => spawnSync(tool, ['--version']).status === 0);

/** The C and C++ runtimes, and templates of the standard library: one ABI for all that use them. */
const RUNTIMES = /^(libc|libm|libdl|libpthread|libgcc_s|libstdc\+\+|ld-linux[\w-]*|librt)\.so/;
const STANDARD = /^_Z+(T[ISVT])?N?K?(St|9__gnu_cxx)|^_ZT[IV]N10__cxxabiv/;
/** Kinds of compression that RocksDB names and no store uses: bound when called, so never. */
const COMPRESSION = /^lib(z|zstd|lz4|bz2|snappy)\.so/;
const NEVER_CALLED = /^(ZSTD_|deflate|inflate)/;

interface Library {
  readonly name: string;
  readonly path: string;
}

/** Names that a file defines or needs. */
function symbolsOf(path: string, onlyDefined = false): string[] {
  const words = ['-D', ...(onlyDefined ? ['--defined-only'] : []), path];
  return execFileSync('nm', words, { encoding: 'utf8', maxBuffer: 1 << 28 })
    .split('\n')
    .map((line) => (line.trim().split(/\s+/).at(-1) ?? '').replace(/@.*/, ''))
    .filter((name) => name !== '');
}

function librariesOf(path: string): Library[] {
  const text = execFileSync('ldd', [path], { encoding: 'utf8' });
  return [...text.matchAll(/^\s*(\S+) => (\S+)/gm)].map(([, name = '', found = '']) => ({
    name,
    path: found,
  }));
}

it.skipIf(!hasTools)('nothing that the addon brings binds to what Node exports', () => {
  const libraries = librariesOf(ADDON);
  const runtimes = libraries.filter(({ name }) => RUNTIMES.test(name));
  const inRuntimes = new Set(runtimes.flatMap(({ path }) => symbolsOf(path, true)));
  const brought = libraries.filter(
    (library) => !runtimes.includes(library) && !COMPRESSION.test(library.name),
  );
  const names = [ADDON, ...brought.map(({ path }) => path)].flatMap((path) => symbolsOf(path));
  const own = names.filter((name) => !/^(napi_|node_api_)/.test(name) && !inRuntimes.has(name));
  expect(own.length).toBeGreaterThan(0);
  for (const { path } of binaries) {
    const exported = new Set(symbolsOf(path, true));
    const bound = own.filter((name) => exported.has(name) && !STANDARD.test(name));
    expect(bound.filter((name) => !NEVER_CALLED.test(name))).toEqual([]);
  }
});
