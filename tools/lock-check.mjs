// Clang's analysis of what is touched without its lock (native/src/base/mutex.h), over the sources
// whose locks are annotated, or those of a header that they include. The compiler that builds need
// not be clang. Ends with 1 where something is.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import os from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

process.chdir(dirname(dirname(fileURLToPath(import.meta.url))));

const output = (command, words) => spawnSync(command, words, { encoding: 'utf8' }).stdout ?? '';
const listed = (pattern) =>
  output('git', ['ls-files', '-z', '-co', '--exclude-standard', pattern])
    .split('\0')
    .filter((file) => file !== '' && existsSync(file));
const text = (file) => readFileSync(file, 'utf8');

if (output('clang++', ['--version']) === '') {
  console.log('  absent clang++: what a lock guards is not checked here');
  process.exit(0);
}

const isAnnotated = (file) => /\b(GUARDED_BY|REQUIRES)\(/.test(text(file));
const headers = new Set(listed('native/src/*.h').filter(isAnnotated));
const includesOne = (file) =>
  [...text(file).matchAll(/^#include "(.*)"$/gm)].some(([, header]) =>
    headers.has(`native/src/${header}`),
  );
const sources = listed('native/src/*.cc').filter(
  (file) => !file.endsWith('_test.cc') && (isAnnotated(file) || includesOne(file)),
);

const words = [
  ...['-std=c++20', '-fsyntax-only', '-Wno-everything', '-Wthread-safety', '-Werror'],
  ...['-I', 'native/src', '-isystem', join('node_modules', 'node-addon-api')],
  ...['-isystem', join('node_modules', 'node-api-headers', 'include')],
  ...['-DNAPI_VERSION=9', '-DNAPI_CPP_EXCEPTIONS', '-DSIMDJSON_EXCEPTIONS=0'],
];
let failed = 0;
const waiting = [...sources];
const compile = () =>
  new Promise((resolve) => {
    const file = waiting.shift();
    if (file === undefined) return resolve();
    spawn('clang++', [...words, file], { stdio: 'inherit' }).on('close', (status) => {
      if (status !== 0) failed += 1;
      resolve(compile());
    });
  });
await Promise.all(Array.from({ length: os.availableParallelism() }, compile));
console.log(`  ${sources.length} sources with annotated locks, ${failed} with faults`);
process.exit(failed === 0 ? 0 : 1);
