import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FILE_SYSTEM } from '@tessera/files';
import { temporaryFolder } from '@tessera/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type PendingErasure, PendingErasures } from './pending-erasures.js';

const NAME = 'unmistakable-alice@example.com';
let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder({});
});
afterEach(() => folder.remove());

const erasure = (changes: Partial<PendingErasure> = {}): PendingErasure =>
  Object.assign(
    { userId: NAME, atMs: 5, offset: 0, withBehaviours: true, withRecords: true, withPool: true },
    changes,
  );
const names = () => readdirSync(folder.path).sort();

it('gives back what was put, in the order of the log, to the process after it', async () => {
  const first = await PendingErasures.open(folder.path);
  const all = [
    erasure({ offset: 9, atMs: 1 }),
    erasure({ offset: 4, withBehaviours: false }),
    erasure({ userId: "'<7>/..'", offset: 7, withRecords: false }),
  ];
  await Promise.all(all.map((one) => first.put(one)));
  const next = await PendingErasures.open(folder.path);
  expect(next.list()).toEqual([all[1], all[2], all[0]]);
  expect([next.has(NAME), next.has("'<7>/..'"), next.has('7')]).toEqual([true, true, false]);
});

it('has a user from the call of put on until the last of their erasures is removed', async () => {
  const pending = await PendingErasures.open(folder.path);
  const put = pending.put(erasure({ offset: 1 }));
  expect(pending.has(NAME)).toBe(true);
  await put;
  await pending.put(erasure({ offset: 2 }));
  await pending.remove(erasure({ offset: 1 }));
  expect(pending.has(NAME)).toBe(true);
  await pending.remove(erasure({ offset: 2 }));
  expect(pending.has(NAME)).toBe(false);
  expect(names()).toEqual([]);
});

it('overwrites the name before the file goes, also where a crash came between', async () => {
  const pending = await PendingErasures.open(folder.path);
  await pending.put(erasure());
  const [name = ''] = names();
  const path = join(folder.path, name);
  const same = `${folder.path}/same`;
  linkSync(path, same);
  await pending.remove(erasure());
  expect(existsSync(path)).toBe(false);
  const zeros = readFileSync(same);
  expect(zeros.every((byte) => byte === 0)).toBe(true);
  writeFileSync(path, zeros);
  writeFileSync(`${path}.partial`, `{"userId":"${NAME}"`);
  expect((await PendingErasures.open(folder.path)).list()).toEqual([]);
  expect(names()).toEqual(['same']);
});

it('notes what is done of one, and lets nothing done take the place of a later one', async () => {
  const pending = await PendingErasures.open(folder.path);
  await pending.put(erasure());
  await pending.put(erasure({ withBehaviours: false }));
  expect(pending.list()).toEqual([erasure({ withBehaviours: false })]);
  const later = erasure({ atMs: 6 });
  await Promise.all([
    pending.put(later),
    pending.put(erasure({ withRecords: false })),
    pending.remove(erasure()),
  ]);
  expect(pending.list()).toEqual([later]);
  expect((await PendingErasures.open(folder.path)).list()).toEqual([later]);
});

it('keeps what was there before where the disk takes nothing', async () => {
  let isFull = false;
  const disk = Object.assign({}, FILE_SYSTEM, {
    create: async (path: string) => {
      if (isFull) throw Object.assign(new Error('full'), { code: 'ENOSPC' });
      return FILE_SYSTEM.create(path);
    },
  });
  const pending = await PendingErasures.open(folder.path, disk);
  await pending.put(erasure());
  isFull = true;
  const full = { code: 'STORE_FULL' };
  await expect(pending.put(erasure({ withBehaviours: false }))).rejects.toMatchObject(full);
  await expect(pending.put(erasure({ userId: 'b' }))).rejects.toMatchObject(full);
  expect(pending.list()).toEqual([erasure()]);
  expect(pending.has('b')).toBe(false);
});

it('reads the form before, and leaves what is none of ours alone', async () => {
  writeFileSync(join(folder.path, 'a.json'), '{"userId":"a","askedMs":3,"isSpreading":true}');
  writeFileSync(join(folder.path, 'b.json'), '{"userId":"b","askedMs":2,"isSpreading":false}');
  writeFileSync(join(folder.path, 'cut.json'), '{"userId": 1');
  mkdirSync(join(folder.path, 'folder.json'));
  expect((await PendingErasures.open(folder.path)).list()).toEqual([
    erasure({ userId: 'b', atMs: 2 }),
    erasure({ userId: 'a', atMs: 3, withBehaviours: false }),
  ]);
  expect(names()).toHaveLength(4);
});

it('has what a process had put that was killed', async () => {
  const program = `
    const { PendingErasures } = await import(${JSON.stringify(
      join(import.meta.dirname, '../../../../dist/libs/service/erasure/src/index.js'),
    )});
    const pending = await PendingErasures.open(${JSON.stringify(folder.path)});
    for (let offset = 1; ; offset++) {
      await pending.put({ ...${JSON.stringify(erasure())}, offset });
      console.log(offset);
    }`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program]);
  let last = 0;
  const told = new Promise<void>((resolve, reject) => {
    child.once('close', () => reject(new Error('expected a program that goes on')));
    child.stdout.on('data', (text: Buffer) => {
      last = Number(text.toString().trim().split('\n').at(-1));
      if (last >= 5) resolve();
    });
  });
  await told;
  const closed = once(child, 'close');
  child.kill('SIGKILL');
  await closed;
  const offsets = (await PendingErasures.open(folder.path)).list().map(({ offset }) => offset);
  expect(offsets.slice(0, last)).toEqual(Array.from({ length: last }, (_, at) => at + 1));
}, 60_000);
