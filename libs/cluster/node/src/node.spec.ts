/** Nodes join by what the log and its store have, over a state of one file. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { markOf } from '@tessera/contracts';
import { PendingErasures } from '@tessera/erasure';
import { Readiness } from '@tessera/lifecycle';
import { bodyOf, entryBytes, LEASE_MS, readEntry } from '@tessera/log';
import { createLog } from '@tessera/telemetry';
import {
  MemoryEntryStore,
  MemoryLog,
  MemoryLogState,
  temporaryFolder,
  until,
} from '@tessera/testing';
import { type Clock, PROCESS_CLOCK } from '@tessera/turns';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startOf } from './domain/position.js';
import { NOTES } from './domain/state-files.js';
import { ClusterNode } from './node.js';
import { BeginningPart } from './parts/beginning-part.js';
import { FolderFiles } from './state-files.js';

interface Disk {
  words: string[];
  mark: string;
}

const STALE_MS = 10_000;

let state: MemoryLogState;
let store: MemoryEntryStore;
let folder: ReturnType<typeof temporaryFolder>;
const open: ClusterNode[] = [];

beforeEach(() => {
  state = new MemoryLogState();
  store = new MemoryEntryStore();
  folder = temporaryFolder({});
});

afterEach(async () => {
  for (const node of open.splice(0)) await node.close();
  folder.remove();
});

const fileOf = (node: string) => join(folder.path, node, 'changes', 'state.json');

function write(node: string, disk: Disk, standing?: object): void {
  mkdirSync(join(folder.path, node, 'changes'), { recursive: true });
  writeFileSync(fileOf(node), JSON.stringify(disk));
  const path = join(folder.path, node, 'changes', NOTES.standing);
  if (standing !== undefined) writeFileSync(path, JSON.stringify(standing));
}

function contentOf(node: string, disk: Disk) {
  const note = async (mark: string) => {
    disk.mark = mark;
  };
  const changes = { state: () => ({ sequence: disk.words.length }), seedDigest: 'seed' };
  const weights = { current: () => ({ serving: '' }) };
  const beginning = new BeginningPart({ changesOf: () => changes, weights } as never, ['']);
  const nothing = (name: string) => ({ name, erase: async () => ({}) });
  const words = {
    name: 'words',
    kinds: ['add'],
    apply: async ({ body }: { readonly body: unknown }) => {
      disk.words.push((body as { readonly word: string }).word);
      return { value: undefined, isMarked: false };
    },
    digest: async () => disk.words,
  };
  return {
    keeper: { mark: () => disk.mark, note },
    ordered: [words, beginning.part],
    eventual: { behaviours: nothing('a'), records: nothing('b'), pool: nothing('c') },
    beginning,
    snapshots: {
      compact: async () => undefined,
      settle: async () => write(node, disk),
      everyEntries: 1_000_000,
      keepMs: 60_000,
      sharedFiles: { folder: 'shared/', isUsed: () => false, isNamed: () => false },
    },
  };
}

/** Five seconds of it are one. */
const QUICK: Clock = {
  nowMs: () => 5 * PROCESS_CLOCK.nowMs(),
  pause: (ms, signal) => PROCESS_CLOCK.pause(ms / 5, signal),
};

async function joined(name: string) {
  const disks: Disk[] = [];
  const load = async () => {
    const text = existsSync(fileOf(name)) ? readFileSync(fileOf(name), 'utf8') : '';
    const disk = text === '' ? { words: [], mark: '' } : (JSON.parse(text) as Disk);
    disks.push(disk);
    return { disk, close: async () => undefined };
  };
  const pending = await PendingErasures.open(join(folder.path, name, 'erasures'));
  const nodeLog = createLog('silent');
  const options = {
    log: new MemoryLog(state),
    store,
    node: name,
    cluster: 'ours',
    pending,
    nodeLog,
    staleMs: STALE_MS,
    clock: state.clock,
  };
  const changes = {
    store: 'changes',
    path: join(folder.path, name, 'changes'),
    has: (path: string) => path !== NOTES.standing && path !== NOTES.erase,
    isFinal: () => false,
    isWhole: true,
  };
  const files = new FolderFiles([changes], join(folder.path, `${name}.scratch`));
  const { clusterNode } = await ClusterNode.join(options, files, load, ({ disk }) =>
    contentOf(name, disk),
  );
  open.push(clusterNode);
  return { node: clusterNode, disks };
}

it('a node without its log for longer than the bound says that it is stale', async () => {
  let aheadMs = 0;
  const nowMs = () => PROCESS_CLOCK.nowMs() + aheadMs;
  state = new MemoryLogState({ nowMs, pause: PROCESS_CLOCK.pause });
  const { node } = await joined('a');
  await node.serve(new Readiness());
  expect(node.said.isStale).toBe(false);
  state.away = true;
  aheadMs += STALE_MS;
  expect(node.said.isStale).toBe(false);
  // Its lease may have been renewed within this millisecond.
  aheadMs += LEASE_MS + 1;
  expect(node.said.isStale).toBe(true);
  state.away = false;
  await until('it follows again', () => !node.said.isStale);
});

it('a founder killed before its first entry begins the log with its state again', async () => {
  state.identity = 'log-1';
  const mark = markOf({ ...startOf('log-1'), entry: 'of the killed process' });
  write('a', { words: ['own'], mark }, { log: 'log-1', isDifferent: false });
  const { disks } = await joined('a');
  expect(disks).toHaveLength(1);
  const [first] = state.entries.map(({ bytes }) => bodyOf(readEntry(bytes).text));
  expect(first).toMatchObject({ founder: 'of the killed process' });
  const other = await joined('b');
  expect(other.disks.at(-1)?.words).toEqual(['own']);
});

it('a node begins although the store has lost the state that the log began with', async () => {
  write('a', { words: ['own'], mark: '' });
  const { node } = await joined('a');
  await node.serve(new Readiness());
  await node.submit({ kind: 'add', body: { word: 'x' } });
  store.contents.clear();
  const { disks } = await joined('b');
  expect(disks.at(-1)?.words).toEqual(['own', 'x']);
});

it('a node before an entry whose body is lost begins with a snapshot that has it', async () => {
  state = new MemoryLogState(QUICK);
  const { node } = await joined('a');
  await node.serve(new Readiness());
  const name = 'entries/large';
  store.contents.set(name, Buffer.from('{"word":"large"}'));
  const waiting = await joined('b');
  open.splice(open.indexOf(waiting.node), 1);
  await waiting.node.close();
  const head = { key: 'large', node: 'x', kind: 'add' };
  state.append(entryBytes(head, '', { offset: 0, chain: '' }, name));
  const { offset } = await node.submit({ kind: 'add', body: { word: 'behind' } });
  store.contents.delete(name);
  // It asks for one, which the node that has the entry makes.
  const before = await joined('b');
  await before.node.serve(new Readiness());
  expect(before.node.said.isStopped).toBe(true);
  await until('a snapshot is named', () => state.end > offset);
  open.splice(open.indexOf(before.node), 1);
  await before.node.close();
  const again = await joined('b');
  await again.node.serve(new Readiness());
  expect(again.node.said.isStopped).toBe(false);
  expect(again.disks.at(-1)?.words).toEqual(['large', 'behind']);
});
