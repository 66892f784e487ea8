import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder, until } from '@tessera/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  buildCatalogue,
  type ChangingCatalogue,
  configureTasks,
  EVERY_ITEM,
  OrderedStore,
  openCatalogue,
  taskDepths,
} from './index.js';

/** Of libuv's pool, as Node starts it. */
const POOL_THREADS = 4;
const LIMITS = { servingThreads: 2, servingQueueMax: 3, threads: 2, queueMax: 2 };
/** More than is read on Node's thread. */
const KEYS = Array.from({ length: 600 }, (_, i) => Buffer.from(`key ${i}`));

const folder = temporaryFolder({ 'items.jsonl': '{"item_id": "a", "sid": [0, 0]}' });
const pipes: string[] = [];
let made = 0;
let catalogue: ChangingCatalogue;
let store: OrderedStore;

/** A pipe without a writer: a reader that opens it waits. */
function pipe(path = join(folder.path, `pipe-${made++}`)): string {
  execFileSync('mkfifo', [path]);
  pipes.push(path);
  return path;
}

/** Opening it waits for its first file. */
function storeThatWaits(): { path: string; reserveBytes: number } {
  const path = join(folder.path, `store-${made++}`);
  mkdirSync(path);
  pipe(join(path, 'CURRENT'));
  return { path, reserveBytes: 0 };
}

const codeOf = (thrown: { readonly code: string }) => thrown.code;

function depthOf(lane: string) {
  return taskDepths().find((depth) => depth.lane === lane);
}

beforeAll(async () => {
  configureTasks(LIMITS);
  const outputPath = join(folder.path, 'catalogue.snapshot');
  const sources = [{ path: join(folder.path, 'items.jsonl'), domain: '' }];
  await buildCatalogue({ sources, titlesPath: '', levelSizes: [], outputPath }, () => undefined);
  catalogue = await openCatalogue(outputPath);
  store = await OrderedStore.open({ path: join(folder.path, 'store'), reserveBytes: 0 });
});

afterAll(() => {
  catalogue.close();
  store.close();
  folder.remove();
});

/** Calls that requests wait for: eligibility, a write and a read of more than is read at once. */
async function served(): Promise<void> {
  expect((await catalogue.reach(EVERY_ITEM)).sequence).toBe(0);
  const put = [{ key: Buffer.from('key 7'), value: Buffer.from('seven') }];
  await store.write({ erased: [], put, durability: 'process' });
  const values = await store.get(KEYS);
  expect(values.filter((value) => value !== undefined).map(String)).toEqual(['seven']);
}

describe('what requests wait for', () => {
  it("goes on while each thread of libuv's pool waits for a file", async () => {
    const waiting = Array.from({ length: POOL_THREADS }, () => readFile(pipe()));
    await served();
    // The pool has no thread for this one either: opened without it.
    for (const path of pipes.splice(0)) execFileSync('sh', ['-c', `: > '${path}'`]);
    await Promise.all(waiting);
  });

  it('goes on while the threads and the queue of what is rare and long are taken', async () => {
    const opening = (count: number) =>
      Array.from({ length: count }, () => OrderedStore.open(storeThatWaits()).catch(codeOf));
    const running = opening(LIMITS.threads);
    await until('all threads run', () => depthOf('build')?.running === LIMITS.threads);
    const waiting = opening(LIMITS.queueMax);
    await expect(openCatalogue(folder.path)).rejects.toMatchObject({ code: 'ENGINE_OVERLOADED' });
    expect(depthOf('build')).toMatchObject({ waiting: LIMITS.queueMax, running: LIMITS.threads });
    await served();
    const ended = Promise.all([...running, ...waiting]);
    let hasEnded = false;
    void ended.then(() => {
      hasEnded = true;
    });
    await until('those that wait have read nothing', () => {
      for (const path of pipes) closeSync(openSync(path, 'r+'));
      return hasEnded;
    });
    expect(new Set(await ended)).toEqual(new Set(['STORE_CORRUPT']));
  });

  it('has limits that are refused where they are none', () => {
    const wrong = { ...LIMITS, servingThreads: 0 };
    expect(() => configureTasks(wrong)).toThrow('tasksConfigure.options.servingThreads');
  });
});
