import { expect, it } from 'vitest';
import type { BehaviourEvent } from './domain/behaviour-event.js';
import type { AppendOutcome } from './domain/behaviour-log.js';
import { GatheredAppends } from './outside/gathered-appends.js';

const event = (eventId: string): BehaviourEvent => ({ eventId }) as BehaviourEvent;

function gathering() {
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(write: () => Promise<T>) => {
    const done = last.then(write);
    last = done.catch(() => undefined);
    return done;
  };
  const written: string[][] = [];
  let fault: Error | undefined;
  const appends = new GatheredAppends(inTurn, async (events) => {
    written.push(events.map(({ eventId }) => eventId));
    await new Promise((resolve) => setImmediate(resolve));
    if (fault !== undefined) throw fault;
    return events.map(({ eventId }): AppendOutcome => (eventId === 'old' ? 'outside' : 'added'));
  });
  const failWith = (error: Error | undefined) => {
    fault = error;
  };
  return { appends, written, inTurn, failWith };
}

it('writes those that arrive during a write together, each with its outcomes', async () => {
  const { appends, written, inTurn } = gathering();
  const before = inTurn(() => new Promise<void>((resolve) => setImmediate(resolve)));
  const answers = [
    appends.add([event('a'), event('old')]),
    appends.add([]),
    appends.add([event('b')]),
  ];
  await before;
  expect(await Promise.all(answers)).toEqual([['added', 'outside'], [], ['added']]);
  expect(written).toEqual([['a', 'old', 'b']]);
});

it('keeps what is written together within its limit', async () => {
  const { appends, written } = gathering();
  const many = (count: number) => Array.from({ length: count }, (_, n) => event(`e${n}`));
  const answers = [appends.add(many(600)), appends.add(many(600)), appends.add(many(5000))];
  const sizes = (await Promise.all(answers)).map(({ length }) => length);
  expect(sizes).toEqual([600, 600, 5000]);
  expect(written.map(({ length }) => length)).toEqual([600, 600, 5000]);
});

it('refuses together those that were written together, and goes on', async () => {
  const { appends, failWith } = gathering();
  failWith(new Error('full'));
  const refused = await Promise.allSettled([appends.add([event('a')]), appends.add([event('b')])]);
  expect(refused.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  failWith(undefined);
  expect(await appends.add([event('c')])).toEqual(['added']);
});
