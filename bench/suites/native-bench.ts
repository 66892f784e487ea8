import { execFile, spawn } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repositoryRoot } from '@tessera/config';

const BUILD_FOLDER = join('build', 'native-bench');
const OUTPUT_BYTES_MAX = 64 << 20;

export interface NativeResult {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
}

/**
 * A program of native/bench, ready to run. Configures and builds only what changed; what the
 * compiler says is shown.
 */
async function buildNativeBench(target: string): Promise<string> {
  const options = ['-DTESSERA_ADDON=OFF', '-DTESSERA_BENCH=ON'];
  await shown('cmake', ['-S', 'native', '-B', BUILD_FOLDER, '-G', 'Ninja', ...options]);
  await shown('cmake', ['--build', BUILD_FOLDER, '--target', target, '-j', '2']);
  return join(repositoryRoot, BUILD_FOLDER, 'bench', target);
}

/** Builds and runs a program of native/bench; its numbers. */
export async function nativeResults(
  target: string,
  words: readonly string[],
): Promise<readonly NativeResult[]> {
  const text = await output(await buildNativeBench(target), words);
  return (JSON.parse(text) as { results: NativeResult[] }).results;
}

/** The standard output of a program; its standard error is shown when it fails. */
export async function output(program: string, words: readonly string[]): Promise<string> {
  const options = { cwd: repositoryRoot, maxBuffer: OUTPUT_BYTES_MAX };
  const { stdout } = await promisify(execFile)(program, [...words], options);
  return stdout;
}

/** Runs a program with everything it says on the standard error. */
function shown(program: string, words: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const stdio: ['ignore', number, number] = ['ignore', 2, 2];
    const child = spawn(program, [...words], { cwd: repositoryRoot, stdio });
    child.on('error', reject);
    child.on('close', (status) => {
      if (status === 0) resolve();
      else reject(new Error(`${program} ${words.join(' ')} ended with ${status}`));
    });
  });
}
