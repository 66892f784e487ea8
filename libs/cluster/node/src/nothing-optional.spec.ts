/** Optional stores hold nothing, damaged entries stop nobody: over nodes of a model. */

import { TesseraError } from '@tessera/errors';
import { entryBytes, LEASE_MS } from '@tessera/log';
import {
  MemoryEntryStore,
  MemoryLog,
  MemoryLogState,
  ModelDisk,
  ModelNode,
  type ModelOptions,
  until,
} from '@tessera/testing';
import { PROCESS_CLOCK } from '@tessera/turns';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

let state: MemoryLogState;
const open: ModelNode[] = [];

beforeEach(() => {
  state = new MemoryLogState();
  state.identity = 'log-1';
});

afterEach(async () => {
  state.away = false;
  for (const node of open.splice(0)) await node.close();
});

async function started(options: ModelOptions = {}): Promise<ModelNode> {
  const node = await ModelNode.serving(state, options);
  open.push(node);
  return node;
}

const START = { offset: 0, chain: '' };
const add = (word: string) => ({ kind: 'add', body: { word } });
const reached = (...nodes: readonly ModelNode[]) =>
  until('all are at the end', () => nodes.every(({ follower }) => follower.offset >= state.end));

describe('an erasure while a store is away', () => {
  it.each(['behaviours', 'records', 'pool'])('holds no change, with %s away', async (store) => {
    const [one, other] = [await started(), await started({ node: 'b' })];
    other.disk.away.add(store);
    const erased = one.erase('u');
    await until('it is in the list', () => other.erasures.isPending('u'));
    const { offset } = await one.submissions.submit(add('pause'));
    expect(offset).toBe(2);
    for (const { disk } of [one, other]) expect(disk.words).toEqual(['pause']);
    expect(other.follower.condition().state).toBe('ok');
    await until('it was tried', () => other.erasures.condition().state === 'degraded');
    expect(other.erasures.condition()).toEqual({
      state: 'degraded',
      reason: expect.stringMatching(`^1 to be done, the oldest for \\d+ s: ${store}: it is away$`),
    });
    await until('it is said', () => state.positions.get('b')?.offset === 2);
    expect(state.positions.get('b')).toMatchObject({ erased: 2, open: [1] });
    other.disk.away.clear();
    expect(await erased).toEqual({ known: true, recalls: 1 });
    expect(other.erasures.isPending('u')).toBe(false);
    expect(other.disk.erased).toMatchObject({ [store]: ['u'] });
  });

  it('does again only what is left of it, over attempts and processes', async () => {
    const disk = new ModelDisk();
    const node = await started({ disk });
    disk.away.add('pool');
    const erased = node.erase('u').catch(() => undefined);
    const tries = () => node.erasures.condition().state === 'degraded';
    await until('it was tried', tries);
    await node.erasures.tried(10_000);
    open.splice(open.indexOf(node), 1);
    await node.close();
    await erased;
    const again = await started({ disk });
    await again.erasures.tried(10_000);
    disk.away.clear();
    await until('it is done', () => !again.erasures.isPending('u'));
    expect(disk.erased).toMatchObject({ behaviours: ['u'], records: ['u'], pool: ['u'] });
  });

  it('outlives the process, and users are not read until it is done', async () => {
    const disk = new ModelDisk();
    const first = await started({ disk });
    disk.away.add('pool');
    const erased = first.erase('u').catch(() => undefined);
    await until('it is in the list', () => first.erasures.isPending('u'));
    await until('it waits', () => first.erasures.condition().state === 'degraded');
    open.splice(open.indexOf(first), 1);
    await first.close();
    await erased;
    const again = await started({ disk });
    expect(again.erasures.isPending('u')).toBe(true);
    expect(again.erasures.upTo(again.follower.offset)).toBe(0);
    disk.away.clear();
    await until('it is done', () => !again.erasures.isPending('u'));
    await until('it is said', () => state.positions.get('a')?.open.length === 0);
  });

  it('names the nodes that have yet to do it at the deadline', async () => {
    const [one, other] = [await started(), await started({ node: 'b' })];
    other.disk.away.add('records');
    const given = new AbortController();
    const erased = one.erase('u', given.signal);
    erased.catch(() => undefined);
    await until('it is done here', () => one.disk.erased.pool?.length === 1);
    await until('it is open there', () => other.erasures.isPending('u'));
    given.abort();
    await expect(erased).rejects.toMatchObject({
      code: 'DEADLINE_EXCEEDED',
      message: expect.stringContaining('not yet done'),
    });
    one.disk.away.add('records');
    const again = new AbortController();
    const late = one.erase('v', again.signal);
    late.catch(() => undefined);
    await until('it was tried', () => one.erasures.condition().state === 'degraded');
    again.abort();
    await expect(late).rejects.toMatchObject({
      code: 'DEADLINE_EXCEEDED',
      message: expect.stringContaining('records: it is away'),
    });
    for (const { disk } of [one, other]) disk.away.clear();
  });
});

describe('an entry that cannot be applied', () => {
  const head = (key: string) => ({ key, node: 'x', kind: 'add' });

  it('is refused by every node where its body is no JSON', async () => {
    const nodes = [await started(), await started({ node: 'b' })];
    state.append(entryBytes(head('cut'), '{"word":', START));
    state.append(entryBytes(head('behind'), '{"word":"behind"}', START));
    await reached(...nodes);
    const marks = nodes.map(({ disk }) => disk.mark);
    for (const { disk } of nodes) expect(disk.words).toEqual(['behind']);
    expect(new Set(marks).size).toBe(1);
  });

  it('stops changes and not recalls where its body is gone, and names the remedy', async () => {
    const nodes = [await started(), await started({ node: 'b' })];
    state.append(entryBytes(head('lost'), '', START, 'entries/gone'));
    await until('both wait', () => nodes.every(({ follower }) => follower.held !== undefined));
    for (const [at, node] of nodes.entries()) {
      expect(node.life.state).toBe('serving');
      const { state: reading, reason } = node.follower.condition();
      expect(reading).toBe('degraded');
      expect(reason).toContain('npm run log -- refuse 1');
      const stands = () => state.positions.get('ab'[at] as string)?.standing;
      await until('it asks', () => stands() === 'wants-snapshot');
      await expect(node.submissions.submit(add('x'))).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
        message: expect.stringContaining('npm run log -- refuse 1'),
      });
    }
    const refusal = { key: 'r', node: 'x', kind: 'refuse' };
    state.append(entryBytes(refusal, JSON.stringify({ offset: 1 }), START));
    await reached(...nodes);
    const [one] = nodes as [ModelNode];
    await until('it is counted again', () => one.publication.lease.holds(one.follower.offset));
    await one.submissions.submit(add('y'));
    for (const { disk } of nodes) expect(disk.words).toEqual(['y']);
  });

  it.each([
    ['a kind', () => entryBytes({ key: 'k', node: 'n', kind: 'dance' }, '{}', START)],
    ['a format', () => Buffer.from('{"format":3}\nwhatever')],
  ])('of %s of a newer release lets a node start, and is refused', async (_, bytes) => {
    state.append(entryBytes(head('a'), '{"word":"a"}', START));
    state.append(bytes());
    state.append(entryBytes(head('b'), '{"word":"b"}', START));
    const node = await started();
    expect([node.life.state, node.disk.words]).toEqual(['serving', ['a']]);
    const refusal = { key: 'r', node: 'x', kind: 'refuse' };
    state.append(entryBytes(refusal, JSON.stringify({ offset: 2 }), START));
    await reached(node);
    expect(node.disk.words).toEqual(['a', 'b']);
    await until('it is well', () => node.follower.condition().state === 'ok');
  });

  it('is refused by every node where a person says so, whose body is lost', async () => {
    const nodes = [await started(), await started({ node: 'b' })];
    state.away = true;
    state.append(entryBytes(head('lost'), '', START, 'entries/gone'));
    const refuse = { key: 'r', node: 'x', kind: 'refuse' };
    state.append(entryBytes(refuse, JSON.stringify({ offset: 1 }), START));
    state.append(entryBytes(head('behind'), '{"word":"behind"}', START));
    state.away = false;
    await reached(...nodes);
    for (const { disk, life } of nodes) {
      expect([disk.words, life.state]).toEqual([['behind'], 'serving']);
    }
  });

  it('holds nobody where one disk alone is full, and the node goes on once it is not', async () => {
    const [one, full] = [await started(), await started({ node: 'b' })];
    full.disk.failing = new TesseraError('STORE_FULL', 'no space left');
    const begunMs = performance.now();
    for (const word of ['x', 'y']) await one.submissions.submit(add(word));
    expect(performance.now() - begunMs).toBeLessThan(20_000);
    expect(state.positions.get('b')?.standing).toBe('stopped');
    await expect(full.submissions.submit(add('z'))).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('no space left'),
    });
    full.disk.failing = undefined;
    await reached(one, full);
    const holds = () => full.publication.lease.holds(full.follower.offset);
    await until('it is counted again', holds);
    await full.submissions.submit(add('z'));
    for (const { disk } of [one, full]) expect(disk.words).toEqual(['x', 'y', 'z']);
  });

  it('is waited for by all where no disk takes it', async () => {
    const nodes = [await started(), await started({ node: 'b' })];
    const [one] = nodes as [ModelNode];
    for (const { disk } of nodes) disk.failing = new TesseraError('STORE_FULL', 'no space left');
    // A process that keeps a part of the state passes over it.
    const part = { node: 'part', process: 'p', log: 'log-1', chain: '', digest: '', erased: 0 };
    const open: number[] = [];
    const word = { ...part, offset: 1, standing: 'serving', open, canSnapshot: false } as const;
    const beside = new MemoryLog(state);
    const done = one.submissions.submit(add('x'));
    await until('it is tried', () => one.follower.condition().state === 'degraded');
    for (let beat = 0; beat < 4; beat += 1) {
      await beside.say(word);
      await PROCESS_CLOCK.pause(LEASE_MS / 3);
    }
    for (const { follower } of nodes) expect(follower.held).toBeUndefined();
    for (const { disk } of nodes) disk.failing = undefined;
    await done;
    for (const { disk } of nodes) expect(disk.words).toEqual(['x']);
  });

  it('waits for a store that is away, and goes on', async () => {
    const store = new MemoryEntryStore(new Map([['entries/one', Buffer.from('{"word":"a"}')]]));
    const node = await started({ store });
    store.away = true;
    state.append(entryBytes(head('k'), '', START, 'entries/one'));
    await until('it waits', () => node.follower.condition().state === 'degraded');
    store.away = false;
    await reached(node);
    expect(node.disk.words).toEqual(['a']);
  });
});

describe('a log that went back', () => {
  it('takes no change of a node that has applied more, and names what was lost', async () => {
    const node = await started();
    for (const word of ['a', 'b', 'c']) await node.submissions.submit(add(word), { key: word });
    state.cutBehind(1);
    await expect(node.submissions.submit(add('d'))).rejects.toMatchObject({
      code: 'LOG_DIFFERENT',
    });
    await until('it has stopped', () => node.life.state === 'stopped');
    expect(node.life.fault?.message).toContain('lost: 2 (add b), 3 (add c)');
    expect(state.end).toBe(1);
  });

  it('takes no change behind other entries of the same offsets', async () => {
    const node = await started();
    for (const word of ['a', 'b']) await node.submissions.submit(add(word));
    node.log.away = true;
    state.cutBehind(1);
    state.append(entryBytes({ key: 'o', node: 'x', kind: 'add' }, '{"word":"other"}', START));
    node.log.away = false;
    await expect(node.submissions.submit(add('c'))).rejects.toMatchObject({
      code: 'LOG_DIFFERENT',
    });
  });

  it('has entries of another history refused by all nodes', async () => {
    const nodes = [await started(), await started({ node: 'b' })];
    const forged = [
      { offset: 9, chain: 'of a longer log' },
      { offset: 1, chain: 'of another log' },
    ];
    await nodes[0]?.submissions.submit(add('a'));
    for (const [at, after] of forged.entries()) {
      const head = { key: `forged ${at}`, node: 'x', kind: 'add' };
      state.append(entryBytes(head, '{"word":"forged"}', after));
    }
    await nodes[0]?.submissions.submit(add('b'));
    for (const { disk } of nodes) expect(disk.words).toEqual(['a', 'b']);
  });
});

describe('a node that finds out early', () => {
  it('that its state is another one hears of it, whenever it listens', async () => {
    state.append(entryBytes({ key: 'k', node: 'x', kind: 'add' }, '{"word":"a"}', START));
    state.digests.set(1, 'of another state');
    const node = await ModelNode.opened(state);
    open.push(node);
    await expect(node.catchUp()).rejects.toMatchObject({ code: 'STATE_DIFFERENT' });
    expect(node.life.state).toBe('unfit');
    const heard: string[] = [];
    node.life.onFault(({ code }) => heard.push(code));
    expect(heard).toEqual(['STATE_DIFFERENT']);
    await expect(node.serve()).rejects.toMatchObject({ code: 'STATE_DIFFERENT' });
  });

  it('that another process has its name does not start', async () => {
    await started({ node: 'same', leaseMs: 60_000 });
    const second = await ModelNode.opened(state, { node: 'same' });
    open.push(second);
    await second.catchUp();
    await expect(second.serve()).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      field: 'node.name',
    });
  });
});

it('a fault of a part is tried again, and holds what is behind it', async () => {
  const node = await started();
  node.disk.failing = new TesseraError('STORE_FULL', 'the disk is full');
  const waits = node.submissions.submit(add('a'));
  await until('it is stuck', () => node.follower.condition().state === 'degraded');
  node.disk.failing = undefined;
  expect(await waits).toMatchObject({ offset: 1 });
});
