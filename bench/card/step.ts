import { type ChildProcess, spawn } from 'node:child_process';
import { repositoryRoot } from '@tessera/config';

/** A program with its words. */
export interface Command {
  readonly program: string;
  readonly words: readonly string[];
  /** Laid over the environment of the run. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** A part of a run on a card that ends within its limit. */
export interface Step {
  readonly name: string;
  readonly limitSeconds: number;
  /** One after the other; the first that fails ends the step. */
  readonly commands: readonly Command[];
  /** True where the last command prints a document of results. */
  readonly prints?: boolean;
  /** Others need what it makes: it runs each time, and nothing behind it runs where it fails. */
  readonly isSetUp?: boolean;
  /** The reason why it cannot run here; undefined: it can. */
  readonly lacks?: () => string | undefined;
}

/** How a command has ended. */
export interface Ended {
  /** Null where a signal ended it. */
  readonly status: number | null;
  readonly isLate: boolean;
  readonly stdout: string;
  /** The last line that was shown. */
  readonly lastWords: string;
}

const TAIL_BYTES = 4096;

export interface Limits {
  readonly seconds: number;
  /** Its standard output is a document, for nobody's eyes. */
  readonly isQuiet: boolean;
}

/** Runs a command and all that it starts for so long at most, and shows what it says. */
export function runCommandWithin(command: Command, { seconds, isQuiet }: Limits): Promise<Ended> {
  const { program, words, variables = {} } = command;
  const set = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  // `env` becomes the process that it starts.
  const child = spawn('env', [...set, program, ...words], {
    cwd: repositoryRoot,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = () => killGroup(child);
  process.once('exit', kill);
  let isLate = false;
  const limit = setTimeout(() => {
    isLate = true;
    kill();
  }, seconds * 1000);
  let stdout = '';
  let tail = '';
  const show = (chunk: Buffer) => {
    process.stderr.write(chunk);
    tail = (tail + chunk.toString()).slice(-TAIL_BYTES);
  };
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
    if (!isQuiet) show(chunk);
  });
  child.stderr.on('data', show);
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(limit);
      process.off('exit', kill);
    };
    child.on('error', (error) => {
      end();
      reject(error);
    });
    child.on('close', (status) => {
      end();
      resolve({ status, isLate, stdout, lastWords: tail.trim().split('\n').at(-1) ?? '' });
    });
  });
}

function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}
