import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { filesWith, temporaryFolder } from '@tessera/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DuckDbRecorder } from './outside/duckdb-recorder.js';

const NAME = 'unmistakable-alice@example.com';
const BEGIN_MS = Date.UTC(2026, 10, 26, 11);
/** As a disk has it that has no room: a folder is in the way of the new file. */
const IN_THE_WAY = 'inspection.duckdb.next';

let folder: ReturnType<typeof temporaryFolder>;
const open: DuckDbRecorder[] = [];
beforeEach(() => {
  folder = temporaryFolder({});
});
afterEach(async () => {
  await closeAll();
  folder.remove();
});

async function opened(path: string): Promise<DuckDbRecorder> {
  const retention = { ageMsMax: 1e15, bytesMax: 2 ** 40 };
  const recorder = await DuckDbRecorder.open({ path, memoryBytes: 2 ** 28, retention });
  open.push(recorder);
  return recorder;
}

async function closeAll(): Promise<void> {
  for (const recorder of open.splice(0)) await recorder.close();
}

async function record(recorder: DuckDbRecorder, userIds: readonly string[]): Promise<void> {
  const recalls = userIds.map((userId, i) => ({
    id: `${userId}/${i}`,
    time: BEGIN_MS + i,
    request_id: `of ${userId}`,
    user_id: userId,
    code: 'OK',
    detail: JSON.stringify({ request: { userId } }),
  }));
  const items = recalls.map(({ id, time }) => ({ recall: id, time, rank: 1, item_id: 'i' }));
  await recorder.writeRecalls({
    recalls: JSON.stringify(recalls),
    items: JSON.stringify(items),
    itemCount: items.length,
    firstId: recalls[0]?.id ?? '',
    isRepeat: false,
  });
}

const users = (letter: string) => Array.from({ length: 500 }, (_, i) => `${letter}${i}`);

async function filled(path: string): Promise<DuckDbRecorder> {
  let recorder = await opened(path);
  for (const part of ['a', 'b', 'c']) {
    await record(recorder, users(part));
    await record(recorder, [NAME]);
    await closeAll();
    recorder = await opened(path);
  }
  return recorder;
}

const count = async (recorder: DuckDbRecorder) => (await recorder.sizes()).recalls;

it('leaves no byte of an erased user, while others write, and after a restart', async () => {
  const path = join(folder.path, 'store');
  let recorder = await filled(path);
  const copy = await recorder.snapshot();
  expect(filesWith(path, NAME)).not.toEqual([]);
  expect(await recorder.eraseUser(NAME)).toBe(3);
  await Promise.all([recorder.erasedBytesGone(), record(recorder, users('d'))]);
  // The copy that a query had; the store ends such queries.
  expect(filesWith(path, NAME).filter((file) => !copy.endsWith(file))).toEqual([]);
  expect(await count(recorder)).toBe(2000);
  await closeAll();
  recorder = await opened(path);
  expect(filesWith(path, NAME)).toEqual([]);
  expect(filesWith(path, 'inspection.rewrite')).toEqual([]);
  expect(await count(recorder)).toBe(2000);
});

it('finishes what a process that died has left', async () => {
  const path = join(folder.path, 'store');
  const recorder = await filled(path);
  await recorder.eraseUser(NAME);
  const left = join(folder.path, 'left');
  cpSync(path, left, { recursive: true });
  expect(filesWith(left, NAME)).not.toEqual([]);
  const next = await opened(left);
  await next.erasedBytesGone();
  expect(filesWith(left, NAME)).toEqual([]);
  expect(await count(next)).toBe(1500);
});

it('goes on and tries again where the file cannot be made anew', async () => {
  const path = join(folder.path, 'store');
  const recorder = await filled(path);
  await recorder.eraseUser(NAME);
  mkdirSync(join(path, IN_THE_WAY));
  await expect(recorder.erasedBytesGone()).rejects.toThrow();
  expect(await count(recorder)).toBe(1500);
  rmSync(join(path, IN_THE_WAY), { recursive: true });
  await recorder.erasedBytesGone();
  expect(filesWith(path, NAME)).toEqual([]);
});
