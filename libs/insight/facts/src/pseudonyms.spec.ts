import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { filesWith, temporaryFolder } from '@tessera/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FactWriter } from './outside/fact-writer.js';
import { PseudonymKeys } from './outside/pseudonym-keys.js';
import { Pseudonyms } from './outside/pseudonyms.js';

const DAY = 20_000;
const NAME = 'unmistakable-alice@example.com';
const KEY = '00112233445566778899aabbccddeeff';
const users = (letter: string, count: number) =>
  Array.from({ length: count }, (_, i) => `${letter}${i}`);

let folder: ReturnType<typeof temporaryFolder>;
const open: { close(): Promise<void> }[] = [];
beforeEach(() => {
  folder = temporaryFolder({});
});
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
  folder.remove();
});

async function openKeys(): Promise<PseudonymKeys> {
  const keys = await PseudonymKeys.open(join(folder.path, 'keys'));
  open.push(keys);
  return keys;
}

async function openWriter(): Promise<FactWriter> {
  const writer = await FactWriter.open({
    path: folder.path,
    node: 'n',
    memoryBytes: 2 ** 28,
    keepMs: 1e15,
    keepBytes: 2 ** 40,
    fileRowsMax: 1e6,
    waitingRowsMax: 1e6,
    graceMs: 0,
  });
  open.push(writer);
  return writer;
}

const closeAll = async () => {
  for (const one of open.splice(0)) await one.close();
};

const behavioursOf = (userIds: readonly string[]) => {
  const rows = userIds.map((_, user) => ({ user, time: user, item_id: 'i', action: 'a' }));
  return { table: 'behaviour' as const, rows: JSON.stringify(rows), count: rows.length, userIds };
};

const keyOf = (at: number) => {
  const key = Buffer.alloc(16, 0xab);
  key.writeUInt32LE(at);
  return key;
};

it('keeps keys of many users, over restarts and growth, and no byte of one that went', async () => {
  const all = users('u', 3000);
  let keys = await openKeys();
  await keys.add(new Map(all.slice(0, 100).map((id, at) => [id, keyOf(at)])), DAY);
  const small = statSync(join(folder.path, 'keys')).size;
  await keys.add(new Map(all.map((id, at) => [id, keyOf(at + 10_000)])), DAY);
  expect(statSync(join(folder.path, 'keys')).size).toBeGreaterThan(small);
  await closeAll();
  keys = await openKeys();
  const found = await keys.find([...all, NAME]);
  expect(found).toEqual([...all.map((_, at) => keyOf(at < 100 ? at : at + 10_000)), undefined]);
  const [gone] = await keys.find(['u77']);
  expect(filesWith(folder.path, gone as Buffer)).toEqual(['keys']);
  expect([await keys.remove('u77'), await keys.remove('u77')]).toEqual([true, false]);
  expect(filesWith(folder.path, gone as Buffer)).toEqual([]);
  expect(await keys.find(['u77', 'u78'])).toEqual([undefined, keyOf(78)]);
  expect(statSync(join(folder.path, 'keys')).mode & 0o077).toBe(0);
});

it('overwrites keys that nobody has used for so long, in whichever page they are', async () => {
  const keys = await openKeys();
  const [old, late] = [users('old', 500), users('late', 500)];
  await keys.add(new Map(old.map((id, at) => [id, keyOf(at)])), DAY - 10);
  await keys.add(new Map(late.map((id, at) => [id, keyOf(at + 1000)])), DAY - 10);
  await keys.add(new Map(late.map((id) => [id, keyOf(7)])), DAY - 4);
  await keys.expire(DAY - 4);
  expect(await keys.find(old)).toEqual(old.map(() => undefined));
  expect(await keys.find(late)).toEqual(late.map((_, at) => keyOf(at + 1000)));
  expect(filesWith(folder.path, keyOf(3))).toEqual([]);
});

it('forgets a key with the facts that it names, and names who comes back anew', async () => {
  let nowMs = DAY * 86_400_000;
  const names = await Pseudonyms.open(join(folder.path, 'names'), () => nowMs);
  open.push(names);
  const [first] = await names.of(['a']);
  nowMs += 5 * 86_400_000;
  await names.expire(4 * 86_400_000);
  expect(await names.of(['a'])).toEqual([first]);
  nowMs += 7 * 86_400_000;
  await names.expire(4 * 86_400_000);
  expect(await names.find('a')).toBeUndefined();
  expect(await names.of(['a'])).not.toEqual([first]);
});

it('goes on where a crash left a file half-made, and refuses another file', async () => {
  const keys = await openKeys();
  await keys.add(new Map([['a', keyOf(1)]]), DAY);
  await closeAll();
  writeFileSync(join(folder.path, 'keys.partial'), KEY);
  expect(await (await openKeys()).find(['a'])).toEqual([keyOf(1)]);
  expect(filesWith(folder.path, KEY)).toEqual([]);
  await closeAll();
  const whole = readFileSync(join(folder.path, 'keys'));
  for (const bytes of [whole.subarray(0, 5000), Buffer.alloc(8192, 7)]) {
    writeFileSync(join(folder.path, 'keys'), bytes);
    await expect(openKeys()).rejects.toMatchObject({ code: 'IO_FAILED' });
  }
});

it('leaves neither the ID nor the key of an erased user in any file of the facts', async () => {
  let writer = await openWriter();
  for (const userIds of [users('a', 300), [NAME], users('b', 300)]) {
    await writer.append(behavioursOf(userIds));
  }
  await writer.flush(Date.now());
  const before = readFileSync(join(folder.path, 'pseudonyms.keys'));
  const hash = await writer.find(NAME);
  expect(hash).toBeDefined();
  expect(await writer.forget(NAME)).toBe(true);
  expect(await writer.find(NAME)).toBeUndefined();
  const after = readFileSync(join(folder.path, 'pseudonyms.keys'));
  const at = before.findIndex((byte, i) => byte !== after[i]);
  const slot = before.subarray(at - (at % 32), at - (at % 32) + 32);
  await closeAll();
  writer = await openWriter();
  await writer.append(behavioursOf(users('c', 3000)));
  await writer.flush(Date.now());
  await closeAll();
  expect(filesWith(folder.path, NAME)).toEqual([]);
  for (const part of [slot.subarray(0, 12), slot.subarray(16)]) {
    expect(filesWith(folder.path, part)).toEqual([]);
    expect(filesWith(folder.path, part.toString('hex'))).toEqual([]);
  }
});

it('takes the keys of a release before over, and no byte of them is left there', async () => {
  await openWriter();
  await closeAll();
  const instance = await DuckDBInstance.create(join(folder.path, 'state.duckdb'));
  const connection = await instance.connect();
  await connection.run('CREATE TABLE pseudonym (user_id VARCHAR PRIMARY KEY, key VARCHAR)');
  await connection.run(`INSERT INTO pseudonym VALUES ('${NAME}', '${KEY}'), ('erased', '${KEY}')`);
  await connection.run("INSERT INTO version (kind, digest) VALUES ('model', 'kept-digest')");
  await connection.run('CHECKPOINT');
  await connection.run("DELETE FROM pseudonym WHERE user_id = 'erased'");
  connection.closeSync();
  instance.closeSync();
  expect(filesWith(folder.path, KEY)).toEqual(['state.duckdb']);
  for (let time = 0; time < 2; time++) {
    const writer = await openWriter();
    // HMAC-SHA-256 of the ID with the key, its first 64 bits.
    expect(await writer.find(NAME)).toBe('8048404015819119146');
    expect(await writer.find('erased')).toBeUndefined();
    await closeAll();
    expect(filesWith(folder.path, NAME)).toEqual([]);
    expect(filesWith(folder.path, KEY)).toEqual([]);
    expect(filesWith(folder.path, 'kept-digest')).not.toEqual([]);
  }
});
