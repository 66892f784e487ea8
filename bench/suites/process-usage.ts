import { readFileSync } from 'node:fs';

/** Ticks a second of times in /proc, whatever the kernel's own clock. */
const TICKS_PER_SECOND = 100;
const KIBIBYTE = 1024;
/** Fields of /proc/PID/stat behind the command's name: ticks in user mode and in the kernel. */
const USER_FIELD = 11;
const SYSTEM_FIELD = 12;

/** Seconds of processor time that all threads of a process have taken so far. */
export function cpuSecondsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[USER_FIELD]) + Number(fields[SYSTEM_FIELD])) / TICKS_PER_SECOND;
}

/** Bytes of memory that a process has now. */
export function residentBytesOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * KIBIBYTE;
}
