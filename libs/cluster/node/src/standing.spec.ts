import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TesseraError } from '@tessera/errors';
import { digestOfBytes, entryBytes } from '@tessera/log';
import {
  MemoryEntryStore,
  MemoryLog,
  MemoryLogState,
  temporaryFolder,
  until,
} from '@tessera/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Life } from './domain/life.js';
import { fileName, type Manifest, manifestName, manifestText } from './domain/manifest.js';
import { startOf } from './domain/position.js';
import { NOTES } from './domain/state-files.js';
import type { StateFolder } from './domain/state-folder.js';
import { Reached } from './reached.js';
import { BEGINS, SNAPSHOT } from './snapshots-there.js';
import { Standing, untilBegun } from './standing.js';
import { FolderFiles } from './state-files.js';
import { WatchedLog } from './watched-log.js';
import { Work } from './work.js';

let state: MemoryLogState;
let store: MemoryEntryStore;
let folder: ReturnType<typeof temporaryFolder>;
let told: string[];

beforeEach(() => {
  state = new MemoryLogState();
  store = new MemoryEntryStore();
  folder = temporaryFolder({});
  told = [];
});

afterEach(() => folder.remove());

const note = (_: object, text: string) => {
  told.push(text);
};
const nodeLog = { info: note, warn: note } as never;

function foldersOf(node: string): readonly [StateFolder, StateFolder] {
  const isOwn = (path: string) => path !== NOTES.standing && path !== NOTES.erase;
  const isFinal = () => false;
  return [
    {
      store: 'changes',
      path: join(folder.path, node, 'changes'),
      has: isOwn,
      isFinal,
      isWhole: true,
    },
    {
      store: 'weights',
      path: join(folder.path, node, 'weights'),
      has: (path) => path === 'weights.json',
      isFinal,
      isWhole: false,
    },
  ];
}

const logOf = (log = new MemoryLog(state)) => new WatchedLog(log, new Reached(store, 'ours'));
const workOf = () => new Work(state.clock, nodeLog);
/** As a node did that has been so far. */
const noteReached = (log: string, offset: number) =>
  new Reached(store, 'ours').note(() => ({ log, offset, chain: '' }), { log, offset, chain: '' });

const take = (node: string, isAnew = false, isFetched = false, log = new MemoryLog(state)) => {
  const files = new FolderFiles(foldersOf(node), join(folder.path, `${node}.scratch`));
  const own = { log: logOf(log), work: workOf(), store, node, files };
  return Standing.take({ ...own, life: new Life(), nodeLog }, { isAnew, isFetched, offset: 0 });
};

function write(node: string, name: string, text: string): void {
  const path = join(folder.path, node, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
}

function read(node: string, name: string): string | undefined {
  const path = join(folder.path, node, name);
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

/** A file that was put aside of node a; undefined: there is none. */
function aside(store: string, name: string): string | undefined {
  const folders = readdirSync(join(folder.path, 'a')).sort().reverse();
  const own = folders.find((one) => one.startsWith(`${store}.before-log-`));
  return own === undefined ? undefined : read('a', join(own, name));
}

const START = { offset: 0, chain: '' };
const append = (kind: string, body: object) =>
  state.append(
    entryBytes({ key: `${state.end}`, node: 'other', kind }, JSON.stringify(body), START),
  );

/** A snapshot of two files, by an entry of the log. */
async function snapshot(offset: number, text: string, erased: Manifest['erased'] = []) {
  const sha256 = createHash('sha256').update(text).digest('hex');
  const bytes = Buffer.byteLength(text);
  const files = ['changes/deep/state', 'weights/weights.json'].map((path) => {
    const [named = '', ...rest] = path.split('/');
    return { store: named, path: rest.join('/'), bytes, sha256 };
  });
  const { identity: log } = state;
  await store.put(fileName(log, sha256), Buffer.from(text));
  const name = manifestName({ ...startOf(log), offset, entry: digestOfBytes(Buffer.from(text)) });
  const manifest = { log, offset, chain: '', atMs: 1, files, erased };
  await store.put(name, Buffer.from(manifestText(manifest)));
  append(SNAPSHOT, { snapshot: name, offset });
  return { name, file: fileName(log, sha256) };
}

describe('the seat of a node at a log', () => {
  it('is that of a founder where nobody has appended anything: its state stays', async () => {
    write('a', 'changes/state', 'own');
    const seat = await take('a');
    expect(seat.isFounder).toBe(true);
    expect(seat.identity).toBe(state.identity);
    expect(seat.identity).not.toBe('');
    expect(read('a', 'changes/state')).toBe('own');
    expect(JSON.parse(read('a', `changes/${NOTES.standing}`) ?? '')).toEqual({
      log: seat.identity,
      isDifferent: false,
    });
  });

  it('is that of a founder for all who come before the first entry, of one log', async () => {
    const seats = await Promise.all(['a', 'b', 'c'].map((node) => take(node)));
    expect(seats.map(({ isFounder }) => isFounder)).toEqual([true, true, true]);
    expect(new Set(seats.map(({ identity }) => identity)).size).toBe(1);
    append(BEGINS, { seeds: {}, founder: '', snapshot: '' });
    expect((await take('d')).isFounder).toBe(false);
    // A founder whose entry came second is none when it is started again, and keeps its state.
    expect((await take('b')).isFounder).toBe(false);
  });

  it('keeps a state that follows the log', async () => {
    await take('a');
    append(BEGINS, { snapshot: '' });
    write('a', 'changes/state', 'own');
    const seat = await take('a');
    expect(seat.isFounder).toBe(false);
    expect(read('a', 'changes/state')).toBe('own');
    expect(told).toEqual([]);
  });

  it('puts aside what the log does not know, and says so', async () => {
    await take('founder');
    append(BEGINS, { snapshot: '' });
    write('a', 'changes/state', 'own');
    write('a', 'weights/weights.json', 'own too');
    write('a', 'weights/model.bin', 'of somebody else');
    await take('a');
    expect(read('a', 'changes/state')).toBeUndefined();
    expect(aside('changes', 'state')).toBe('own');
    expect(read('a', 'weights/weights.json')).toBeUndefined();
    expect(aside('weights', 'weights.json')).toBe('own too');
    expect(read('a', 'weights/model.bin')).toBe('of somebody else');
    expect(told).toEqual(['state put aside: it does not follow the log']);
  });

  it('is taken with the state of the newest snapshot that the log names', async () => {
    await take('founder');
    append(BEGINS, { snapshot: '' });
    await snapshot(1, 'old');
    await snapshot(2, 'new');
    write('a', 'changes/state', 'own');
    await take('a');
    expect(read('a', 'changes/deep/state')).toBe('new');
    expect(read('a', 'weights/weights.json')).toBe('new');
    expect(read('a', 'changes/state')).toBeUndefined();
    expect(aside('changes', 'state')).toBe('own');
    expect(JSON.parse(read('a', `changes/${NOTES.standing}`) ?? '')).toMatchObject({
      log: state.identity,
    });
  });

  it('is taken with the state of the first of several founders', async () => {
    await take('founder');
    const names: string[] = [];
    for (const text of ['first', 'second']) {
      names.push((await snapshot(0, text)).name);
      state.entries.pop();
    }
    for (const name of names) append(BEGINS, { snapshot: name });
    await take('a');
    expect(read('a', 'changes/deep/state')).toBe('first');
  });

  it('names the users whom the snapshot says are erased, until they are', async () => {
    await take('founder');
    append(BEGINS, { snapshot: '' });
    const erased = [{ userId: 'u', withBehaviours: true, withRecords: false, offset: 1, atMs: 7 }];
    await snapshot(1, 'state', erased);
    const seat = await take('a');
    expect(await seat.erasedBefore()).toEqual(erased);
    const again = await take('a');
    expect(await again.erasedBefore()).toEqual(erased);
    await again.haveErased();
    expect(await (await take('a')).erasedBefore()).toEqual([]);
  });

  it('is taken anew where the own state is too old, or was given up', async () => {
    await take('a');
    write('a', 'changes/state', 'own');
    append(BEGINS, { snapshot: '' });
    await snapshot(1, 'new');
    await take('a', true);
    expect(read('a', 'changes/deep/state')).toBe('new');
    write('a', 'changes/deep/state', 'damaged');
    const seat = await take('a');
    expect(read('a', 'changes/deep/state')).toBe('damaged');
    await seat.giveUp();
    await take('a');
    expect(read('a', 'changes/deep/state')).toBe('new');
    expect(aside('changes', 'deep/state')).toBe('damaged');
  });

  it('keeps what was put aside where the same start begins anew once more', async () => {
    await take('a');
    write('a', 'changes/state', 'own');
    append(BEGINS, { snapshot: '' });
    await snapshot(1, 'one');
    await take('a', true);
    await snapshot(2, 'two');
    await take('a', true, true);
    expect(read('a', 'changes/deep/state')).toBe('two');
    expect(aside('changes', 'state')).toBe('own');
  });

  it('is refused where the node follows another log, naming the choices', async () => {
    const { identity } = await take('a');
    state = new MemoryLogState();
    await expect(take('a')).rejects.toMatchObject({
      code: 'LOG_DIFFERENT',
      message: expect.stringContaining('got a log that nobody has begun'),
    });
    await take('b');
    const refused = take('a');
    await expect(refused).rejects.toMatchObject({ code: 'LOG_DIFFERENT' });
    await expect(refused).rejects.toThrow(
      `expected log ${identity}, which this node follows, got log ${state.identity}`,
    );
    await expect(refused).rejects.toThrow(`remove ${join(folder.path, 'a', 'changes')}`);
    await expect(refused).rejects.toThrow('npm run log -- continue --from NODE');
  });

  it('waits for a snapshot where entries are gone, and says that it does', async () => {
    await take('founder');
    for (let n = 0; n < 3; n += 1) append('changes', {});
    await new MemoryLog(state).trim(3);
    const taken = take('a');
    await until('it is asked for', () => state.positions.get('a')?.standing === 'wants-snapshot');
    await snapshot(3, 'new');
    expect((await taken).isFounder).toBe(false);
    expect(read('a', 'changes/deep/state')).toBe('new');
  });

  it('looks again where entries go while it reads them', async () => {
    await take('founder');
    for (let n = 0; n < 8; n += 1) append('changes', {});
    await snapshot(8, 'new');
    const log = new MemoryLog(state);
    const bounds = log.bounds.bind(log);
    log.bounds = async () => {
      const found = await bounds();
      await log.trim(Math.min(found.first + 1, 6));
      return found;
    };
    expect((await take('a', false, false, log)).isFounder).toBe(false);
    expect([state.first, read('a', 'changes/deep/state')]).toEqual([6, 'new']);
  });

  it('takes the snapshot before one of which a file is damaged or gone', async () => {
    await take('founder');
    append(BEGINS, { snapshot: '' });
    await snapshot(1, 'before');
    const { file } = await snapshot(2, 'damaged');
    store.contents.set(file, Buffer.from('other'));
    await take('a');
    expect(read('a', 'changes/deep/state')).toBe('before');
    store.contents.delete(file);
    await take('b');
    expect(read('b', 'changes/deep/state')).toBe('before');
  });

  it.each(['STORE_UNAVAILABLE', 'IO_FAILED'])(
    'keeps what was put aside where fetching fails half way with %s',
    async (code) => {
      await take('founder');
      append(BEGINS, { snapshot: '' });
      await snapshot(1, 'new');
      write('a', 'changes/state', 'own');
      write('a', 'weights/weights.json', 'own too');
      let fetches = 0;
      const getFile = store.getFile.bind(store);
      store.getFile = async (name, path) => {
        fetches += 1;
        if (fetches === 2) throw new TesseraError(code as 'IO_FAILED', 'once');
        return getFile(name, path);
      };
      const first = await take('a').catch(() => undefined);
      if (first === undefined) await take('a');
      expect(aside('changes', 'state')).toBe('own');
      expect(aside('weights', 'weights.json')).toBe('own too');
      expect(read('a', 'changes/deep/state')).toBe('new');
    },
  );

  it('refuses to begin a log where nodes have published more of one', async () => {
    await noteReached('lost', 16);
    await expect(take('a')).rejects.toMatchObject({
      code: 'LOG_DIFFERENT',
      message: expect.stringContaining('expected log lost with entries up to 16'),
    });
    expect(state.identity).toBe('');
  });

  it('refuses a log that is shorter than what nodes have published of it', async () => {
    await take('founder');
    append(BEGINS, { snapshot: '' });
    await noteReached(state.identity, 3);
    await expect(take('a')).rejects.toMatchObject({ code: 'LOG_DIFFERENT' });
  });

  it('goes on with the state of one node where a person says so, and waits for that', async () => {
    const { identity: first } = await take('b');
    for (const node of ['a', 'b']) {
      await take(node);
      write(node, 'changes/state', node);
    }
    append(BEGINS, { snapshot: '' });
    await new MemoryLog(state).beginAnew('log-2', { founder: 'b', continues: [first] });
    const other = take('a');
    const founder = await take('b');
    expect([founder.isFounder, founder.identity]).toEqual([true, 'log-2']);
    expect(read('b', 'changes/state')).toBe('b');
    const { name } = await snapshot(0, 'of b');
    state.cutBehind(0);
    append(BEGINS, { snapshot: name });
    expect((await other).isFounder).toBe(false);
    expect(read('a', 'changes/deep/state')).toBe('of b');
    // The log that goes on is as safe as the one before: an older copy of it is none.
    await noteReached('log-2', 5);
    for (const node of ['b', 'c']) {
      await expect(take(node)).rejects.toMatchObject({ code: 'LOG_DIFFERENT' });
    }
  });

  it('stays at its log where another one was begun anew, of which it knows nothing', async () => {
    await take('a');
    append(BEGINS, { snapshot: '' });
    await new MemoryLog(state).beginAnew('log-2', { founder: 'b', continues: ['another'] });
    await expect(take('a')).rejects.toMatchObject({ code: 'LOG_DIFFERENT' });
  });

  it('waits for a log that is away', async () => {
    state.away = true;
    const taken = take('a');
    await until('it waits', () => told.length > 0);
    expect(told).toEqual(['the start of this node waits: it is tried again']);
    state.away = false;
    expect((await taken).isFounder).toBe(true);
  });

  it('refuses a file that says nothing', async () => {
    write('a', `changes/${NOTES.standing}`, 'nothing');
    await expect(take('a')).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
  });
});

it('a process that begins no log waits until a node has begun it', async () => {
  const begun = untilBegun({ log: logOf(), work: workOf() });
  const { identity } = await take('a');
  expect(await begun).toBe(identity);
});
