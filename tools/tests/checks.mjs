// The stage `check`: all that reads sources without running them.
import * as fs from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import pMap from 'p-map';
import { checkerBeside, output } from './totals.mjs';

const CLANG_FORMAT_MAJOR = '14';
const AT_ONCE = 2;

const bin = (name) => join('node_modules', '.bin', name);

// The compiler of TypeScript 7 takes a third of the time of 6, which is there for the tools that
// use its API: version 7 has none for them.
const TSC = join('node_modules', 'typescript7', 'bin', 'tsc');

/** Files of the repository by patterns of git. */
function listed(...patterns) {
  const names = output('git', ['ls-files', '-z', ...patterns]).split('\0');
  return names.filter((file) => file !== '' && fs.existsSync(file));
}

function clangFormat() {
  const major = /version (\d+)/.exec(output('clang-format', ['--version']))?.[1];
  if (major !== CLANG_FORMAT_MAJOR) {
    console.log(`  absent clang-format ${CLANG_FORMAT_MAJOR}: C++ layout is not checked here`);
    return [];
  }
  const files = listed('native/*.h', 'native/*.cc', 'native/*.cu');
  if (files.length === 0) throw new Error('git lists no C++ file');
  return [['C++ layout', 'clang-format', ['--dry-run', '--Werror', ...files]]];
}

function findNvcc() {
  const folders = [process.env.CUDA_PATH, process.env.CUDA_HOME, '/usr/local/cuda'];
  const named = folders.filter(Boolean).map((folder) => join(folder, 'bin', 'nvcc'));
  return [...named, 'nvcc'].find((command) => output(command, ['--version']) !== '');
}

function cudaSources() {
  const nvcc = findNvcc();
  if (nvcc === undefined) {
    console.log('  absent nvcc: CUDA kernels are compiled for emulated threads alone');
    return [];
  }
  const words = ['-std=c++20', '-fmad=false', '-arch=sm_90', '-Werror', 'all-warnings', '-cubin'];
  return listed('native/*.cu', ':!native/src/cuda/library').map((file) => {
    return [file, nvcc, [...words, '-I', 'native/src', '-o', os.devNull, file]];
  });
}

const typesOf = (at) => [`types of ${at} (tsc)`, process.execPath, [TSC, '--noEmit', '-p', at]];
const node = (name, ...words) => [name, process.execPath, words];

/** Name, program and words of each, the long ones first. */
const checkers = () => [
  node('libraries as one file, locks (clang)', 'tools/clang-check.mjs'),
  ['dead code (knip)', bin('knip'), ['--no-progress']],
  [
    'import law (dependency-cruiser)',
    bin('depcruise'),
    [
      ...['--config', '.dependency-cruiser.cjs', 'apps', 'libs', 'native/ts', 'tools', 'bench'],
      ...['examples', 'test'],
    ],
  ],
  node('types (tsc)', TSC, '--noEmit', '-p', 'tsconfig.json'),
  ...['apps/console/web', 'clients/node'].map(typesOf),
  ['format and lint (biome)', bin('biome'), ['check', '--error-on-warnings', '.']],
  node('tidy', 'tools/tidy.mjs'),
  ['proto lint (buf)', bin('buf'), ['lint']],
  ['proto v1 kept (buf)', bin('buf'), ['breaking', '--against', 'test/contract/v1.binpb']],
  node('OpenAPI: lint, v1 kept', 'tools/openapi.mjs'),
  node('generated code is up to date', 'tools/generate.mjs', '--check'),
  ...clangFormat(),
  ...cudaSources(),
];

export async function check() {
  await pMap(checkers(), (words) => checkerBeside(...words), { concurrency: AT_ONCE });
}
