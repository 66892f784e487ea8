/** Defaults of a service in a cgroup, where this machine lets one be made. */

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MEBIBYTE } from '@tessera/units';
import { afterAll, expect, it } from 'vitest';

const LIMIT_BYTES = 640 * MEBIBYTE;

/** A cgroup below our own with a limit of memory; undefined where that is refused. */
function limitedCgroup(): string | undefined {
  const lines = readFileSync('/proc/self/cgroup', 'utf8').split('\n');
  const ofMemory = lines.find((line) => /^\d+:([^:]*,)?memory[,:]/.test(line));
  const [line = '', mount, file] = ofMemory
    ? [ofMemory, '/sys/fs/cgroup/memory', 'memory.limit_in_bytes']
    : [lines.find((one) => one.startsWith('0::')), '/sys/fs/cgroup', 'memory.max'];
  const folder = join(mount, line.split(':').slice(2).join(':'), `tessera-test-${process.pid}`);
  try {
    mkdirSync(folder);
    writeFileSync(join(folder, file), String(LIMIT_BYTES));
    return folder;
  } catch (thrown) {
    console.log(`containers.spec: skipped, no cgroup can be made here: ${String(thrown)}`);
    if (existsSync(folder)) rmdirSync(folder);
    return undefined;
  }
}

const cgroup = existsSync('/proc/self/cgroup') ? limitedCgroup() : undefined;
afterAll(() => {
  if (cgroup !== undefined) rmdirSync(cgroup);
});

it.skipIf(cgroup === undefined)('are parts of the memory of the cgroup', () => {
  const enterAndPrint = 'echo $$ > "$0/cgroup.procs" && exec "$1" "$2" --print-config';
  const words = [cgroup ?? '', process.execPath, 'dist/apps/standalone/src/main.js'];
  const env = { PATH: process.env.PATH };
  const text = execFileSync('sh', ['-c', enterAndPrint, ...words], { env, encoding: 'utf8' });
  const bytes = (name: string) => Number(new RegExp(`^${name}=(\\d+)`, 'm').exec(text)?.[1]);
  expect(bytes('TESSERA_ENGINE_KV_BYTES_MAX')).toBe(LIMIT_BYTES / 4);
  expect(bytes('TESSERA_KV_DEVICE_BYTES')).toBe(LIMIT_BYTES / 8);
  expect(bytes('TESSERA_KV_HOST_BYTES')).toBe(LIMIT_BYTES / 16);
});
