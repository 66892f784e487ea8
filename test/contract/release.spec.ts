/** A release: its list of files, the engine's libraries, the layout of the image, the unit. */

import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { temporaryFolder } from '@tessera/testing';
import { afterAll, describe, expect, it } from 'vitest';
import {
  bundledLibraries,
  enginePackageName,
  writeEnginePackage,
} from '../../tools/release/engine-package.mjs';
import { COMMANDS, releaseFiles, releaseManifest } from '../../tools/release/release-files.mjs';

const folder = temporaryFolder({});
afterAll(() => folder.remove());

describe('the files of a release', () => {
  const files = releaseFiles('.');

  it('are programs, their parts and what they read, and no tests or benchmarks', () => {
    for (const path of [
      ...['standalone', 'gateway', 'feature'].map((app) => `dist/apps/${app}/src/main.js`),
      ...COMMANDS.map((command) => `dist/tools/${command}.js`),
      ...['build/console/index.html', 'models/demo/config.json', 'LICENSE', 'NOTICE'],
      'dist/libs/service/shared-kv/src/worker.js',
    ]) {
      expect(files).toContain(path);
    }
    expect(files.filter((path) => /\.(map|spec\.js|ts)$|testing|bench/.test(path))).toEqual([]);
  });

  it('have each package that a program loads among their dependencies', () => {
    const { dependencies } = releaseManifest('.');
    const named = files
      .filter((path) => path.startsWith('dist/') && path.endsWith('.js'))
      .flatMap((path) => [
        ...readFileSync(path, 'utf8').matchAll(/^import .*?from ?["']([^"'.]+)/gm),
      ])
      .map(([, id = '']) => id.split('/', id.startsWith('@') ? 2 : 1).join('/'))
      .filter((name) => !name.startsWith('node:') && !builtinModules.includes(name));
    expect(named).toContain('fastify');
    const missing = new Set(named.filter((name) => !Object.hasOwn(dependencies, name)));
    expect([...missing]).toEqual([]);
  });

  it('are what the Dockerfile copies', () => {
    const text = readFileSync('Dockerfile', 'utf8');
    expect(text).toContain('npm run image-root -- /root-of-image');
    expect(text).toMatch(/^USER 10001:10001$/m);
  });
});

it('the engine brings all that it links but glibc and GCC', () => {
  const brought = bundledLibraries('build/native/tessera.node');
  expect(brought.map(({ name }) => name.replace(/\.so.*/, ''))).toEqual(
    expect.arrayContaining(['librocksdb', 'libre2', 'libroaring']),
  );
  for (const { path } of brought) expect(existsSync(path), path).toBe(true);
  const { stdout } = spawnSync('readelf', ['-d', 'build/native/tessera.node'], {
    encoding: 'utf8',
  });
  expect(stdout).toMatch(/\(RPATH\).*\[\$ORIGIN\]/);
});

describe('the package of the engine', () => {
  /** A build whose addon, and library for cards, is a small program of this machine. */
  function writeBuild(name: string, isForCards: boolean): string {
    const root = join(folder.path, name);
    for (const path of ['build/native', '.cache/cutlass/licences']) {
      mkdirSync(join(root, path), { recursive: true });
    }
    for (const file of ['package.json', 'LICENSE', 'NOTICE']) copyFileSync(file, join(root, file));
    const files = ['tessera.node', ...(isForCards ? ['tessera_card.so'] : [])];
    for (const file of files) copyFileSync('/bin/true', join(root, 'build/native', file));
    writeFileSync(join(root, '.cache/cutlass/licences/CUTLASS'), 'BSD-3-Clause');
    return root;
  }
  const manifestOf = (package_: string) =>
    JSON.parse(readFileSync(join(package_, 'package.json'), 'utf8'));

  it('has no kernels for cards where the build has none', () => {
    const root = writeBuild('plain', false);
    const to = join(root, 'package');
    writeEnginePackage(root, to);
    expect(manifestOf(to).name).toBe(`@tessera/engine-${process.platform}-${process.arch}`);
    expect(readdirSync(to)).not.toContain('tessera_card.so');
  });

  it('has a name of its own with them, their library beside the addon and its licences', () => {
    const root = writeBuild('cards', true);
    const to = join(root, 'package');
    writeEnginePackage(root, to);
    const { name, files } = manifestOf(to);
    expect(name).toBe(`@tessera/engine-${process.platform}-${process.arch}-cuda`);
    expect(enginePackageName(root)).toBe(name);
    expect(files).toEqual(expect.arrayContaining(['tessera.node', 'tessera_card.so', 'licences']));
    expect(existsSync(join(to, 'tessera_card.so'))).toBe(true);
    expect(readdirSync(join(to, 'licences'))).toContain('CUTLASS');
  });
});

describe('the unit', () => {
  const analyze = (...words: string[]) => {
    const { status, stdout, stderr } = spawnSync('systemd-analyze', words, { encoding: 'utf8' });
    return { ok: status === 0, said: `${stdout}${stderr}` };
  };
  const unit = 'deploy/systemd/tessera.service';
  const isThere = analyze('--version').ok;
  if (!isThere) console.log('the unit is not asked here: there is no systemd-analyze');

  it.skipIf(!isThere)('is understood, and none with a word that is not', () => {
    const text = readFileSync(unit, 'utf8').replace(/^ExecStart=\S+/m, 'ExecStart=/bin/true');
    const file = join(folder.path, 'tessera.service');
    writeFileSync(file, text);
    expect(analyze('verify', file)).toEqual({ ok: true, said: '' });
    writeFileSync(file, text.replace('ProtectHome', 'ProtectHouse'));
    expect(analyze('verify', file).said).toContain('ProtectHouse');
  });

  it.skipIf(!isThere)('leaves little to whoever takes the process over', () => {
    const { ok, said } = analyze('security', '--offline=true', '--threshold=20', unit);
    expect(ok, said.trim().split('\n').at(-1)).toBe(true);
  });

  it('waits for the drain that the configuration has by default', () => {
    const [, seconds] = /^TimeoutStopSec=(\d+)$/m.exec(readFileSync(unit, 'utf8')) ?? [];
    expect(Number(seconds)).toBeGreaterThan(10 + 5);
  });
});
