import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { EmbeddedBehaviourLog, parseRetention } from '@tessera/behaviour';
import { OrderedStore } from '@tessera/engine';
import { filesWith, temporaryFolder } from '@tessera/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';

const NAME = 'unmistakable-alice@example.com';
const RETENTION = parseRetention('buy=4,1000s; *=50');
const NOW_MS = 10_000_000;
const USERS = 300;

let folder: ReturnType<typeof temporaryFolder>;
const open: EmbeddedBehaviourLog[] = [];
beforeEach(() => {
  folder = temporaryFolder({});
});
afterEach(async () => {
  for (const log of open.splice(0)) await log.close();
  folder.remove();
});

async function opened(path: string): Promise<EmbeddedBehaviourLog> {
  const log = await EmbeddedBehaviourLog.open({ path, retention: RETENTION, nowMs: () => NOW_MS });
  open.push(log);
  return log;
}

async function closed(log: EmbeddedBehaviourLog): Promise<void> {
  open.splice(open.indexOf(log), 1);
  await log.close();
}

const eventsOf = (userId: string) =>
  ['buy', 'view', 'view'].map((action, i) => ({
    userId,
    eventId: `${userId}/${i}`,
    itemId: `item ${i}`,
    action,
    timeMs: NOW_MS - i,
    scene: {},
  }));

/** Users before and behind the one, over several openings: their keys lie in several tables. */
async function filled(path: string): Promise<EmbeddedBehaviourLog> {
  let log = await opened(path);
  for (const part of ['a', 'n', 'z']) {
    const users = Array.from({ length: USERS }, (_, i) => `${part}${i}`);
    await log.append([...users, NAME].flatMap((userId) => eventsOf(`${userId}`)));
    await log.putProfile(NAME, { city: part });
    await closed(log);
    log = await opened(path);
  }
  return log;
}

it('leaves no byte of an erased user in a file, at once and after a restart', async () => {
  const path = join(folder.path, 'store');
  const log = await filled(path);
  expect(filesWith(path, NAME)).not.toEqual([]);
  expect(await log.erase(NAME, NOW_MS)).toBe(true);
  await log.erasedBytesGone();
  expect(filesWith(path, NAME)).toEqual([]);
  await closed(log);
  const again = await opened(path);
  await again.erasedBytesGone();
  expect(filesWith(path, NAME)).toEqual([]);
  expect(await again.append(eventsOf(NAME))).toEqual(['outside', 'outside', 'outside']);
  expect(await again.history('n7', 9)).toHaveLength(3);
  expect(filesWith(path, NAME)).toEqual([]);
});

it('leaves none where the process closes right behind the erasure', async () => {
  const path = join(folder.path, 'store');
  const log = await filled(path);
  await log.erase(NAME, NOW_MS);
  await closed(log);
  expect(filesWith(path, NAME)).toEqual([]);
});

it('leaves none where a process died right behind the erasure', async () => {
  const path = join(folder.path, 'store');
  const log = await filled(path);
  await log.erase(NAME, NOW_MS);
  const left = join(folder.path, 'left');
  cpSync(path, left, { recursive: true, filter: (from) => !from.endsWith('/lock') });
  expect(filesWith(left, NAME)).not.toEqual([]);
  const next = await opened(left);
  await next.erasedBytesGone();
  expect(filesWith(left, NAME)).toEqual([]);
  expect(await next.append(eventsOf(NAME))).toEqual(['outside', 'outside', 'outside']);
});

it('takes the names out that a release before kept of who was erased', async () => {
  const path = join(folder.path, 'store');
  const store = await OrderedStore.open({ path, reserveBytes: 0 });
  const record = (userId: string, known: boolean) => {
    const value = { known, profile: {}, erasedUntilMs: NOW_MS, counts: [0, 0], purgedMs: 0 };
    return { key: Buffer.from(`r${userId}`), value: Buffer.from(JSON.stringify(value)) };
  };
  const put = [record(NAME, false), record('back', true)];
  await store.write({ erased: [], put, durability: 'machine' });
  store.close();
  const log = await opened(path);
  await log.erasedBytesGone();
  expect(filesWith(path, NAME)).toEqual([]);
  expect(await log.userIds(9)).toEqual(['back']);
  const late = ['back', NAME].flatMap(eventsOf);
  expect(new Set(await log.append(late))).toEqual(new Set(['outside']));
});
