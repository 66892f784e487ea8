import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '@tessera/testing';
import { describe, expect, it } from 'vitest';

const TOOL = fileURLToPath(new URL('./clang-check.mjs', import.meta.url));
const isThere = spawnSync('clang++', ['--version']).status === 0;

/** A library of two files, as tessera_library makes one. */
const CMAKE = [
  'cmake_minimum_required(VERSION 3.20)',
  'project(planted CXX)',
  'set(CMAKE_CXX_STANDARD 20)',
  'set(CMAKE_CXX_EXTENSIONS OFF)',
  'add_library(planted STATIC src/first.cc src/second.cc)',
  'target_include_directories(planted PRIVATE src)',
  'set_target_properties(planted PROPERTIES UNITY_BUILD ON)',
  '',
].join('\n');

const MUTEX = fileURLToPath(new URL('../native/src/base/mutex.h', import.meta.url));

function sourceOf(helper: string, body: string): string {
  const own = `namespace {\nint ${helper}() { return 1; }\n}  // namespace\n`;
  return `#include "${MUTEX}"\n${own}int of_${helper}() { return ${helper}(); }\n${body}\n`;
}

/** Result of the check of two such files. */
function checked(first: string, second: string): { status: number | null; text: string } {
  const folder = temporaryFolder({
    'CMakeLists.txt': CMAKE,
    'src/first.cc': first,
    'src/second.cc': second,
  });
  try {
    const words = [TOOL, folder.path, `${folder.path}/build`];
    const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
    return { status, text: stdout + stderr };
  } finally {
    folder.remove();
  }
}

const GUARDED = 'tessera::Mutex mutex;\nint count GUARDED_BY(mutex) = 0;';

describe.runIf(isThere)('the check of native by clang', () => {
  it('passes files that compile together', () => {
    const { status, text } = checked(sourceOf('one', GUARDED), sourceOf('two', ''));
    expect(text).toContain('0 of 1 with faults');
    expect(status).toBe(0);
  });

  it('refuses a name that two files of a library each have for their own', () => {
    const second = sourceOf('one', '').replace('of_one', 'of_two');
    const { status, text } = checked(sourceOf('one', ''), second);
    expect(text).toMatch(/second\.cc:3:5: error: redefinition of 'one'/);
    expect(status).toBe(1);
  });

  it('refuses what is read without the lock that guards it', () => {
    const unlocked = `${GUARDED}\nint read() { return count; }`;
    const { status, text } = checked(sourceOf('one', unlocked), sourceOf('two', ''));
    expect(text).toContain("reading variable 'count' requires holding mutex 'mutex'");
    expect(status).toBe(1);
  });
});
