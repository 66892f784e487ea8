import type { ChildProcess, SpawnOptions } from 'node:child_process';

type Environment = Readonly<Record<string, string | undefined>>;

export const atWork: Set<ChildProcess>;
export function startNothing(): void;
export function succeed(
  command: string,
  words: readonly string[],
  options: SpawnOptions,
): Promise<void>;
export function whyUnreachable(env: Environment): Promise<string>;
export function runNpm(
  words: readonly string[],
  options: SpawnOptions,
  start?: typeof succeed,
): Promise<void>;
