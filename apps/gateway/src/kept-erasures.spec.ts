import { PendingErasures } from '@tessera/erasure';
import { temporaryFolder } from '@tessera/testing';
import { afterEach, expect, it } from 'vitest';
import { Holders } from './holders.js';
import { KeptErasures } from './kept-erasures.js';

const folder = temporaryFolder({});
afterEach(() => folder.remove());
const log = { info: () => undefined, warn: () => undefined } as never;

interface World {
  readonly asked: string[];
  readonly away: Set<string>;
}

async function open({ asked, away }: World, path = folder.path): Promise<KeptErasures> {
  const act = async (who: string) => {
    asked.push(who);
    if (away.has(who)) throw new Error('away');
  };
  return new KeptErasures({
    pending: await PendingErasures.open(path),
    holders: () => ['a', 'b', 'c'],
    eraseBehaviours: (userId) => act(`behaviours of ${userId}`),
    drop: (holder) => act(holder),
    log,
    nowMs: () => 5,
  });
}

it('answers when every holder has confirmed, behaviours first', async () => {
  const world = { asked: [] as string[], away: new Set<string>() };
  const erasures = await open(world);
  await erasures.forget('u', false, 1000, async () => void world.asked.push('own erase'));
  expect(world.asked).toEqual(['own erase', 'a', 'b', 'c']);
  expect(erasures.pendingCount).toBe(0);
});

it('asks again who was away and nobody else, and never the behaviours', async () => {
  const world = { asked: [] as string[], away: new Set(['b']) };
  const erasures = await open(world);
  await expect(erasures.forget('u', false, 1000)).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
    message: 'erasure: expected it to hold on every node, got: b: away; it is tried again',
  });
  expect(erasures.pendingCount).toBe(1);
  world.asked.length = 0;
  await erasures.retry();
  expect([world.asked, erasures.pendingCount]).toEqual([['b'], 1]);
  world.away.clear();
  await erasures.retry();
  expect([world.asked, erasures.pendingCount]).toEqual([['b', 'b'], 0]);
});

it('goes on after a restart', async () => {
  const world = { asked: [] as string[], away: new Set(['behaviours of u']) };
  await expect((await open(world)).forget('u', false, 1000)).rejects.toThrow('away');
  const again = await open(world);
  expect(again.pendingCount).toBe(1);
  world.away.clear();
  world.asked.length = 0;
  await again.retry();
  expect(world.asked).toEqual(['behaviours of u', 'a', 'b', 'c']);
  expect((await open(world)).pendingCount).toBe(0);
});

it('asks all again where a user is erased again', async () => {
  const world = { asked: [] as string[], away: new Set(['b']) };
  const erasures = await open(world);
  await erasures.forget('u', true, 1000).catch(() => undefined);
  world.away.clear();
  world.asked.length = 0;
  await erasures.forget('u', true, 1000);
  expect(world.asked).toEqual(['a', 'b', 'c']);
});

it('remembers every node that was ever a member', () => {
  const holders = Holders.open(folder.path);
  holders.add(['b', 'a']);
  holders.add(['c']);
  expect(Holders.open(folder.path).names()).toEqual(['a', 'b', 'c']);
});
