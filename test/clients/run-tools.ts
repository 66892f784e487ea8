/** Programs that build, install and run packages of callers. */

import { execFile, spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';

/** A first run fetches compilers' and packages' files. */
export const BUILD_MS = 900_000;

/** True, with a message, where the tool is absent. */
export function skipWithout(tool: string, flag = '--version'): boolean {
  if (spawnSync(tool, [flag], { stdio: 'ignore' }).status === 0) return false;
  console.log(`clients: skipped, ${tool} is absent`);
  return true;
}

/** Output of a command; rejects with all that it printed where it fails. */
export async function run(
  cwd: string,
  command: string,
  words: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  const options = { cwd: resolve(cwd), env, maxBuffer: 1 << 26 };
  const { stdout } = await promisify(execFile)(command, words, options).catch((thrown) => {
    throw new Error(`${command} ${words.join(' ')}:\n${thrown.stdout}\n${thrown.stderr}`);
  });
  return stdout;
}

/** The messages of the module for Go, by the buf of this checkout. */
export async function generateGo(): Promise<void> {
  const PATH = `${resolve('node_modules/.bin')}:${process.env.PATH}`;
  await run('clients/go', 'go', ['generate', './...'], { ...process.env, PATH });
}

/** IDs that a program prints, a line each, before the first tab. */
export const printedIds = (text: string) =>
  stripVTControlCharacters(text)
    .split('\n')
    .filter((line) => line.includes('\t'))
    .map((line) => line.split('\t')[0]);
