import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { visible } from '@tessera/errors';
import { diskError, errorOfSystem } from '@tessera/files';
import { outliveOutput } from '@tessera/lifecycle';

const EXIT_STOPPED = 130;
const STOPS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

/** A flag that is unknown, missing or out of its bounds. */
export class UsageError extends Error {}

/** The reader of the standard output is gone: nothing is left to do. */
class ReaderGone extends Error {}

/** Kinds of flags: `text` and `list` take a value, `switch` takes none, `texts` repeats. */
export type FlagKind = 'text' | 'texts' | 'list' | 'switch';

/** The words after a command, checked flag by flag; every complaint names the flag. */
export class Flags {
  private constructor(private readonly values: Readonly<Record<string, unknown>>) {}

  /** @throws UsageError for a word that is no flag of the command or a flag given twice */
  static parse(words: readonly string[], kinds: Readonly<Record<string, FlagKind>>): Flags {
    const options = Object.fromEntries(
      Object.entries(kinds).map(([name, kind]) => [
        name,
        {
          type: kind === 'switch' ? ('boolean' as const) : ('string' as const),
          multiple: kind === 'texts',
        },
      ]),
    );
    const { values, tokens } = parsed(words, options);
    const names = tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : []));
    const again = names.find((name, at) => kinds[name] !== 'texts' && names.indexOf(name) < at);
    if (again !== undefined) fail(again, 'it once', 'it twice');
    return new Flags(values);
  }

  has(name: string): boolean {
    return this.values[name] !== undefined;
  }

  text(name: string): string | undefined {
    return this.values[name] as string | undefined;
  }

  required(name: string): string {
    return this.text(name) ?? fail(name, 'a value', 'nothing');
  }

  texts(name: string): readonly string[] {
    return (this.values[name] as string[] | undefined) ?? [];
  }

  oneOf<T extends string>(name: string, choices: readonly T[], fallback: T): T {
    const value = this.text(name) ?? fallback;
    return choices.find((choice) => choice === value) ?? fail(name, choices.join(', '), value);
  }

  /** Some of the choices, separated by commas. */
  someOf<T extends string>(
    name: string,
    choices: readonly T[],
    fallback: readonly T[],
  ): readonly T[] {
    const given = this.text(name)?.split(',');
    return (
      given?.map(
        (value) =>
          choices.find((choice) => choice === value) ??
          fail(name, `of ${choices.join(', ')}`, value === '' ? 'nothing' : value),
      ) ?? fallback
    );
  }

  integer(name: string, min: number, max: number): number | undefined {
    const value = this.text(name);
    return value === undefined ? undefined : integer(name, value, min, max);
  }

  /** Milliseconds since 1970 of a time such as 2026-11-26T10:00:00Z. */
  timeMs(name: string): number | undefined {
    return this.has(name) ? this.requiredMs(name) : undefined;
  }

  requiredMs(name: string): number {
    const text = this.required(name);
    const ms = Date.parse(text);
    return Number.isNaN(ms) ? fail(name, 'a time as 2026-11-26T10:00:00Z', text) : ms;
  }

  /** Integers separated by commas. */
  integers(name: string, min: number, max: number): readonly number[] | undefined {
    return this.text(name)
      ?.split(',')
      .map((part) => integer(name, part, min, max));
  }

  /** `key=value` pairs of a flag that may repeat. */
  pairs(name: string): Readonly<Record<string, string>> {
    return Object.fromEntries(
      this.texts(name).map((pair) => {
        const at = pair.indexOf('=');
        if (at < 1) fail(name, 'key=value', pair);
        return [pair.slice(0, at), pair.slice(at + 1)];
      }),
    );
  }
}

function parsed(words: readonly string[], options: ParseArgsOptionsConfig) {
  try {
    return parseArgs({ args: [...words], options, strict: true, tokens: true });
  } catch (error) {
    throw new UsageError((error as Error).message.split('\n')[0]);
  }
}

export function fail(name: string, expected: string, got: string): never {
  throw new UsageError(`--${name}: expected ${expected}, got ${got}`);
}

function integer(name: string, text: string, min: number, max: number): number {
  const value = /^\s*-?\d{1,15}\s*$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  return fail(name, `an integer in ${min}..${max}`, text === '' ? 'nothing' : text);
}

/**
 * Runs a command: usage on --help; what is wrong with a flag and the usage's first line after a bad
 * one (exit 2), a typed line after a TesseraError (exit 1). Complaints go to the standard error, so
 * that what a program reads stays clean. A signal that the command does not wait for itself ends it
 * through its exit handlers, which end its children; a reader of its lines that is gone ends it
 * without a word.
 */
export async function runCommand(
  usage: string,
  act: (words: readonly string[]) => Promise<void>,
): Promise<void> {
  outliveOutput();
  const words = process.argv.slice(2);
  for (const signal of STOPS) {
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(EXIT_STOPPED);
    });
  }
  try {
    await (words.includes('--help') ? print(usage) : act(words));
  } catch (thrown) {
    process.exitCode = report(thrown, usage);
  }
}

/** Signals do not end the command while it does what must not be cut off. */
export function withoutStops<T>(act: () => Promise<T>): Promise<T> {
  return listening(() => undefined, act);
}

/** Signals end the command behind a step: no thread writes what its exit handlers remove. */
export async function stoppingBehind<T>(step: () => Promise<T>): Promise<T> {
  let isStopped = false;
  const result = await listening(() => {
    isStopped = true;
  }, step);
  if (isStopped) process.exit(EXIT_STOPPED);
  return result;
}

async function listening<T>(onStop: () => void, act: () => Promise<T>): Promise<T> {
  for (const signal of STOPS) process.on(signal, onStop);
  try {
    return await act();
  } finally {
    for (const signal of STOPS) process.off(signal, onStop);
  }
}

function report(thrown: unknown, usage: string): number {
  if (thrown instanceof ReaderGone) return EXIT_STOPPED;
  if (thrown instanceof UsageError) {
    const [first] = usage.split('\n');
    process.stderr.write(visible(`${thrown.message}\n${first}\n--help: all of it\n`));
    return EXIT_USAGE;
  }
  const error = errorOfSystem(thrown);
  const place = error.field === undefined ? '' : ` (${error.field})`;
  process.stderr.write(visible(`${error.code}${place}: ${error.message}\n`));
  if (error.code === 'INTERNAL' && thrown instanceof Error) {
    process.stderr.write(`${thrown.stack}\n`);
  }
  return EXIT_FAILED;
}

/**
 * Writes to the standard output and waits until it is handed over, however long the text. Rejects
 * with STORE_FULL or IO_FAILED, or where its reader is gone, which ends the command without a word.
 */
export function print(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(visible(`${text}\n`), (error) => {
      if (!error) resolve();
      else reject(isGone(error) ? new ReaderGone() : diskError(error, 'standard output'));
    });
  });
}

/** The second is that of lines behind the first one that was lost. */
const GONE: readonly unknown[] = ['EPIPE', 'ERR_STREAM_DESTROYED'];
const isGone = (error: NodeJS.ErrnoException) => GONE.includes(error.code);
