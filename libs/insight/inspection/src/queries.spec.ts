/** Queries of analysts, each in a real process: what they get, and what ends them. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@tessera/testing';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { ExportFormat, QueryLimits, QueryResult } from './domain/inspection-store.js';
import { childrenOf, type OpenedStore, openedStore } from './fixture/opened-store.js';
import type { FactInspectionStore } from './outside/fact-inspection-store.js';

const LIMITS: QueryLimits = { rowsMax: 1000, timeoutMs: 60_000 };
const ENDLESS = 'SELECT count(*) FROM range(10000000) a, range(10000000) b';
const folder = temporaryFolder({});
let opened: OpenedStore;
let store: FactInspectionStore;

const SMALL = { memoryBytes: 2 ** 27, diskBytes: 2 ** 24, answerBytesMax: 2 ** 16 };

beforeAll(async () => {
  // Zone of the machine: the processes of queries have it too.
  vi.stubEnv('TZ', 'Asia/Kolkata');
  opened = await openedStore(folder.path, SMALL);
  store = opened.store;
  await store.shelf.saveSet({ name: '=1+1', timeMs: 1e12, author: '@x', recallIds: ['-a', 'b'] });
});

afterAll(async () => {
  await opened.close();
  vi.unstubAllEnvs();
  folder.remove();
});

/** It has files open: one that waits to be reaped has none. */
function isAlive(process: string): boolean {
  try {
    return readdirSync(`/proc/${process}/fd`).length > 0;
  } catch {
    return false;
  }
}

const leftIn = (path: string) => readdirSync(join(path, 'queries'));

async function answer(sql: string, limits = LIMITS): Promise<QueryResult> {
  return JSON.parse(Buffer.from(await store.query(sql, limits)).toString());
}

async function exported(sql: string, format: ExportFormat): Promise<Buffer> {
  const file = await store.exportTo(sql, format, LIMITS);
  const bytes = readFileSync(file.path);
  await file.release();
  expect(existsSync(file.path)).toBe(false);
  return bytes;
}

it('are answered with columns and rows, cut where there are more rows or bytes', async () => {
  const found = await answer('SELECT name, recalls FROM sets -- all of them;');
  expect(found.columns).toEqual([
    { name: 'name', type: 'VARCHAR' },
    { name: 'recalls', type: 'VARCHAR[]' },
  ]);
  expect(found.rows).toEqual([['=1+1', ['-a', 'b']]]);
  const cut = await answer('FROM range(100)', { ...LIMITS, rowsMax: 7 });
  expect([cut.rows.length, cut.isCut]).toEqual([7, true]);
  const large = await answer("SELECT repeat('x', 1000) FROM range(500)");
  expect([large.rows.length, large.isCut]).toEqual([65, true]);
});

it('are answered in UTC, wherever the machine is', async () => {
  const { rows } = await answer('SELECT now()::VARCHAR');
  expect(rows).toEqual([[expect.stringMatching(/\+00$/)]]);
  const csv = await exported('SELECT now() AS t', 'csv');
  expect(csv.toString()).toMatch(/\+00/);
});

it('see what was written before them, and write nothing', async () => {
  await store.shelf.saveSet({ name: 's', timeMs: 1e12, author: 'it', recallIds: [] });
  expect((await answer("SELECT author FROM sets WHERE name = 's'")).rows).toEqual([['it']]);
  await store.shelf.removeSet('s');
  expect((await answer('SELECT count(*)::INTEGER FROM sets')).rows).toEqual([[1]]);
});

it('are exported as Parquet, and as CSV that no spreadsheet computes', async () => {
  const parquet = await exported('SELECT range AS n FROM range(3)', 'parquet');
  expect(parquet.subarray(0, 4).toString()).toBe('PAR1');
  const numbers = '-5 AS n, -1.5 AS d';
  const sql = `SELECT name, author, ${numbers}, '\tx' AS "=head", NULL AS nothing FROM sets`;
  expect((await exported(sql, 'csv')).toString()).toBe(
    "\ufeffname,author,n,d,'=head,nothing\n'=1+1,'@x,-5,-1.5,'\tx,\n",
  );
  const odd = `SELECT 1 AS "it's, ""so""" WHERE false`;
  expect((await exported(odd, 'csv')).toString()).toBe('\ufeff"it\'s, ""so"""\n\n');
});

it('are ended when their time is over, and when nobody wants them', async () => {
  const late = { ...LIMITS, timeoutMs: 1000 };
  await expect(store.query(ENDLESS, late)).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
  const gone = new AbortController();
  const asked = store.exportTo(ENDLESS, 'csv', LIMITS, gone.signal);
  gone.abort();
  await expect(asked).rejects.toMatchObject({ code: 'CANCELLED' });
  expect(store.queryCount).toBe(0);
});

it('are ended by the kernel where they take more memory or disk than they may', async () => {
  for (const sql of [
    "SELECT rpad('x', 1500000000, 'y') IS NULL",
    "SELECT length(repeat('ab', 2000000000))",
    "SELECT * FROM range(3000000) t(x) ORDER BY hash(x), repeat('x', 40)",
    "SELECT repeat('x', 1000) FROM range(100000)",
  ]) {
    await expect(store.exportTo(sql, 'csv', { ...LIMITS, rowsMax: 1e8 })).rejects.toMatchObject({
      code: 'QUERY_TOO_LARGE',
    });
  }
  expect((await answer('SELECT 1 AS one')).rows).toEqual([[1]]);
});

it('of one person keep neither others nor pages out, and leave nothing behind', async () => {
  const gone = new AbortController();
  const mine = { ...LIMITS, asker: 'a' };
  const running = [1, 2].map(() => store.query(ENDLESS, mine, gone.signal));
  const settled = Promise.allSettled(running);
  expect((await answer('SELECT 1', { ...LIMITS, asker: 'b' })).rows).toEqual([[1]]);
  expect((await answer('SELECT 2')).rows).toEqual([[2]]);
  gone.abort();
  for (const one of await settled) {
    expect(one).toMatchObject({ status: 'rejected', reason: { code: 'CANCELLED' } });
  }
  expect(leftIn(folder.path)).toEqual([]);
});

it('end with an erasure, since they read what was there before it', async () => {
  const running = store.query(ENDLESS, LIMITS);
  const ended = expect(running).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  const file = await store.exportTo('SELECT 1', 'csv', LIMITS);
  await store.eraseUser('nobody');
  await ended;
  expect(file.ended.aborted).toBe(true);
  await file.release();
});

it('are started by a process of their own: to start one copies the page tables', async () => {
  const before = childrenOf('self');
  const gone = new AbortController();
  const file = store.exportTo("SELECT repeat('x', 100) FROM range(1)", 'csv', LIMITS);
  const running = store.query(ENDLESS, LIMITS, gone.signal);
  await (await file).release();
  expect(childrenOf('self').filter((id) => !before.includes(id))).toEqual([]);
  gone.abort();
  await expect(running).rejects.toMatchObject({ code: 'CANCELLED' });
});

it('end with the process that starts them, which is started again', async () => {
  const first = store.launcherProcessId as number;
  const running = store.query(ENDLESS, LIMITS);
  // Both have their processes.
  await (await store.exportTo('SELECT 1', 'csv', LIMITS)).release();
  const ended = expect(running).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  const queries = childrenOf(String(first));
  expect(queries).not.toEqual([]);
  process.kill(first, 'SIGKILL');
  await ended;
  await expect.poll(() => queries.filter(isAlive)).toEqual([]);
  expect((await answer('SELECT 1 AS one')).rows).toEqual([[1]]);
  expect(store.launcherProcessId).not.toBe(first);
});

it('end with the store: nothing runs on, and no file is left', async () => {
  const other = temporaryFolder({});
  const another = await openedStore(other.path, SMALL);
  const closing = another.store;
  const ended = expect(closing.exportTo(ENDLESS, 'csv', LIMITS)).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
    message: expect.stringContaining('is being closed'),
  });
  await expect.poll(() => closing.queryCount).toBe(1);
  const began = performance.now();
  await closing.close();
  await ended;
  expect(closing.queryCount).toBe(0);
  expect(performance.now() - began).toBeLessThan(LIMITS.timeoutMs / 2);
  expect(leftIn(other.path)).toEqual([]);
  await another.close();
  other.remove();
});
