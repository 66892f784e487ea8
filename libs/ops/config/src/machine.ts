/** The memory and CPUs of the machine that its cgroups leave this process. */

import { readFileSync } from 'node:fs';
import os from 'node:os';
import { dirname, join } from 'node:path';

/** Version 1 says "no limit" with numbers near this one. */
const UNLIMITED_BYTES = 2 ** 60;

export interface Machine {
  readonly memoryBytes: number;
  /** CPUs that can be kept busy, at least 1. */
  readonly cpuCount: number;
}

interface Hierarchy {
  /** Folder of the controller below the root of all cgroups. */
  readonly mount: string;
  /** Cgroup of this process in it. */
  readonly path: string;
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined;
  }
}

/** Hierarchy of the controller, version 1 if it has one; lines are `ID:CONTROLLERS:PATH`. */
function hierarchyOf(lines: readonly string[], controller: string): Hierarchy | undefined {
  let unified: Hierarchy | undefined;
  for (const line of lines) {
    const [, id, controllers = '', path = '/'] = /^(\d+):([^:]*):(.*)$/.exec(line) ?? [];
    if (controllers.split(',').includes(controller)) return { mount: controller, path };
    if (id === '0' && controllers === '') unified = { mount: '', path };
  }
  return unified;
}

/** The folders of a cgroup and of those around it, each of which may set a limit. */
function foldersOf(root: string, { mount, path }: Hierarchy): string[] {
  const folders: string[] = [];
  for (let at = join('/', path); ; at = dirname(at)) {
    folders.push(join(root, 'sys/fs/cgroup', mount, at));
    if (at === '/') return folders;
  }
}

/** The lowest of the limits that are set; Infinity: none is. */
function lowest(folders: readonly string[], limitOf: (folder: string) => number): number {
  return Math.min(...folders.map(limitOf).map((limit) => (limit > 0 ? limit : Infinity)));
}

function memoryLimit(folder: string): number {
  const text = textOf(join(folder, 'memory.max')) ?? textOf(join(folder, 'memory.limit_in_bytes'));
  const bytes = Number(text);
  return bytes < UNLIMITED_BYTES ? bytes : Infinity;
}

/** Microseconds of all CPUs together that may be used per period, over the period. */
function cpuLimit(folder: string): number {
  const [quota, period] = (textOf(join(folder, 'cpu.max')) ?? '').split(' ').map(Number);
  if (quota && period) return quota / period;
  const quotaUs = Number(textOf(join(folder, 'cpu.cfs_quota_us')));
  const periodUs = Number(textOf(join(folder, 'cpu.cfs_period_us')));
  return quotaUs > 0 && periodUs > 0 ? quotaUs / periodUs : Infinity;
}

/** @param root folder that `/proc` and `/sys` are in */
export function readMachine(
  root = '/',
  memoryBytes = os.totalmem(),
  cpuCount = os.availableParallelism(),
): Machine {
  const lines = textOf(join(root, 'proc/self/cgroup'))?.split('\n') ?? [];
  const memory = hierarchyOf(lines, 'memory');
  const cpu = hierarchyOf(lines, 'cpu');
  const memoryMax = memory ? lowest(foldersOf(root, memory), memoryLimit) : Infinity;
  const cpuMax = cpu ? lowest(foldersOf(root, cpu), cpuLimit) : Infinity;
  return {
    memoryBytes: Math.min(memoryBytes, memoryMax),
    // A thread more than whole CPUs would be stopped in the middle of each period.
    cpuCount: Math.max(1, Math.min(cpuCount, Math.floor(cpuMax))),
  };
}
