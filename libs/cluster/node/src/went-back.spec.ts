/** A log that went back, calls that were given up, and stores that hold nobody else. */

import type { WaitFor } from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';
import { entryBytes } from '@tessera/log';
import {
  MemoryEntryStore,
  MemoryLogState,
  ModelDisk,
  ModelNode,
  type ModelOptions,
  SimulatedClock,
} from '@tessera/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Reached } from './reached.js';

let clock: SimulatedClock;
let state: MemoryLogState;
let store: MemoryEntryStore;
const open: ModelNode[] = [];

beforeEach(() => {
  clock = new SimulatedClock();
  state = new MemoryLogState(clock);
  state.identity = 'log-1';
  store = new MemoryEntryStore();
});

afterEach(async () => {
  for (const node of open.splice(0)) {
    node.disk.hanging.clear();
    node.disk.release();
    await clock.until(node.close());
  }
});

async function started(node: string, options: ModelOptions = {}): Promise<ModelNode> {
  const shared = {
    store: new MemoryEntryStore(store.contents),
    clock: clock.ofNode(),
    leaseMs: 3000,
  };
  const one = await clock.until(ModelNode.serving(state, Object.assign(shared, options, { node })));
  open.push(one);
  return one;
}

const entryOf = (word: string) =>
  entryBytes({ key: word, node: 'x', kind: 'add' }, JSON.stringify({ word }), {
    offset: 0,
    chain: '',
  });
const add = (word: string) => ({ kind: 'add', body: { word } });
const codeOf = (act: Promise<unknown>) =>
  act.then(
    () => 'done',
    ({ code }: TesseraError) => code,
  );
const submit = (node: ModelNode, word: string, signal?: AbortSignal) =>
  clock.until(codeOf(node.submissions.submit(add(word), { signal })));
const clockOf = ({ work }: ModelNode) => work.clock as ReturnType<SimulatedClock['ofNode']>;

describe('a log that went back while a node hung', () => {
  it.each(['live', 'are gone'])('is no log for it, whether the others %s', async (others) => {
    const [one, late] = [await started('a'), await started('b')];
    expect(await submit(one, 'seen by both')).toBe('done');
    clockOf(late).hang();
    await clock.pass(4000);
    expect(await submit(one, 'acknowledged')).toBe('done');
    expect(late.disk.words).toEqual(['seen by both']);
    state.cutBehind(1);
    if (others === 'are gone') {
      open.splice(open.indexOf(one), 1);
      await clock.until(one.close());
      state.positions.clear();
    }
    clockOf(late).goOn();
    expect(await submit(late, 'over what was lost')).not.toBe('done');
    await clock.pass(6000);
    expect(late.life.fault).toMatchObject({ code: 'LOG_DIFFERENT' });
    // It has less than was acknowledged: it serves nobody.
    expect(late.follower.condition().state).toBe('down');
    expect([state.end, late.disk.words]).toEqual([1, ['seen by both']]);
    if (others === 'are gone') return;
    // The other one has all that was acknowledged, says so and answers on.
    expect(one.life.state).toBe('stopped');
    expect(one.follower.condition().state).toBe('degraded');
    expect(one.follower.condition().reason).not.toContain('user');
  });

  it('begins anew where a person says so', async () => {
    const one = await started('a');
    expect(await submit(one, 'x')).toBe('done');
    state.beginAnew('log-2', { founder: 'a', continues: ['log-1'] });
    const anew = await started('c', { disk: new ModelDisk() });
    expect(await submit(anew, 'y')).toBe('done');
    expect(anew.life.fault).toBeUndefined();
  });
});

describe('a log that went back while a node hung for less than its lease', () => {
  const here = (node: ModelNode, word: string, waitFor: WaitFor = 'applied-here') =>
    clock.until(codeOf(node.submissions.submit(add(word), { waitFor })));

  it('is no log for it where the other one cannot say so', async () => {
    const [one, late] = [await started('a'), await started('b')];
    expect(await submit(one, 'seen by both')).toBe('done');
    await clock.pass(1000);
    clockOf(late).hang();
    expect(await here(one, 'acknowledged')).toBe('done');
    await clock.pass(500);
    const newer = state.copy();
    state.cutBehind(1);
    one.log.away = true;
    clockOf(late).goOn();
    expect(await here(late, 'over what was lost')).toBe('LOG_DIFFERENT');
    await clock.pass(2000);
    expect(late.follower.condition().state).toBe('down');
    expect([state.end, late.disk.words]).toEqual([1, ['seen by both']]);
    // The newer copy is the log of all again: nothing was noted or applied over its end.
    state.restore(newer);
    one.log.away = false;
    await clock.pass(4000);
    expect(await here(one, 'goes on')).toBe('done');
  });

  it('is no log for it where it hung while it read the notes', async () => {
    const [one, late] = [await started('a'), await started('b')];
    expect(await submit(one, 'seen by both')).toBe('done');
    await clock.pass(1000);
    const { list } = late.store;
    const read = Promise.withResolvers<void>();
    late.store.list = (prefix) => read.promise.then(() => list.call(late.store, prefix));
    const over = codeOf(
      late.submissions.submit(add('over what was lost'), { waitFor: 'applied-here' }),
    );
    await clock.pass(100);
    clockOf(late).hang();
    expect(await here(one, 'acknowledged')).toBe('done');
    await clock.pass(1500);
    state.cutBehind(1);
    one.log.away = true;
    // Its clock tells that the store has not answered, before the answer does.
    clockOf(late).goOn();
    await clock.pass(10);
    read.resolve();
    expect(await clock.until(over)).toBe('LOG_DIFFERENT');
    expect(late.disk.words).toEqual(['seen by both']);
  });

  it('is no log for the one that hung before its note', async () => {
    const [one, late] = [await started('a'), await started('b')];
    expect(await submit(one, 'seen by both')).toBe('done');
    await clock.pass(1000);
    const before = one.store.put;
    let noted = () => {};
    one.store.put = async (name, bytes) => {
      await new Promise<void>((resolve) => {
        noted = resolve;
      });
      await before.call(one.store, name, bytes);
    };
    const lost = codeOf(one.submissions.submit(add('lost'), { waitFor: 'applied-here' }));
    clockOf(late).hang();
    await clock.pass(400);
    state.cutBehind(1);
    one.log.away = true;
    clockOf(late).goOn();
    expect(await here(late, 'instead of it')).toBe('done');
    noted();
    expect(await clock.until(lost)).toBe('LOG_DIFFERENT');
    // Its note is withdrawn: it names an entry that nobody was told of.
    await clock.pass(100);
    const { offset, chain } = late.history.position;
    const notes = await new Reached(store, 'model').all();
    expect(notes).toMatchObject([{ offset, chain }]);
  });

  it.each(['applied-here', 'appended'] as const)(
    'is no log for it where others have written as much again: %s',
    async (how) => {
      const [one, late] = [await started('a'), await started('b')];
      expect(await submit(one, 'seen by both')).toBe('done');
      await clock.pass(1000);
      clockOf(late).hang();
      expect(await here(one, 'acknowledged')).toBe('done');
      if (how === 'appended') one.disk.failing = new TesseraError('STORE_UNAVAILABLE', 'no disk');
      expect(await here(one, 'acknowledged too', how)).toBe('done');
      state.cutBehind(1);
      for (const word of ['x', 'y', 'z']) state.append(entryOf(word));
      one.log.away = true;
      clockOf(late).goOn();
      expect(await here(late, 'over what was lost')).toBe('LOG_DIFFERENT');
      expect(state.end).toBe(4);
      await clock.pass(2000);
      expect(late.follower.condition().state).toBe('down');
    },
  );
});

describe('a change that its caller has given up', () => {
  it('does not land behind others once the log is back', async () => {
    const [cut, other] = [await started('a'), await started('b')];
    const given = new AbortController();
    cut.log.away = true;
    const resumed = codeOf(cut.submissions.submit(add('resume'), { signal: given.signal }));
    await clock.pass(1000);
    given.abort();
    expect(await clock.until(resumed)).toBe('STORE_UNAVAILABLE');
    await clock.pass(4000);
    expect(await submit(other, 'pause')).toBe('done');
    cut.log.away = false;
    await clock.pass(60_000);
    for (const { disk } of [cut, other]) expect(disk.words).toEqual(['pause']);
  });

  it('is refused where the node was away since it was accepted', async () => {
    const [late, other] = [await started('a'), await started('b')];
    late.log.away = true;
    const begun = codeOf(late.submissions.submit(add('resume')));
    await clock.pass(200);
    clockOf(late).hang();
    await clock.pass(10_000);
    expect(await submit(other, 'pause')).toBe('done');
    late.log.away = false;
    clockOf(late).goOn();
    expect(await clock.until(begun)).toBe('STORE_UNAVAILABLE');
    await clock.pass(10_000);
    for (const { disk } of [late, other]) expect(disk.words).toEqual(['pause']);
  });

  it('is refused at once by a node that is cut off', async () => {
    const cut = await started('a');
    cut.log.away = true;
    await clock.pass(4000);
    const beforeMs = clock.nowMs();
    expect(await submit(cut, 'x')).toBe('STORE_UNAVAILABLE');
    expect(clock.nowMs() - beforeMs).toBeLessThan(50);
  });

  it('waits for nodes that are too far behind, and then is refused', async () => {
    const [one, slow] = [await started('a'), await started('b')];
    slow.disk.failing = new TesseraError('STORE_FULL', 'the disk is full');
    for (let n = 0; n < 700; n += 1) state.append(entryOf(`${n}`));
    await clock.pass(2000);
    const given = new AbortController();
    const waiting = codeOf(one.submissions.submit(add('x'), { signal: given.signal }));
    await clock.pass(2000);
    given.abort();
    expect(await clock.until(waiting)).toBe('OPERATION_BUSY');
    for (const node of [one, slow]) expect(node.follower.condition().state).not.toBe('down');
    slow.disk.failing = undefined;
    await clock.pass(8000);
    expect(await submit(one, 'y')).toBe('done');
    expect(slow.disk.words).toHaveLength(701);
  });
});

describe('an erasure that cannot be done', () => {
  it.each(['behaviours', 'records', 'pool'])('holds no other user, with %s hung', async (store) => {
    const [one, other] = [await started('a'), await started('b')];
    for (const { disk } of [one, other]) disk.hanging.add(`${store} alice`);
    const alice = codeOf(one.erase('alice'));
    await clock.pass(100);
    const beforeMs = clock.nowMs();
    expect(await clock.until(codeOf(other.erase('bob')))).toBe('done');
    expect(clock.nowMs() - beforeMs).toBeLessThan(500);
    await clock.pass(20_000);
    expect(one.erasures.condition().reason).toContain(`${store}: not done within 10000 ms`);
    expect(await clock.until(alice)).toBe('STORE_UNAVAILABLE');
    for (const { disk } of [one, other]) {
      disk.hanging.clear();
      disk.release();
    }
    expect(await clock.until(codeOf(one.erase('alice')))).toBe('done');
  });

  it('of one user in one store holds neither later ones nor other nodes', async () => {
    const [one, other] = [await started('a'), await started('b')];
    one.disk.refusing.add('behaviours alice');
    const alice = codeOf(one.erase('alice'));
    await clock.pass(1000);
    expect(await clock.until(codeOf(one.erase('bob')))).toBe('done');
    expect(await clock.until(codeOf(other.erase('carol')))).toBe('done');
    expect(one.erasures.lasting()).toMatchObject({
      state: 'degraded',
      reason: expect.stringContaining('npm run log -- give-up 1 behaviours'),
    });
    expect(one.erasures.lasting().reason).not.toContain('alice');
    const give = { kind: 'give-up', body: { offset: 1, part: 'behaviours' } };
    await clock.until(one.submissions.submit(give));
    expect(await clock.until(alice)).toBe('STORE_UNAVAILABLE');
    expect(one.erasures.lasting().state).toBe('ok');
  });
});

it('an idle node whose log takes no words reads its window once', async () => {
  for (let n = 0; n < 50; n += 1) state.append(Buffer.from(`no entry ${n}`));
  const node = await started('a');
  let given = 0;
  const { read } = node.log;
  node.log.read = async function* counted(from, signal) {
    for await (const entries of read.call(node.log, from, signal)) {
      given += entries.length;
      yield entries;
    }
  };
  node.log.say = () => Promise.reject(new Error('it takes no words'));
  node.log.away = true;
  await clock.pass(10_000);
  node.log.away = false;
  await clock.pass(10_000);
  expect(given).toBe(0);
});
