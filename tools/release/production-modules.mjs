// node_modules of a release: exactly what package-lock.json names, without development.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { output } from './engine-package.mjs';

/** Sources and headers that are compiled in, and what only people and compilers read. */
const LEFT_OUT = new RegExp(
  [
    '(^|/)(@nozbe/simdjson|node-addon-api|node-api-headers)/',
    '\\.(map|d\\.[cm]?ts|md|markdown|flow)$',
    '/(test|tests|docs|example|examples|benchmark)/',
  ].join('|'),
  'i',
);
const KEPT = /licen[cs]e|notice|\.proto$/i;

function prune(folder, inside = '') {
  for (const entry of fs.readdirSync(join(folder, inside), { withFileTypes: true })) {
    const path = join(inside, entry.name);
    if (entry.isDirectory()) {
      prune(folder, path);
      if (fs.readdirSync(join(folder, path)).length === 0) fs.rmdirSync(join(folder, path));
    } else if (LEFT_OUT.test(path) && !KEPT.test(path)) {
      fs.rmSync(join(folder, path));
    }
  }
}

/** Writes node_modules into a folder that has a release. */
export function installModules(root, folder) {
  const own = fs.readFileSync(join(folder, 'package.json'));
  for (const name of ['package.json', 'package-lock.json', '.npmrc']) {
    fs.copyFileSync(join(root, name), join(folder, name));
  }
  const words = ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'];
  output('npm', [...words, '--prefer-offline'], { cwd: folder, timeout: 600_000 });
  fs.writeFileSync(join(folder, 'package.json'), own);
  for (const name of ['package-lock.json', '.npmrc']) fs.rmSync(join(folder, name));
  const modules = join(folder, 'node_modules');
  for (const name of ['.bin', '.package-lock.json']) {
    fs.rmSync(join(modules, name), { recursive: true, force: true });
  }
  prune(modules);
}
