import { positionOf } from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';
import { entryBytes } from '@tessera/log';
import {
  MemoryLog,
  MemoryLogState,
  ModelDisk,
  ModelNode,
  type ModelOptions,
  until,
} from '@tessera/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KEYS_KEPT } from './domain/key-window.js';

let state: MemoryLogState;
const open = new Set<ModelNode>();

beforeEach(() => {
  state = new MemoryLogState();
  state.identity = 'log-1';
});

afterEach(async () => {
  await Promise.all([...open].map(close));
});

async function started(options: ModelOptions = {}): Promise<ModelNode> {
  const node = await ModelNode.opened(state, options);
  open.add(node);
  await node.catchUp();
  await node.serve();
  return node;
}

async function close(node: ModelNode): Promise<void> {
  open.delete(node);
  await node.close();
}

const START = { offset: 0, chain: '' };
const bytesOf = (word: string, key = `key ${state.end + 1}`) =>
  entryBytes({ key, node: 'other', kind: 'add' }, JSON.stringify({ word }), START);
const put = (word: string, key?: string) => state.append(bytesOf(word, key));
const reached = ({ follower }: ModelNode, offset = state.end) =>
  until(`entry ${offset}`, () => follower.offset >= offset);
const isCurrent = ({ publication, follower, life }: ModelNode) =>
  life.state === 'serving' && publication.lease.holds(follower.offset);
const stateOf = ({ follower }: ModelNode) => follower.condition();

async function faultOf(node: ModelNode): Promise<TesseraError> {
  open.add(node);
  return node.catchUp().then(
    () => expect.unreachable('it caught up'),
    (thrown: unknown) => thrown as TesseraError,
  );
}

describe('a follower', () => {
  it('applies entries in the order of the log, those from before it began first', async () => {
    for (const word of ['a', 'b', 'c']) put(word);
    const node = await started();
    expect(node.disk.words).toEqual(['a', 'b', 'c']);
    for (const word of ['d', 'e']) put(word);
    await reached(node);
    expect(node.disk.words).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(positionOf(node.disk.mark)).toMatchObject({ log: 'log-1', offset: 5 });
    expect(stateOf(node)).toEqual({ state: 'ok', reason: '' });
  });

  it('goes on from its position when it is started again', async () => {
    put('a');
    const first = await started();
    await close(first);
    put('b');
    const again = await started({ disk: first.disk });
    expect(again.disk.words).toEqual(['a', 'b']);
    expect(again.disk.recalled).toEqual(['a']);
  });

  it('applies an entry of one key once, also where it was started again between', async () => {
    put('a', 'same');
    const running = await started();
    const restarted = await started({ node: 'b' });
    put('b', 'same');
    await reached(restarted);
    await close(restarted);
    const again = await started({ node: 'b', disk: restarted.disk });
    put('c', 'same');
    put('d');
    await Promise.all([reached(running), reached(again)]);
    for (const { disk } of [running, again]) expect(disk.words).toEqual(['a', 'd']);
    expect(again.publication.stateDigest).toBe(running.publication.stateDigest);
  });

  it('counts the same entries of a repeated key whenever it was started', async () => {
    const fill = (upTo: number) => {
      while (state.end < upTo) put(`${state.end + 1}`);
    };
    put('first', 'same');
    fill(KEYS_KEPT - 96);
    put('second', 'same');
    fill(KEYS_KEPT + 1);
    const running = await started();
    const before = await started({ node: 'b' });
    await close(before);
    // The first of the key is behind the window of a process that begins now, the second is not.
    const again = await started({ node: 'b', disk: before.disk });
    put('third', 'same');
    fill(state.end + KEYS_KEPT);
    put('fourth', 'same');
    await Promise.all([reached(running), reached(again)]);
    for (const { disk } of [running, again]) {
      const named = disk.words.filter((word) => /[a-z]/.test(word));
      expect(named).toEqual(['first', 'fourth']);
    }
    expect(again.publication.stateDigest).toBe(running.publication.stateDigest);
  });

  it('refuses the same entries as every other one, and goes on', async () => {
    const nodes = [await started(), await started({ node: 'b' })];
    for (const word of ['a', 'bad', 'b']) put(word);
    state.append(Buffer.from('no entry at all'));
    put('c');
    for (const node of nodes) {
      await reached(node);
      expect(node.disk.words).toEqual(['a', 'b', 'c']);
      expect(stateOf(node).state).toBe('ok');
    }
    const [one, other] = nodes.map(({ disk }) => disk.mark);
    expect(one).toBe(other);
  });

  it('tells who waits for a key what its entry came to', async () => {
    const node = await started();
    const { signal } = new AbortController();
    const outcomes = ['one', 'two'].map((key) => node.follower.outcomeOf(key, signal));
    put('a', 'one');
    put('bad', 'two');
    expect(await outcomes[0]).toEqual({ offset: 1, value: 1 });
    expect(await outcomes[1]).toMatchObject({ offset: 2, error: { code: 'REQUEST_INVALID' } });
    const repeated = node.follower.outcomeOf('one', signal);
    put('b', 'one');
    expect(await repeated).toEqual({ offset: 1, value: 1, isRepeat: true });
  });

  it.each([
    ['a newer format', () => Buffer.from('{"format":3}\nwhatever'), 'format 2 at most, got 3'],
    [
      'a kind that it does not know',
      () => entryBytes({ key: 'k', node: 'n', kind: 'dance' }, '{}', START),
      "got 'dance', which a newer release wrote",
    ],
  ])('stops before an entry of %s, and serves on', async (_, bytes, reason) => {
    put('a');
    const node = await started();
    state.append(bytes());
    put('b');
    await until('the fault', () => stateOf(node).state !== 'ok');
    expect(node.disk.words).toEqual(['a']);
    expect(positionOf(node.disk.mark)?.offset).toBe(1);
    expect(stateOf(node)).toEqual({
      state: 'degraded',
      reason: expect.stringContaining('at entry 1 of 3: entry 2: '),
    });
    expect(stateOf(node).reason).toContain(reason);
    expect(isCurrent(node)).toBe(false);
  });

  it('tries an entry again while what keeps it from being applied may pass', async () => {
    const node = await started();
    node.disk.failing = new TesseraError('STORE_FULL', 'the disk is full');
    put('a');
    await until('it is stuck', () => stateOf(node).state === 'degraded');
    expect(stateOf(node).reason).toBe('at entry 0 of 1: entry 1: the disk is full');
    node.disk.failing = undefined;
    put('b');
    await reached(node);
    expect(node.disk.words).toEqual(['a', 'b']);
    expect(stateOf(node).state).toBe('ok');
  });

  it('says how far it is behind, and serves on', async () => {
    const disk = new ModelDisk();
    const node = await started({ disk, leaseMs: 600 });
    node.disk.failing = new TesseraError('IO_FAILED', 'no disk');
    put('a');
    await until('it is stuck', () => stateOf(node).state === 'degraded');
    // Nothing is read while it is stuck, and it says all the same how far the log is.
    for (let n = 0; n < 2000; n += 1) put(String(n));
    await until('it knows the end', () => stateOf(node).reason.includes('of 2001'));
    expect(stateOf(node)).toEqual({
      state: 'degraded',
      reason: 'at entry 0 of 2001: entry 1: no disk',
    });
    disk.failing = undefined;
    await reached(node);
    await until('it is well', () => stateOf(node).state === 'ok');
  });

  it('waits for a log that is away, and goes on where it was', async () => {
    put('a');
    const node = await started();
    state.away = true;
    state.wake();
    await until('it is away', () => stateOf(node).state === 'degraded');
    expect(stateOf(node).reason).toBe('at entry 1: memory: it is away');
    put('b');
    state.away = false;
    await reached(node);
    await until('it is back', () => stateOf(node).state === 'ok');
    expect(node.disk.words).toEqual(['a', 'b']);
  });
});

describe('a log that is not the one that was followed', () => {
  async function followed(...words: readonly string[]): Promise<ModelDisk> {
    for (const word of words) put(word);
    const node = await started();
    await close(node);
    return node.disk;
  }

  it('is different where it has another identity', async () => {
    const disk = await followed('a');
    state.identity = 'log-2';
    const fault = await faultOf(await ModelNode.opened(state, { disk }));
    expect(fault).toMatchObject({ code: 'LOG_DIFFERENT' });
    expect(fault.message).toContain('expected log log-1, got log-2');
  });

  it('is different where it ends before what was applied: an older copy of it', async () => {
    const disk = await followed('a', 'b', 'c');
    state.cutBehind(state.end - 1);
    const fault = await faultOf(await ModelNode.opened(state, { disk }));
    expect(fault).toMatchObject({ code: 'LOG_DIFFERENT' });
    expect(fault.message).toContain('an older copy of the log');
  });

  it('is different where a copy of it went on with other entries', async () => {
    const disk = await followed('a', 'b');
    state.cutBehind(state.end - 1);
    put('another');
    put('more');
    const fault = await faultOf(await ModelNode.opened(state, { disk }));
    expect(fault).toMatchObject({ code: 'LOG_DIFFERENT' });
    expect(fault.message).toContain(
      'expected entries up to 2, which are applied here, got another entry',
    );
  });

  it('is trimmed where entries that come next are gone', async () => {
    const disk = await followed('a');
    for (const word of ['b', 'c']) put(word);
    await new MemoryLog(state).trim(3);
    const node = await ModelNode.opened(state, { disk });
    const fault = await faultOf(node);
    expect(fault).toMatchObject({ code: 'LOG_TRIMMED' });
    expect(fault.message).toContain('expected entries from 2 on, got from 3 on');
    expect(stateOf(node).state).toBe('down');
  });

  it('goes on where the entries that are gone were applied', async () => {
    const disk = await followed('a', 'b');
    await new MemoryLog(state).trim(3);
    put('c');
    const node = await started({ disk });
    expect(node.disk.words).toEqual(['a', 'b', 'c']);
  });
});

describe('the digest of a state', () => {
  it('is that of every node, or the node takes no requests', async () => {
    const [one, other] = [await started(), await started({ node: 'b' })];
    put('a');
    await Promise.all([reached(one), reached(other)]);
    other.disk.words.push('of nobody');
    let unfit = 0;
    for (const node of [one, other]) {
      node.life.onFault(() => {
        unfit += 1;
      });
    }
    put('b');
    await until('it is found', () => unfit > 0);
    await until('who said it second is down', () =>
      [one, other].some((node) => stateOf(node).state === 'down'),
    );
    const found = [one, other].filter((node) => stateOf(node).state === 'down');
    expect(found).toHaveLength(1);
    expect(stateOf(found[0] as ModelNode).reason).toContain(
      'state behind entry 2: expected digest',
    );
  });

  it('counts who was erased', async () => {
    const node = await started();
    const before = node.publication.stateDigest;
    expect(await node.erase('u')).toEqual({ known: true, recalls: 1 });
    await until('the word', () => node.publication.stateDigest !== before);
    expect(positionOf(node.disk.mark)?.erased).not.toMatch(/^0*$/);
  });
});

describe('the lease of a follower', () => {
  it('holds while the log has its word', async () => {
    const node = await started();
    expect(isCurrent(node)).toBe(true);
    await close(node);
    expect(isCurrent(node)).toBe(false);
    expect(state.positions.size).toBe(0);
  });

  it('does not hold before it serves', async () => {
    const node = await ModelNode.opened(state);
    open.add(node);
    await node.catchUp();
    expect(isCurrent(node)).toBe(false);
    expect(state.positions.size).toBe(0);
  });

  it('lapses while the log is away, and counts again when the node has caught up', async () => {
    const node = await started({ leaseMs: 600 });
    expect(isCurrent(node)).toBe(true);
    node.log.away = true;
    state.wake();
    await until('it has lapsed', () => !isCurrent(node));
    // Acknowledged without this node.
    node.disk.failing = new TesseraError('STORE_FULL', 'the disk is full');
    put('a');
    node.log.away = false;
    await until('it is heard again', () => (state.positions.get('a')?.saidMs ?? 0) > 0);
    const said = state.positions.get('a')?.saidMs ?? 0;
    await until('it is heard', () => (state.positions.get('a')?.saidMs ?? 0) > said);
    expect(isCurrent(node)).toBe(false);
    node.disk.failing = undefined;
    await until('it is current', () => isCurrent(node));
    expect(node.disk.words).toEqual(['a']);
  });

  it('has ended before an entry that it cannot apply', async () => {
    const node = await started({ leaseMs: 600 });
    state.append(Buffer.from('{"format":3}\n'));
    await until('the fault', () => stateOf(node).state !== 'ok');
    expect(isCurrent(node)).toBe(false);
    const stands = () => state.positions.get('a')?.standing;
    await until('others count on it no more', () => stands() === 'stopped');
  });
});
