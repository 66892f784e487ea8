import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Limits that the kernel sets a child before its first instruction. */
export interface ChildLimits {
  /**
   * Private memory that it can write (RLIMIT_DATA), beside what Node itself begins with; undefined:
   * no bound.
   */
  readonly dataBytes?: number;
  /** Maximum bytes of one file (RLIMIT_FSIZE); undefined: no bound. */
  readonly fileBytes?: number;
}

/** Unit of the shell's `ulimit -f` (POSIX). */
const BLOCK_BYTES = 512;

const KIBIBYTE = 1024;
const STATUS = "process.stdout.write(require('node:fs').readFileSync('/proc/self/status'))";

let nodeBytes: number | undefined;

/** Private memory that a process can write, from its /proc/PID/status; undefined: not there. */
function dataBytesIn(status: string): number | undefined {
  const found = /^VmData:\s*(\d+) kB$/m.exec(status);
  return found === null ? undefined : Number(found[1]) * KIBIBYTE;
}

/**
 * Private memory of a Node that does nothing else: 110 MiB of Node 22, 610 of Node 24, which
 * reserves room for code. Asked of one at the first limit, once, for some 50 ms; 0 where there is
 * no /proc: `ulimit` alone bounds a child there.
 */
function bytesOfNode(): number {
  if (nodeBytes === undefined) {
    const { stdout } = spawnSync(process.execPath, ['-e', STATUS], { encoding: 'utf8' });
    nodeBytes = dataBytesIn(stdout) ?? 0;
  }
  return nodeBytes;
}

/**
 * Bytes of private memory that this process may still take (RLIMIT_DATA, proc(5)); Infinity where
 * there is no bound or no /proc.
 */
export function dataBytesLeft(): number {
  try {
    const limit = /^Max data size\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'));
    const held = dataBytesIn(readFileSync('/proc/self/status', 'utf8'));
    if (limit === null || held === undefined) return Number.POSITIVE_INFINITY;
    return Number(limit[1]) - held;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** $1: kibibytes of data; $2: blocks of a file; then the command. No core dump: it is a file. */
const LIMITED =
  'ulimit -c 0; [ "$1" = - ] || ulimit -d "$1" || exit 125; ' +
  '[ "$2" = - ] || ulimit -f "$2" || exit 125; ' +
  'shift 2; exec "$@"';

const unitsOf = (bytes: number | undefined, unit: number) =>
  bytes === undefined ? '-' : String(Math.ceil(bytes / unit));

/**
 * Starts a program of ours under limits, with a channel to it (`process.send`). Its standard
 * error is that of this process.
 */
export function startLimited(
  program: readonly string[],
  { dataBytes, fileBytes }: ChildLimits,
): ChildProcess {
  const allBytes = dataBytes === undefined ? undefined : dataBytes + bytesOfNode();
  const limits = [unitsOf(allBytes, KIBIBYTE), unitsOf(fileBytes, BLOCK_BYTES)];
  return spawn('/bin/sh', ['-c', LIMITED, 'sh', ...limits, process.execPath, ...program], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    serialization: 'advanced',
  });
}
