// Clang reads the native sources, whatever compiler builds them, and finds
// - what a fresh clone would not compile: each library's files as one, which is how a clone
//   compiles them by eight (TESSERA_UNITY), and a compiler cache never does;
// - what is touched without its lock (native/src/base/mutex.h): there, and in each other source
//   whose locks are annotated, or those of a header that it includes.
// Ends with 1 where something is. `node tools/clang-check.mjs [SOURCE_FOLDER BUILD_FOLDER]`
import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

process.chdir(dirname(dirname(fileURLToPath(import.meta.url))));
const [folder = 'native', buildFolder = join('build', 'native-unity')] = process.argv.slice(2);
const root = resolve(folder);

const output = (command, words) => spawnSync(command, words, { encoding: 'utf8' }).stdout ?? '';
const text = (file) => readFileSync(file, 'utf8');

if (output('clang++', ['--version']) === '') {
  console.log(
    '  absent clang++: libraries as one file, and what locks guard, are not checked here',
  );
  process.exit(0);
}

/** Commands by CMake's own lists of files and folders, all files of a library in one. */
function configure() {
  rmSync(join(buildFolder, 'CMakeCache.txt'), { force: true });
  const generator = output('ninja', ['--version']) === '' ? [] : ['-G', 'Ninja'];
  const options = ['-DTESSERA_UNITY=ON', '-DTESSERA_PRECOMPILE=OFF'];
  const { status } = spawnSync(
    'cmake',
    [
      ...['-S', root, '-B', buildFolder, ...generator, '--log-level=WARNING', ...options],
      ...['-DCMAKE_UNITY_BUILD_BATCH_SIZE=0', '-DCMAKE_EXPORT_COMPILE_COMMANDS=ON'],
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  if (status !== 0) process.exit(1);
  return JSON.parse(text(join(buildFolder, 'compile_commands.json')));
}

const COMMON = ['-fsyntax-only', '-Wno-everything', '-Wthread-safety', '-Werror', '-x', 'c++'];

/** Words of a command that decide how the text is read, but not the instruction set. */
function wordsOf(command) {
  const words = command.split(' ');
  return words.flatMap((word, i) => {
    if (/^-(I|D|std=)/.test(word)) return [word];
    return word === '-isystem' ? [word, words[i + 1]] : [];
  });
}

const commands = configure();
const whole = commands.filter(({ file }) => /unity_\d+_cxx\.cxx$/.test(file));
const together = new Set(
  whole.flatMap(({ file }) =>
    [...text(file).matchAll(/^#include "(.*)"$/gm)].map(([, one]) => one),
  ),
);

const sourceRoot = join(root, 'src');
const listed = (pattern) =>
  readdirSync(sourceRoot, { recursive: true })
    .map((name) => join(sourceRoot, String(name)))
    .filter((file) => pattern.test(file));
const isAnnotated = (file) => /\b(GUARDED_BY|REQUIRES)\(/.test(text(file));
const headers = new Set(listed(/\.h$/).filter(isAnnotated));
const includesOne = (file) =>
  [...text(file).matchAll(/^#include "(.*)"$/gm)].some(([, header]) =>
    headers.has(join(sourceRoot, header)),
  );
const alone = listed(/(?<!_test)\.cc$/).filter(
  (file) => !together.has(file) && (isAnnotated(file) || includesOne(file)),
);

const waiting = [
  ...whole.map(({ command, file }) => [...wordsOf(command), file]),
  ...alone.map((file) => ['-std=c++20', '-I', sourceRoot, file]),
];
const count = waiting.length;
let failed = 0;
const compile = () =>
  new Promise((done) => {
    const words = waiting.shift();
    if (words === undefined) return done();
    spawn('clang++', [...COMMON, ...words], { stdio: 'inherit' }).on('close', (status) => {
      if (status !== 0) failed += 1;
      done(compile());
    });
  });
await Promise.all(Array.from({ length: os.availableParallelism() }, compile));
console.log(
  `  ${whole.length} libraries as one file each, ${alone.length} other sources with annotated ` +
    `locks: ${failed} of ${count} with faults`,
);
process.exit(failed === 0 ? 0 : 1);
