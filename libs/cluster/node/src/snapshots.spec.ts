import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TesseraError } from '@tessera/errors';
import { ENTRY_BYTES_MAX } from '@tessera/log';
import {
  MemoryEntryStore,
  MemoryLog,
  MemoryLogState,
  ModelDisk,
  ModelNode,
  temporaryFolder,
  until,
} from '@tessera/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ERASE } from './domain/erasure.js';
import { KEYS_KEPT } from './domain/key-window.js';
import { Life } from './domain/life.js';
import { type Manifest, parsedManifest } from './domain/manifest.js';
import { NOTES } from './domain/state-files.js';
import { Reached } from './reached.js';
import { Snapshots } from './snapshots.js';
import { BEGINS } from './snapshots-there.js';
import { Standing } from './standing.js';
import { FolderFiles } from './state-files.js';
import { WatchedLog } from './watched-log.js';
import { Work } from './work.js';

const LEASE_MS = 9000;
const KEEP_MS = 60_000;

let state: MemoryLogState;
let store: MemoryEntryStore;
let folder: ReturnType<typeof temporaryFolder>;
const closing: (() => Promise<void>)[] = [];

beforeEach(() => {
  state = new MemoryLogState();
  store = new MemoryEntryStore();
  folder = temporaryFolder({});
});

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  folder.remove();
});

const add = (word: string) => ({ kind: 'add', body: { word } });
const filesOf = (name: string) => {
  const words = {
    store: 'words',
    path: join(folder.path, name),
    has: (path: string) => path !== NOTES.standing && path !== NOTES.erase,
    isFinal: () => false,
    isWhole: true,
  };
  return new FolderFiles([words], join(folder.path, `${name}.scratch`));
};
const fileOf = (name: string) => join(folder.path, name, 'words.json');

interface Opened {
  readonly node: ModelNode;
  readonly snapshots: Snapshots;
}

/** A process over the folder of its name, which is written when a snapshot is made. */
async function open(
  name: string,
  { everyEntries = 1_000_000, keepMs = KEEP_MS, disk = new ModelDisk(), own = store } = {},
  isDamaged = false,
): Promise<Opened> {
  const node = await ModelNode.serving(state, { node: name, disk, store, leaseMs: LEASE_MS });
  let newest = 0;
  const snapshots = new Snapshots({
    log: node.log,
    store: own,
    node: name,
    files: filesOf(name),
    follower: node.follower,
    submissions: node.submissions,
    work: node.work,
    onAble: (canSnapshot) => {
      node.publication.canSnapshot = canSnapshot;
      node.publication.tell();
    },
    isCurrent: () => node.publication.lease.holds(node.follower.offset),
    sharedFiles: { folder: 'shared/', isUsed: () => false, isNamed: () => false },
    compact: async () => undefined,
    settle: async () => {
      mkdirSync(join(folder.path, name), { recursive: true });
      const { words, mark } = disk;
      writeFileSync(fileOf(name), JSON.stringify({ words, mark }));
    },
    everyEntries,
    keepMs,
    leaseMs: LEASE_MS,
    newestOffset: () => newest,
    nodeLog: {
      info: ({ offset }: { offset: number }) => {
        newest = offset;
      },
      warn: ({ err }: { err: unknown }) => {
        if (!isDamaged) expect.unreachable(String(err));
      },
    } as never,
  });
  closing.push(() => node.close());
  closing.push(() => snapshots.close());
  return { node, snapshots };
}

function manifestAt(name: string): Manifest {
  return parsedManifest(name, store.contents.get(name) ?? new Uint8Array());
}

const namesOf = (prefix: string) =>
  [...store.contents.keys()].filter((name) => name.startsWith(prefix)).sort();

/** The disk of a node that joins by what the log and the store have. */
async function joinedDisk(name: string, log = state): Promise<ModelDisk> {
  const nodeLog = { info: () => undefined, warn: () => undefined } as never;
  const watched = new WatchedLog(new MemoryLog(log), new Reached(store, 'ours'));
  const work = new Work(log.clock, nodeLog);
  const own = { log: watched, work, store, node: name, files: filesOf(name) };
  await Standing.take({ ...own, life: new Life(), nodeLog }, { isAnew: false, offset: 0 });
  const disk = new ModelDisk();
  Object.assign(disk, JSON.parse(readFileSync(fileOf(name), 'utf8')));
  return disk;
}

describe('a snapshot', () => {
  it('has the state behind an entry, from which another node goes on', async () => {
    const { node, snapshots } = await open('a');
    for (const word of ['x', 'y']) await node.submissions.submit(add(word));
    const { name, offset } = await snapshots.put();
    expect(offset).toBe(2);
    expect(manifestAt(name)).toMatchObject({ log: 'log-1', offset: 2, erased: [] });
    await node.submissions.append({ kind: BEGINS, body: { snapshot: name } }, BEGINS);
    expect((await joinedDisk('b')).words).toEqual(['x', 'y']);
  });

  it('names who was erased up to it, and as long as the log keeps them', async () => {
    const { node, snapshots } = await open('a');
    const erase = (userId: string) =>
      node.submissions.submit({
        kind: ERASE,
        body: { userId, withBehaviours: true, withRecords: true },
      });
    await erase('u');
    await node.submissions.submit(add('x'));
    const first = manifestAt((await snapshots.put()).name);
    expect(first.erased.map(({ userId, offset }) => [userId, offset])).toEqual([['u', 1]]);
    await erase('v');
    // Those of the snapshot before are carried on, also where their entries are gone.
    await node.log.trim(3);
    const second = manifestAt((await snapshots.put()).name);
    expect(second.erased.map(({ userId }) => userId)).toEqual(['u', 'v']);
    await node.submissions.submit(add('y'));
    // Its folder of pending erasures is its own: the first node still works in the other.
    const { words, mark, erased } = node.disk;
    const disk = Object.assign(new ModelDisk(), { words, mark, erased });
    const later = await open('b', { keepMs: -1, disk });
    const third = manifestAt((await later.snapshots.put()).name);
    expect(third.erased).toEqual([]);
  });

  it('counts the time for which it names them by the log, not by the clock of a node', async () => {
    const { node, snapshots } = await open('a');
    await node.erase('u');
    await node.submissions.submit(add('x'));
    const now = Date.now;
    Date.now = () => now() + 100 * 86_400_000;
    try {
      const { erased } = manifestAt((await snapshots.put()).name);
      expect(erased.map(({ userId }) => userId)).toEqual(['u']);
    } finally {
      Date.now = now;
    }
  });

  it('passes over a damaged one before it, which goes', async () => {
    const { node, snapshots } = await open('a', {}, true);
    await node.submissions.submit(add('x'));
    const { name } = await snapshots.put();
    store.contents.set(name, Buffer.from('{"cut'));
    await node.submissions.submit(add('y'));
    const next = await snapshots.put();
    expect(manifestAt(next.name)).toMatchObject({ offset: 2 });
    expect(store.contents.has(name)).toBe(false);
  });

  it('of two states that a log might begin with is each its own', async () => {
    const [one, other] = [new ModelDisk(), new ModelDisk()];
    for (const [disk, word] of [
      [one, 'x'],
      [other, 'y'],
    ] as const) {
      disk.words = [word];
      const position = { log: 'log-1', offset: 0, entry: `founder ${word}`.replace(' ', '-') };
      disk.mark = JSON.stringify({ ...position, erased: '0'.repeat(32) });
    }
    const [a, b] = [await open('a', { disk: one }), await open('b', { disk: other })];
    const names = [await b.snapshots.put(), await a.snapshots.put()].map(({ name }) => name);
    expect(new Set(names).size).toBe(2);
    await a.node.submissions.append({ kind: BEGINS, body: { snapshot: names[1] } }, BEGINS);
    expect((await joinedDisk('c')).words).toEqual(['x']);
  });

  it('is not that of another log which was in the store before', async () => {
    const before = await open('a');
    await before.node.submissions.submit(add('of the log before'));
    await before.node.submissions.submit({
      kind: ERASE,
      body: { userId: 'u', withBehaviours: true, withRecords: true },
    });
    await before.snapshots.put();
    // As of a cluster of another name, which says of its own log how far it was.
    for (const name of namesOf('reached/')) store.contents.delete(name);
    state = new MemoryLogState();
    state.identity = 'log-2';
    const { node, snapshots } = await open('b');
    for (const word of ['x', 'y']) await node.submissions.submit(add(word));
    const { name } = await snapshots.put();
    expect(manifestAt(name)).toMatchObject({ log: 'log-2', offset: 2, erased: [] });
    await node.submissions.append({ kind: BEGINS, body: { snapshot: name } }, BEGINS);
    expect((await joinedDisk('c')).words).toEqual(['x', 'y']);
  });
});

describe('snapshots in time', () => {
  const NAMED = 3;

  it('are made at once where a node asks for one', async () => {
    const { node, snapshots } = await open('a');
    await node.submissions.submit(add('x'));
    const word = { node: 'b', process: 'p', log: state.identity, chain: '', erased: 0, digest: '' };
    const wants = { open: [], standing: 'wants-snapshot', canSnapshot: false } as const;
    await new MemoryLog(state).say({ ...word, ...wants, offset: 0 });
    const before = node.follower.offset;
    snapshots.start();
    // The store has it a little before the log names it, and a node goes by the log.
    await until('the log names a snapshot', () => node.follower.offset > before);
    expect((await joinedDisk('b')).words).toEqual(['x']);
  });

  it('are made by the next node by name where the first one cannot', async () => {
    const full = new MemoryEntryStore(store.contents);
    full.putFile = async () => {
      throw new TesseraError('STORE_FULL', 'the disk is full');
    };
    const first = await open('a', { everyEntries: 1, own: full });
    const next = await open('b', { everyEntries: 1 });
    await first.node.submissions.submit(add('x'));
    first.snapshots.start();
    await until('it says so', () => state.positions.get('a')?.canSnapshot === false);
    next.snapshots.start();
    await until('the next one makes it', () => namesOf('snapshots/').length === 1);
  });

  it('are made once more where the store has lost the one that the log names', async () => {
    const { node, snapshots } = await open('a', {}, true);
    await node.submissions.submit(add('x'));
    const { name } = await snapshots.put();
    await node.submissions.submit({ kind: 'snapshot', body: { snapshot: name, offset: 1 } });
    store.contents.delete(name);
    const word = { node: 'b', process: 'p', log: state.identity, chain: '', erased: 0, digest: '' };
    const wants = { open: [], standing: 'wants-snapshot', canSnapshot: false } as const;
    await new MemoryLog(state).say({ ...word, ...wants, offset: 0 });
    snapshots.start();
    await until('another one is made', () => namesOf('snapshots/').length === 1);
  });

  it('are made by one of the nodes that have a whole state, and let old entries go', async () => {
    const [first, second] = [
      await open('node-1', { everyEntries: KEYS_KEPT + NAMED }),
      await open('node-2', { everyEntries: 1 }),
    ];
    // Follows the log for a part alone, and says so.
    await first.node.log.say({
      node: 'feature',
      process: 'p',
      offset: 0,
      digest: '',
      chain: '',
      erased: 0,
      log: state.identity,
      open: [],
      standing: 'serving',
      canSnapshot: true,
    });
    const large = 'x'.repeat(ENTRY_BYTES_MAX);
    await first.node.submissions.submit(add(large));
    expect(namesOf('entries/')).toHaveLength(1);
    for (const { snapshots } of [first, second]) snapshots.start();
    for (let n = 0; n < KEYS_KEPT + NAMED; n += 1) {
      const how = { waitFor: 'appended' } as const;
      await first.node.submissions.submit(add(String(n)), how);
    }
    await until('a snapshot is made', () => state.first > 1);
    const [name = ''] = namesOf('snapshots/');
    const { offset } = manifestAt(name);
    expect(offset).toBeGreaterThanOrEqual(KEYS_KEPT + NAMED);
    expect(state.first).toBe(offset - KEYS_KEPT);
    // Trimmed entries took their objects in the store with them.
    expect(namesOf('entries/')).toEqual([]);
    expect(namesOf('snapshots/')).toEqual([name]);
    expect((await joinedDisk('node-3')).words).toHaveLength(offset);
  });
});
