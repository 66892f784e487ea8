import { join } from 'node:path';
import { loadConfig } from '@tessera/config';
import { markOf, positionOf } from '@tessera/contracts';
import { Readiness } from '@tessera/lifecycle';
import { startOf } from '@tessera/node';
import { createLog } from '@tessera/telemetry';
import {
  MemoryEntryStore,
  MemoryLog,
  MemoryLogState,
  ModelNode,
  temporaryFolder,
  until,
} from '@tessera/testing';
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest';
import { pendingErasuresOf } from './erasure-parts.js';
import { followLog } from './follow-log.js';

class FakeBehaviours {
  readonly erased: string[] = [];
  mark = '';

  async erase(userId: string, atMs: number): Promise<boolean> {
    expect(atMs).toBeGreaterThan(0);
    this.erased.push(userId);
    return true;
  }

  async noteMark(mark: string): Promise<void> {
    this.mark = mark;
  }
}

const { config } = loadConfig({ environment: { TESSERA_NODE_NAME: 'feature' } });
const ALL = { withBehaviours: true, withRecords: true };
const folder = temporaryFolder({});
afterAll(() => folder.remove());

let state: MemoryLogState;
let store: MemoryEntryStore;
let node: ModelNode;

beforeEach(async () => {
  state = new MemoryLogState();
  store = new MemoryEntryStore();
  node = await ModelNode.serving(state, { store });
});
afterEach(() => node.close());

let opens = 0;
const open = async (behaviours: FakeBehaviours) => {
  const opened = { log: new MemoryLog(state), store };
  const behavioursConfig = { ...config.behaviours, path: join(folder.path, `${opens}`) };
  opens += 1;
  const own = { ...config, behaviours: behavioursConfig };
  const pending = await pendingErasuresOf(own);
  return followLog(own, opened, behaviours, pending, createLog('silent'));
};
const erase = (userId: string, withBehaviours = true) =>
  node.submissions.submit({
    kind: 'erase',
    body: { userId, withBehaviours, withRecords: true },
  });
const add = (word: string) => node.submissions.submit({ kind: 'add', body: { word } });

it('erases whom the log erases, before it serves and while it does, and no others', async () => {
  await erase('a');
  await add('word');
  await erase('only in the pool', false);
  const behaviours = new FakeBehaviours();
  const followed = await open(behaviours);
  await until('a is erased', () => behaviours.erased.join() === 'a');
  await followed.node.serve(new Readiness());
  expect(await followed.node.erase({ userId: 'b', ...ALL })).toEqual({ known: true, recalls: 0 });
  expect(behaviours.erased).toEqual(['a', 'b']);
  await followed.close();
  expect(positionOf(behaviours.mark)).toMatchObject({ log: state.identity, offset: 4 });
  await erase('c');
  const again = await open(behaviours);
  await until('c is erased', () => behaviours.erased.join() === 'a,b,c');
  await again.close();
});

it('erases by a snapshot whom entries that are gone have erased', async () => {
  const erased = ['a', 'b', 'pool'].map((userId, n) => ({
    userId,
    withBehaviours: userId !== 'pool',
    withRecords: true,
    offset: n + 1,
    atMs: 7,
  }));
  for (const word of ['1', '2', '3', '4']) await add(word);
  const name = `snapshots/${state.identity}/4.json`;
  const manifest = { format: 1, log: state.identity, offset: 4, atMs: 1, files: [], erased };
  await store.put(name, Buffer.from(JSON.stringify(manifest)));
  const body = { snapshot: name, offset: 4 };
  await node.submissions.submit({ kind: 'snapshot', body });
  await node.log.trim(5);
  const [anew, behind] = [new FakeBehaviours(), new FakeBehaviours()];
  behind.mark = markOf({ ...startOf(state.identity), offset: 1 });
  for (const behaviours of [anew, behind]) {
    const followed = await open(behaviours);
    const count = behaviours === anew ? 2 : 1;
    await until('they are erased', () => behaviours.erased.length === count);
    await followed.close();
    expect(positionOf(behaviours.mark)).toMatchObject({ offset: 5 });
  }
  expect(anew.erased).toEqual(['a', 'b']);
  expect(behind.erased).toEqual(['b']);
});

it('does not begin where entries are gone and the log names no snapshot', async () => {
  for (const word of ['1', '2', '3']) await add(word);
  await node.log.trim(3);
  await expect(open(new FakeBehaviours())).rejects.toMatchObject({ code: 'LOG_TRIMMED' });
});

it('marks erasures in a store that nodes share as nodes do: one entry counts once', async () => {
  await erase('a');
  const marks: (string | undefined)[] = [];
  const shared = {
    erase: async (_: string, __: number, mark?: string) => {
      marks.push(mark);
      return true;
    },
  };
  const followed = await open(shared as never);
  await until('a is erased', () => marks.length === 1);
  await followed.close();
  expect(positionOf(marks[0] ?? '')).toMatchObject({ log: state.identity, offset: 1 });
});

it('keeps two nodes of one folder from each other', async () => {
  const path = join(folder.path, 'shared');
  const behaviours = { ...config.behaviours, path, store: 'redis' as const };
  const own = { ...config, behaviours };
  await pendingErasuresOf(own);
  await expect(pendingErasuresOf(own)).rejects.toMatchObject({
    field: 'behaviours.path',
  });
});
