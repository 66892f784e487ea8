/** Nodes join by what the log and its store have, over a state of one file. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { markOf } from '@tessera/contracts';
import { PendingErasures } from '@tessera/erasure';
import { Readiness } from '@tessera/lifecycle';
import { bodyOf, readEntry } from '@tessera/log';
import { createLog } from '@tessera/telemetry';
import { MemoryEntryStore, MemoryLog, MemoryLogState, temporaryFolder } from '@tessera/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startOf } from './domain/position.js';
import { ClusterNode } from './node.js';
import { BeginningPart } from './parts/beginning-part.js';
import { ERASE_FILE, STANDING_FILE } from './standing.js';

interface Disk {
  words: string[];
  mark: string;
}

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
  const path = join(folder.path, node, 'changes', STANDING_FILE);
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
      scratch: join(folder.path, `${node}.scratch`),
      everyEntries: 1_000_000,
      keepMs: 60_000,
      sharedFiles: { folder: 'shared/', isUsed: () => false, isNamed: () => false },
    },
  };
}

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
    staleMs: 10_000,
  };
  const changes = {
    store: 'changes',
    path: join(folder.path, name, 'changes'),
    has: (path: string) => path !== STANDING_FILE && path !== ERASE_FILE,
    isFinal: () => false,
    isWhole: true,
  };
  const { clusterNode } = await ClusterNode.join(options, [changes], load, ({ disk }) =>
    contentOf(name, disk),
  );
  open.push(clusterNode);
  return { node: clusterNode, disks };
}

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
