/** `npm run backup`, `restore` and `repair` on the stores of a service. */

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { EmbeddedBehaviourLog } from '../../libs/service/behaviour/src/index.js';
import { temporaryFolder } from '../../libs/testing/src/index.js';
import { event, openBehaviours, runTool, writeTwoStores } from './kept-stores.js';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder({ 'weights/weights.json': '{"format":1,"serving":"a","previous":""}' });
});
afterEach(() => folder.remove());

const at = (...parts: string[]) => join(folder.path, ...parts);

const run = (tool: string, ...words: string[]) => runTool(folder.path, tool, words);
const open = () => openBehaviours(folder.path);

async function eventsIn(log: EmbeddedBehaviourLog): Promise<Set<number>> {
  const found = new Set<number>();
  for (const userId of await log.userIds(100)) {
    for (const { eventId } of (await log.history(userId, 100_000)) ?? [])
      found.add(Number(eventId));
  }
  return found;
}

it('a backup of a store that is being written brings back all acknowledged before it', async () => {
  const log = await open();
  let acknowledged = 0;
  const writeOne = async () => {
    await log.append([event(acknowledged)]);
    acknowledged += 1;
  };
  while (acknowledged < 300) await writeOne();
  const before = acknowledged;
  let isOver = false;
  const backup = run('backup', '--to', at('backup')).finally(() => {
    isOver = true;
  });
  while (!isOver) await writeOne();
  expect(await backup).toMatchObject({ status: 0 });
  expect(acknowledged).toBeGreaterThan(before);
  await log.close();
  for (const name of ['behaviours', 'weights']) rmSync(at(name), { recursive: true });
  expect(await run('restore', '--from', at('backup'))).toMatchObject({ status: 0 });
  const restored = await open();
  const found = await eventsIn(restored);
  await restored.close();
  for (let n = 0; n < before; n++) expect(found.has(n), `event ${n}`).toBe(true);
  expect(found.size).toBe(Math.max(...found) + 1);
  expect(readFileSync(at('weights', 'weights.json'), 'utf8')).toMatch(/"serving": ?"a"/);
});

it('a backup that is damaged or broken off is refused, and so is a folder in use', async () => {
  const log = await open();
  await log.append([event(1)]);
  await log.close();
  expect(await run('backup', '--to', at('backup'))).toMatchObject({ status: 0 });
  const held = await run('restore', '--from', at('backup'));
  expect(held).toMatchObject({ status: 1, output: expect.stringContaining('--replace') });
  const [file = ''] = readdirSync(at('backup', 'behaviours')).filter((n) => n.endsWith('.log'));
  writeFileSync(at('backup', 'behaviours', file), 'damage');
  const damaged = await run('restore', '--from', at('backup'), '--replace');
  expect(damaged).toMatchObject({ status: 1, output: expect.stringContaining('STORE_CORRUPT') });
  rmSync(at('backup', 'backup.json'));
  expect((await run('restore', '--from', at('backup'))).output).toContain('backup.json');
  const again = await open();
  expect((await eventsIn(again)).size).toBe(1);
  await again.close();
});

it('a restore that finds damage in a later store has changed none', async () => {
  await writeTwoStores(folder.path);
  expect(await run('backup', '--to', at('backup'))).toMatchObject({ status: 0 });
  const path = 'catalogue-changes/digest/1.changes';
  writeFileSync(at('backup', path), 'damage');
  const list = JSON.parse(readFileSync(at('backup', 'backup.json'), 'utf8'));
  const sha256 = createHash('sha256').update('damage').digest('hex');
  list.files.push({ path, bytes: 6, sha256 });
  writeFileSync(at('backup', 'backup.json'), JSON.stringify(list));
  const before = readdirSync(folder.path);
  const { status, output } = await run('restore', '--from', at('backup'), '--replace');
  expect(status).toBe(1);
  expect(output).toMatch(/^STORE_CORRUPT.*catalogue-changes\/digest/m);
  expect(readdirSync(folder.path)).toEqual(before);
});

it('restores of one second keep what each found, and no backup takes it for a store', async () => {
  await writeTwoStores(folder.path);
  expect(await run('backup', '--to', at('backup'))).toMatchObject({ status: 0 });
  const seconds = Math.floor(Date.now() / 1000);
  for (let ahead = 0; ahead < 60; ahead++) {
    mkdirSync(at(`behaviours.before-${seconds + ahead}`, 'kept'), { recursive: true });
  }
  const restored = await run('restore', '--from', at('backup'), '--replace');
  expect(restored).toMatchObject({ status: 0 });
  const aside = readdirSync(folder.path).filter((name) => name.includes('.before-'));
  expect(aside.filter((name) => name.startsWith('behaviours.'))).toHaveLength(61);
  expect(aside.filter((name) => name.startsWith('changes.'))).toHaveLength(1);
  expect(readdirSync(at('changes'))).toEqual(['digest']);
  const again = await run('backup', '--to', at('again'));
  expect(again.output.match(/^catalogue-changes/gm)).toHaveLength(1);
});

it('a record of weights gives way to another by --replace alone, and stays aside', async () => {
  expect(await run('backup', '--to', at('backup'))).toMatchObject({ status: 0 });
  const same = await run('restore', '--from', at('backup'));
  expect(same).toMatchObject({ status: 0 });
  expect(readdirSync(at('weights')).filter((name) => name !== 'lock')).toEqual(['weights.json']);
  const other = '{"format":1,"serving":"b","previous":""}';
  writeFileSync(at('weights', 'weights.json'), other);
  const refused = await run('restore', '--from', at('backup'));
  expect(refused).toMatchObject({ status: 1, output: expect.stringContaining('--replace') });
  expect(readFileSync(at('weights', 'weights.json'), 'utf8')).toBe(other);
  expect(await run('restore', '--from', at('backup'), '--replace')).toMatchObject({ status: 0 });
  expect(readFileSync(at('weights', 'weights.json'), 'utf8')).toContain('"serving": "a"');
  const [aside = ''] = readdirSync(at('weights')).filter((name) => name.includes('.before-'));
  expect(readFileSync(at('weights', aside), 'utf8')).toBe(other);
});

it.each([
  ['weights', 'weights.json', 'expected which weights serve'],
  ['adapters', 'registry.json', 'expected the state of the registry'],
])('damaged %s are refused by a backup, and by a restore', async (kind, file, reason) => {
  mkdirSync(at('adapters'), { recursive: true });
  writeFileSync(at('adapters', 'registry.json'), '{"format":1,"versions":[]}');
  expect(await run('backup', '--to', at('backup'))).toMatchObject({ status: 0 });
  writeFileSync(at('backup', kind, file), 'damage');
  const list = JSON.parse(readFileSync(at('backup', 'backup.json'), 'utf8'));
  const sha256 = createHash('sha256').update('damage').digest('hex');
  const entry = list.files.find(({ path }: { path: string }) => path === `${kind}/${file}`);
  Object.assign(entry, { bytes: 6, sha256 });
  writeFileSync(at('backup', 'backup.json'), JSON.stringify(list));
  const before = readdirSync(folder.path);
  const restored = await run('restore', '--from', at('backup'), '--replace');
  expect(restored).toMatchObject({ status: 1, output: expect.stringContaining(reason) });
  expect(readdirSync(folder.path)).toEqual(before);
  writeFileSync(at(kind, file), 'damage');
  const backup = await run('backup', '--to', at('again'));
  expect(backup).toMatchObject({ status: 1, output: expect.stringContaining(reason) });
});

it('a restore is refused while a service has one of the folders, and changes nothing', async () => {
  const log = await open();
  await log.append([event(1)]);
  expect(await run('backup', '--to', at('backup'))).toMatchObject({ status: 0 });
  const refused = await run('restore', '--from', at('backup'), '--replace');
  expect(refused.status).toBe(1);
  expect(refused.output).toMatch(/^STORE_INVALID \(lock\): behaviours: .*stop the service first/m);
  expect(readdirSync(folder.path).filter((name) => /before|restoring/.test(name))).toEqual([]);
  await log.append([event(2)]);
  await log.close();
  const again = await open();
  expect((await eventsIn(again)).size).toBe(2);
  await again.close();
});

it.each([
  [{ stores: [{ kind: 'catalogue-changes', name: 'catalogue-changes/../../pwned' }] }, 'name'],
  [{ stores: [{ kind: 'behaviours', name: 'weights' }] }, 'name'],
  [{ files: [{ path: '../outside', bytes: 0, sha256: '' }] }, 'path'],
  [{ files: [{ path: '/etc/hostname', bytes: 0, sha256: '' }] }, 'path'],
  [{ files: [{ path: 'behaviours/../x', bytes: 0, sha256: '' }] }, 'path'],
  [{ files: [{ path: 'elsewhere/x', bytes: 0, sha256: '' }] }, 'a file of a store of the list'],
])('a list that leads out of the backup is refused (%#)', async (change, named) => {
  expect(await run('backup', '--to', at('backup'))).toMatchObject({ status: 0 });
  const path = at('backup', 'backup.json');
  const list = Object.assign(JSON.parse(readFileSync(path, 'utf8')), change);
  writeFileSync(path, JSON.stringify(list));
  const { status, output } = await run('restore', '--from', at('backup'), '--replace');
  expect(status).toBe(1);
  expect(output).toMatch(/^STORE_CORRUPT/m);
  expect(output).toContain(named);
});

it('a backup that a newer release made is named', async () => {
  expect(await run('backup', '--to', at('backup'))).toMatchObject({ status: 0 });
  const path = at('backup', 'backup.json');
  writeFileSync(path, readFileSync(path, 'utf8').replace('"format": 1', '"format": 2'));
  const { status, output } = await run('restore', '--from', at('backup'), '--replace');
  expect(status).toBe(1);
  expect(output).toMatch(/^STORE_NEWER.*expected format 1, got format 2/m);
});

it('a backup of nothing is refused: the service of another model may have its stores', async () => {
  rmSync(at('weights'), { recursive: true });
  const { status, output } = await run('backup', '--to', at('backup'));
  expect(status).toBe(1);
  expect(output).toMatch(
    /^STORE_INVALID.*behaviours\.path: expected a store .*TESSERA_MODEL_PATH/m,
  );
  expect(existsSync(at('backup'))).toBe(false);
});

it('a repair shows what is lost, cuts when asked to, and keeps what was there', async () => {
  const log = await open();
  for (let n = 0; n < 12; n++) await log.append([event(n)]);
  await log.close();
  const [name = ''] = readdirSync(at('behaviours')).filter((n) => n.endsWith('.log'));
  const wal = readFileSync(at('behaviours', name));
  wal[wal.length >> 1] = (wal[wal.length >> 1] ?? 0) ^ 1;
  writeFileSync(at('behaviours', name), wal);
  await expect(open()).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
  const shown = await run('repair', '--only', 'behaviours');
  expect(shown).toMatchObject({ status: 3, output: expect.stringMatching(/ are lost/) });
  expect(readFileSync(at('behaviours', name))).toEqual(wal);
  expect((await run('repair', '--only', 'behaviours', '--apply')).status).toBe(0);
  const repaired = await open();
  const found = await eventsIn(repaired);
  expect(found.size).toBeGreaterThan(2);
  expect(found.size).toBeLessThan(12);
  expect(found.size).toBe(Math.max(...found) + 1);
  expect(await repaired.append([event(99)])).toEqual(['added']);
  await repaired.close();
  const [aside = ''] = readdirSync(folder.path).filter((n) => n.startsWith('behaviours.cut-'));
  expect(existsSync(at(aside, name))).toBe(true);
  expect((await run('repair')).status).toBe(0);
});

it('a repair says of each store what it is, behind one that it refuses too', async () => {
  await writeTwoStores(folder.path);
  writeFileSync(at('changes', 'digest', '1.changes'), 'damage');
  mkdirSync(at('adapters', 'versions', 'a'.repeat(64)), { recursive: true });
  const shown = await run('repair');
  expect(shown.status).toBe(3);
  expect(shown.output).toMatch(/^behaviours in .*: whole$/m);
  expect(shown.output).toMatch(/^catalogue-changes.*: CATALOGUE_CORRUPT: .*restore a backup/m);
  expect(shown.output).toMatch(/^adapters in .*: no state of the registry$/m);
  expect(shown.output).not.toContain('    at ');
  const log = await open();
  const held = await run('repair', '--only', 'behaviours');
  expect(held).toMatchObject({ status: 1, output: expect.stringMatching(/: STORE_INVALID: /) });
  await log.close();
  expect((await run('repair', '--apply')).status).toBe(1);
  expect((await run('repair', '--only', 'adapters')).output).toMatch(/^adapters in .*: whole$/m);
});
