/** Backups and restores that a disk has no space for. */

import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../libs/testing/src/index.js';
import { runTool, writeTwoStores } from './kept-stores.js';

const folder = temporaryFolder({});
const at = (...parts: string[]) => join(folder.path, ...parts);
mkdirSync(at('disk'));
const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', at('disk')]);
const reason = mounted.status === 0 ? '' : ' (skipped: expected the right to mount a tmpfs)';

const fill = (freeBytes: number) => {
  writeFileSync(at('disk', 'ballast'), Buffer.alloc(4 * 2 ** 20 - freeBytes));
};

describe.skipIf(reason !== '')(`a disk without space${reason}`, () => {
  beforeAll(async () => {
    await writeTwoStores(folder.path);
    mkdirSync(at('adapters', 'versions', 'digest'), { recursive: true });
    writeFileSync(at('adapters', 'versions', 'digest', 'large'), Buffer.alloc(2 ** 20));
    writeFileSync(at('adapters', 'registry.json'), '{"format":1,"versions":[]}');
  });
  afterAll(() => {
    spawnSync('umount', [at('disk')]);
    folder.remove();
  });

  it.each([4096, 65_536, 2 ** 18])('%i bytes: a backup is refused and removed', async (bytes) => {
    fill(bytes);
    const refused = await runTool(folder.path, 'backup', ['--to', at('disk', 'backup')]);
    expect(refused.status).toBe(1);
    expect(refused.output).toMatch(/^STORE_FULL: [^\n]*\n$/);
    expect(readdirSync(at('disk', 'backup'))).toEqual([]);
    rmSync(at('disk', 'ballast'));
    const again = await runTool(folder.path, 'backup', ['--to', at('disk', 'backup')]);
    expect(again).toMatchObject({ status: 0 });
    rmSync(at('disk', 'backup'), { recursive: true });
  });

  it.each([4096, 65_536, 2 ** 18])('%i bytes: a restore changes nothing', async (bytes) => {
    expect(await runTool(folder.path, 'backup', ['--to', at('backup')])).toMatchObject({
      status: 0,
    });
    mkdirSync(at('disk', 'root'));
    fill(bytes);
    const restored = await runTool(at('disk', 'root'), 'restore', ['--from', at('backup')]);
    expect(restored.status).toBe(1);
    expect(restored.output).toMatch(/^STORE_FULL: [^\n]*\n$/);
    const left = readdirSync(at('disk', 'root'), { recursive: true, withFileTypes: true });
    expect(left.filter((entry) => entry.isFile() && entry.name !== 'lock')).toEqual([]);
    for (const path of ['disk/root', 'disk/ballast', 'backup'])
      rmSync(at(path), { recursive: true });
  });
});
