import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { repositoryRoot } from '@tessera/config';

/** A program of the checkout, and each line that it writes. */
export function startChild(
  program: string,
  words: readonly string[],
  tell: (line: string) => void = () => undefined,
): ChildProcess {
  const child = spawn(program, words, { cwd: repositoryRoot, stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      for (const line of chunk.toString().trim().split('\n')) tell(line);
    });
  }
  return child;
}

/** Resolves with its status when it has ended, at once where it has already. */
export async function ended(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.exitCode;
}

export interface FollowerPlaces {
  readonly model: string;
  readonly facts: string;
  readonly address: string;
  readonly state: string;
}

/** Words of `python` for one cycle of a trainer that follows. */
export const onceWords = ({ model, facts, address, state }: FollowerPlaces) => [
  ...['-m', 'trainer', 'follow', '--once', '--model', model, '--facts', facts],
  ...['--address', address, '--state', state],
];
