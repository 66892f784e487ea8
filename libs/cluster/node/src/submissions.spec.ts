import { setImmediate } from 'node:timers/promises';
import { TesseraError } from '@tessera/errors';
import { ENTRY_BYTES_MAX, KEY_LENGTH_MAX, readEntry } from '@tessera/log';
import {
  MemoryEntryStore,
  MemoryLogState,
  ModelNode,
  type ModelOptions,
  until,
} from '@tessera/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

let state: MemoryLogState;
const open: ModelNode[] = [];

beforeEach(() => {
  state = new MemoryLogState();
});

afterEach(async () => {
  state.away = false;
  for (const node of open.splice(0)) {
    node.disk.failing = undefined;
    await node.close();
  }
});

async function started(options: ModelOptions = {}): Promise<ModelNode> {
  const node = await ModelNode.serving(state, options);
  open.push(node);
  return node;
}

const isCurrent = ({ publication, follower }: ModelNode) =>
  publication.lease.holds(follower.offset);
const add = (word: string) => ({ kind: 'add', body: { word } });
const STUCK = new TesseraError('STORE_FULL', 'the disk is full');

/** True if it has settled after every microtask and a round of the log. */
function settling(promise: Promise<unknown>) {
  const seen = { isSettled: false };
  const settle = () => {
    seen.isSettled = true;
  };
  promise.then(settle, settle);
  return seen;
}

describe('a submission', () => {
  it('resolves with what its entry came to here', async () => {
    const node = await started();
    expect(await node.submissions.submit(add('a'))).toEqual({
      offset: 1,
      value: 1,
      isRepeat: false,
    });
    expect(node.disk.words).toEqual(['a']);
  });

  it('rejects as its entry does, and says where that is', async () => {
    const node = await started();
    const offsets: number[] = [];
    const onEntry = (offset: number) => offsets.push(offset);
    const refused = node.submissions.submit(add('bad'), { onEntry });
    await expect(refused).rejects.toMatchObject({ code: 'REQUEST_INVALID' });
    expect(offsets).toEqual([1]);
    await node.submissions.submit(add('a'), { onEntry });
    expect(offsets).toEqual([1, 2]);
  });

  it('counts once under its key, and says so', async () => {
    const nodes = [await started(), await started({ node: 'b' })];
    const [one, other] = nodes as [ModelNode, ModelNode];
    const first = await one.submissions.submit(add('a'), { key: 'same' });
    expect(first).toEqual({ offset: 1, value: 1, isRepeat: false });
    const again = await other.submissions.submit(add('a'), { key: 'same' });
    expect(again).toEqual({ offset: 1, value: 1, isRepeat: true });
    const refused = () => one.submissions.submit(add('bad'), { key: 'wrong' });
    for (let time = 0; time < 2; time += 1) {
      await expect(refused()).rejects.toMatchObject({ code: 'REQUEST_INVALID' });
    }
    await until('all', () => nodes.every(({ follower }) => follower.offset === 4));
    for (const { disk } of nodes) expect(disk.words).toEqual(['a']);
  });

  it('leaves no rejection behind where its entry is applied before its append fails', async () => {
    const node = await started();
    const left: unknown[] = [];
    const note = (reason: unknown) => left.push(reason);
    process.on('unhandledRejection', note);
    node.watched.append = async () => {
      await setImmediate();
      throw STUCK;
    };
    node.follower.outcomeOf = async () => ({ offset: 0, value: 1 });
    expect(await node.submissions.submit(add('a'))).toMatchObject({ value: 1, isRepeat: false });
    await setImmediate();
    await setImmediate();
    process.off('unhandledRejection', note);
    expect(left).toEqual([]);
  });

  it('takes keys up to a length', async () => {
    const node = await started();
    const refused = node.submissions.submit(add('a'), { key: 'k'.repeat(KEY_LENGTH_MAX + 1) });
    await expect(refused).rejects.toMatchObject({
      code: 'REQUEST_INVALID',
      message: expect.stringContaining('idempotencyKey: expected at most 128 characters, got 129'),
    });
    await node.submissions.submit(add('a'), { key: 'k'.repeat(KEY_LENGTH_MAX) });
    expect(node.disk.words).toEqual(['a']);
  });

  it('puts what is too large for an entry into the store, where others find it', async () => {
    const store = new MemoryEntryStore();
    const node = await started({ store });
    const other = await started({ node: 'b', store: new MemoryEntryStore(store.contents) });
    const word = 'x'.repeat(ENTRY_BYTES_MAX);
    await node.submissions.submit(add(word));
    const [entry] = state.entries;
    const { stored, text } = readEntry(entry?.bytes ?? new Uint8Array());
    const bodies = [...store.contents.keys()].filter((name) => name.startsWith('entries/'));
    expect([text, bodies]).toEqual(['', [stored]]);
    expect(entry?.bytes.length).toBeLessThan(1000);
    for (const { disk } of [node, other]) expect(disk.words).toEqual([word]);
    store.away = true;
    const away = node.submissions.submit(add(`${word}y`));
    await expect(away).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(state.entries).toHaveLength(1);
  });

  it('tries again while the log is away', async () => {
    const node = await started();
    state.away = true;
    const submitted = node.submissions.submit(add('a'));
    await until('it is away', () => node.follower.condition().state === 'degraded');
    state.away = false;
    expect(await submitted).toMatchObject({ offset: 1, value: 1 });
  });

  it('has a deadline, and may be in the log behind it', async () => {
    const node = await started();
    state.away = true;
    const ended = new AbortController();
    const away = node.submissions.submit(add('a'), { signal: ended.signal });
    await until('it is away', () => node.follower.condition().state === 'degraded');
    ended.abort();
    await expect(away).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    state.away = false;
    await until('it is back', () => node.follower.condition().state === 'ok');
    node.disk.failing = STUCK;
    const stuck = node.submissions.submit(add('b'), { signal: AbortSignal.timeout(50) });
    await expect(stuck).rejects.toMatchObject({
      code: 'DEADLINE_EXCEEDED',
      message: 'add: not applied within the deadline; it may be in the log',
    });
    node.disk.failing = undefined;
    await until('it is applied', () => node.disk.words.includes('b'));
  });
});

describe('what a submission waits for', () => {
  it('is the log alone', async () => {
    const node = await started();
    node.disk.failing = STUCK;
    const appended = await node.submissions.submit(add('a'), { waitFor: 'appended' });
    expect(appended).toEqual({ offset: 1, value: undefined, isRepeat: false });
    expect(node.disk.words).toEqual([]);
  });

  it('is this node', async () => {
    const [node, other] = [await started(), await started({ node: 'b' })];
    other.disk.failing = STUCK;
    const here = await node.submissions.submit(add('a'), { waitFor: 'applied-here' });
    expect(here).toMatchObject({ offset: 1, value: 1 });
    expect(other.disk.words).toEqual([]);
  });

  it('is every node that serves, unless the caller says else', async () => {
    const [node, other] = [await started(), await started({ node: 'b' })];
    other.disk.failing = STUCK;
    const everywhere = node.submissions.submit(add('a'));
    const named = node.submissions.submit(add('b'), { waitFor: 'applied-everywhere' });
    const seen = [settling(everywhere), settling(named)];
    await until('it is applied here', () => node.disk.words.length === 2);
    await node.submissions.submit(add('c'), { waitFor: 'applied-here' });
    expect(seen.map(({ isSettled }) => isSettled)).toEqual([false, false]);
    other.disk.failing = undefined;
    expect(await everywhere).toMatchObject({ offset: 1 });
    expect(await named).toMatchObject({ offset: 2 });
    expect(other.disk.words.slice(0, 2)).toEqual(['a', 'b']);
  });

  it('names the nodes that are behind at its deadline', async () => {
    const [node, other] = [await started(), await started({ node: 'b' })];
    other.disk.failing = STUCK;
    const late = node.submissions.submit(add('a'), { signal: AbortSignal.timeout(100) });
    await expect(late).rejects.toMatchObject({
      code: 'DEADLINE_EXCEEDED',
      message: 'entry 1 is in the log, and not yet applied by b',
    });
    expect(node.disk.words).toEqual(['a']);
  });

  it('is no node that has been silent for a lease, nor one that has left', async () => {
    const leaseMs = 600;
    const node = await started({ leaseMs });
    const other = await started({ node: 'b', leaseMs });
    const left = await started({ node: 'c', leaseMs });
    await left.close();
    other.log.away = true;
    const everywhere = node.submissions.submit(add('a'));
    const seen = settling(everywhere);
    await until('it is applied here', () => node.disk.words.length === 1);
    expect(seen.isSettled || isCurrent(other)).not.toBe(seen.isSettled);
    await everywhere;
    // A node that others do not wait for must not trust its data.
    expect(isCurrent(other)).toBe(false);
    expect(other.disk.words).toEqual([]);
  });
});
