import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryFolder } from '@tessera/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { readMachine } from './machine.js';

const GIBIBYTE = 2 ** 30;
const MACHINE = { memoryBytes: 64 * GIBIBYTE, cpuCount: 16 };
const UNLIMITED_V1 = '9223372036854771712';

let folder = temporaryFolder({});
afterEach(() => {
  folder.remove();
  folder = temporaryFolder({});
});

/** The limits that a process would read whose root holds these files. */
function machineWith(files: Readonly<Record<string, string>>) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder.path, path)), { recursive: true });
    writeFileSync(join(folder.path, path), `${text}\n`);
  }
  return readMachine(folder.path, MACHINE.memoryBytes, MACHINE.cpuCount);
}

const OWN = 'proc/self/cgroup';

describe('the machine', () => {
  it('is all of it where there are no cgroups', () => {
    expect(machineWith({})).toEqual(MACHINE);
  });

  it('is all of it where no limit is set', () => {
    const unset = { [OWN]: '0::/a', 'sys/fs/cgroup/a/memory.max': 'max' };
    expect(machineWith({ ...unset, 'sys/fs/cgroup/a/cpu.max': 'max 100000' })).toEqual(MACHINE);
  });

  it('is what version 2 leaves a container that sees its own cgroup as the root', () => {
    const files = { [OWN]: '0::/', 'sys/fs/cgroup/memory.max': String(GIBIBYTE) };
    expect(machineWith({ ...files, 'sys/fs/cgroup/cpu.max': '350000 100000' })).toEqual({
      memoryBytes: GIBIBYTE,
      cpuCount: 3,
    });
  });

  it('is the lowest of what the cgroups around it leave', () => {
    const files = {
      [OWN]: '0::/pods/one/main',
      'sys/fs/cgroup/pods/memory.max': String(3 * GIBIBYTE),
      'sys/fs/cgroup/pods/one/memory.max': String(2 * GIBIBYTE),
      'sys/fs/cgroup/pods/one/main/memory.max': 'max',
      'sys/fs/cgroup/pods/cpu.max': '200000 100000',
      'sys/fs/cgroup/pods/one/main/cpu.max': '50000 10000',
    };
    expect(machineWith(files)).toEqual({ memoryBytes: 2 * GIBIBYTE, cpuCount: 2 });
  });

  it('is what version 1 leaves, each controller where it is', () => {
    const files = {
      [OWN]: ['4:memory:/box', '2:cpu,cpuacct:/box', '0::/box'].join('\n'),
      'sys/fs/cgroup/memory/box/memory.limit_in_bytes': String(GIBIBYTE),
      'sys/fs/cgroup/memory/memory.limit_in_bytes': UNLIMITED_V1,
      'sys/fs/cgroup/cpu/box/cpu.cfs_quota_us': '400000',
      'sys/fs/cgroup/cpu/box/cpu.cfs_period_us': '100000',
      'sys/fs/cgroup/cpu/cpu.cfs_quota_us': '-1',
      'sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000',
      // Of version 2, which has no controllers here.
      'sys/fs/cgroup/memory.max': '1',
    };
    expect(machineWith(files)).toEqual({ memoryBytes: GIBIBYTE, cpuCount: 4 });
  });

  it('is that of the folder that is mounted where the path is one of the host', () => {
    const files = {
      [OWN]: '4:memory:/docker/0123\n1:cpu:/docker/0123',
      'sys/fs/cgroup/memory/memory.limit_in_bytes': String(GIBIBYTE),
      'sys/fs/cgroup/cpu/cpu.cfs_quota_us': '50000',
      'sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000',
    };
    // Half a CPU is one thread.
    expect(machineWith(files)).toEqual({ memoryBytes: GIBIBYTE, cpuCount: 1 });
  });

  it.each(['', 'garbage', '-5', '0'])('is not made of a limit that reads %j', (text) => {
    const files = { [OWN]: '0::/', 'sys/fs/cgroup/memory.max': text };
    expect(machineWith({ ...files, 'sys/fs/cgroup/cpu.max': text })).toEqual(MACHINE);
  });

  it('never has more than it has', () => {
    const files = { [OWN]: '0::/', 'sys/fs/cgroup/memory.max': String(128 * GIBIBYTE) };
    expect(machineWith({ ...files, 'sys/fs/cgroup/cpu.max': '6400000 100000' })).toEqual(MACHINE);
  });
});
