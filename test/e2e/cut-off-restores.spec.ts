/** A restore or repair that is cut off at a step: the stores are of one state, or refused. */

import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { temporaryFolder } from '../../libs/testing/src/index.js';
import { event, openBehaviours, runProgram, runTool, writeTwoStores } from './kept-stores.js';

const RECORD = { format: 1, serving: 'kept', previous: '' };
let folder: ReturnType<typeof temporaryFolder>;
beforeEach(async () => {
  folder = temporaryFolder({ 'weights/weights.json': JSON.stringify(RECORD) });
  await writeTwoStores(folder.path);
  expect(await run('backup', '--to', at('backup'))).toMatchObject({ status: 0 });
  await append(2);
  writeFileSync(at('changes', 'digest', 'later.tmp'), '');
  const later = JSON.stringify(Object.assign({}, RECORD, { serving: 'later' }));
  writeFileSync(at('weights', 'weights.json'), later);
});
afterEach(() => folder.remove());

const at = (...parts: string[]) => join(folder.path, ...parts);
const run = (tool: string, ...words: string[]) => runTool(folder.path, tool, words);

async function append(n: number): Promise<void> {
  const log = await openBehaviours(folder.path);
  await log.append([event(n)]);
  await log.close();
}

/** Variables with which a program gets a signal before its call of a function of the disk. */
function cutBefore(call: 'rename' | 'copyFile', count: number, signal: string) {
  const path = at(`${call}-${count}.cjs`);
  writeFileSync(
    path,
    `const disk = require('node:fs/promises');
     const { ${call}: act } = disk;
     let left = ${count};
     disk.${call} = async (...words) => {
       left -= 1;
       if (left === 0) process.kill(process.pid, '${signal}');
       return act(...words);
     };
     require('node:module').syncBuiltinESMExports();`,
  );
  return { env: { NODE_OPTIONS: `--require ${path}` } };
}

function restoreCut(...cut: Parameters<typeof cutBefore>) {
  const words = ['--from', at('backup'), '--replace'];
  return runTool(folder.path, 'restore', words, cutBefore(...cut));
}

async function eventCount(): Promise<number> {
  const log = await openBehaviours(folder.path);
  const users = await log.userIds(100);
  const histories = await Promise.all(users.map((user) => log.history(user, 100)));
  await log.close();
  return histories.flat().length;
}

const serving = () => /"serving": ?"(\w+)"/.exec(readFileSync(at('weights/weights.json'), 'utf8'));

async function expectBackup(): Promise<void> {
  expect(await eventCount()).toBe(1);
  expect(readdirSync(at('changes', 'digest'))).not.toContain('later.tmp');
  expect(serving()?.[1]).toBe('kept');
  expect(readdirSync(folder.path).filter((name) => /copying|restoring/.test(name))).toEqual([]);
}

const STARTS = [
  ['tools/repair'],
  ['tools/backup', '--to', '/dev/null/none'],
  ['apps/standalone/src/main'],
  ['apps/feature/src/main'],
];

it('a restore killed at any step between the first store and the last is refused', async () => {
  let steps = 0;
  for (;;) {
    const { status } = await restoreCut('rename', steps + 1, 'SIGKILL');
    if (status === 0) break;
    steps += 1;
    for (const [program = '', ...words] of steps === 1 ? STARTS : STARTS.slice(0, 1)) {
      const refused = await runProgram(folder.path, `dist/${program}.js`, words);
      expect(refused).toMatchObject({ status: 1 });
      expect(refused.output).toMatch(/^STORE_INVALID \(.*\): .*restore that was cut off.*again/m);
    }
  }
  expect(steps).toBeGreaterThan(5);
  await expectBackup();
  expect((await run('repair')).status).toBe(0);
});

it('a restore killed while it copies has changed nothing, and blocks nothing', async () => {
  expect(await restoreCut('copyFile', 2, 'SIGKILL')).toMatchObject({ status: null });
  expect((await run('repair')).status).toBe(0);
  expect(await eventCount()).toBe(2);
  expect(serving()?.[1]).toBe('later');
  expect(await run('restore', '--from', at('backup'), '--replace')).toMatchObject({ status: 0 });
  await expectBackup();
});

it.each(['SIGTERM', 'SIGINT', 'SIGHUP'])('%s ends a restore before or behind', async (signal) => {
  expect((await restoreCut('copyFile', 2, signal)).status).toBe(130);
  expect(await eventCount()).toBe(2);
  expect(readdirSync(folder.path).filter((name) => /copying|restoring/.test(name))).toEqual([]);
  expect(await restoreCut('rename', 2, signal)).toMatchObject({ status: 0 });
  await expectBackup();
});

it('a repair killed between its two steps is refused, and goes on when run again', async () => {
  // As the native repair leaves the folders there.
  renameSync(at('behaviours'), at('behaviours.repairing'));
  mkdirSync(at('behaviours.cut-1'));
  const started = await runProgram(folder.path, 'dist/apps/feature/src/main.js', []);
  expect(started.output).toMatch(/^STORE_INVALID \(behaviours.path\): .*repair .* --apply/m);
  expect((await run('repair')).output).toMatch(/^STORE_INVALID .*repair that was cut off/m);
  expect(existsSync(at('behaviours'))).toBe(false);
  expect(await run('repair', '--apply')).toMatchObject({ status: 0 });
  expect(await eventCount()).toBe(2);
});
