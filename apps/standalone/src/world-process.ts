import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Config, repositoryRoot } from '@tessera/config';
import { TesseraError } from '@tessera/errors';
import type { Output } from '@tessera/telemetry';

/**
 * Path of the program of `npm run world`.
 * @throws TesseraError CONFIG_INVALID where the package has none
 */
export function worldProgram(): string {
  const path = join(repositoryRoot, 'dist', 'tools', 'world.js');
  if (existsSync(path)) return path;
  const message = '--world: expected a checkout of the repository, got the installed package';
  throw new TesseraError('CONFIG_INVALID', message, { field: '--world' });
}

/**
 * Starts the world as a process of its own, whose lines are printed beside the service's. It ends
 * when its channel to this process does, however this process ends, and holds or fails nothing.
 */
export function startWorld(
  program: string,
  address: string,
  { grpc }: Config,
  { log, print, report }: Output,
): ChildProcess {
  const words = ['--address', address, '--days', '0', ...(grpc.certificatePath && ['--tls'])];
  const child = fork(program, words, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  for (const [source, tell] of [
    [child.stdout, print],
    [child.stderr, (line: string) => log.warn({ line }, 'the world reports')],
  ] as const) {
    if (source !== null) createInterface({ input: source }).on('line', tell);
  }
  child.on('error', (err) => log.warn({ err }, 'the world does not run'));
  child.on('exit', (status, signal) => {
    log.warn({ status, signal }, 'the world ended, the service goes on');
  });
  const { pid } = child;
  report(`\nA world begins as process ${pid}`, { pid }, 'a world begins');
  child.unref();
  child.channel?.unref();
  return child;
}
