import { PendingErasures } from '@tessera/erasure';
import { type Disk, FILE_SYSTEM } from '@tessera/files';
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

async function open({ asked, away }: World, disk = FILE_SYSTEM): Promise<KeptErasures> {
  const act = async (who: string) => {
    asked.push(who);
    if (away.has(who)) throw new Error('away');
  };
  return new KeptErasures({
    pending: await PendingErasures.open(folder.path, disk),
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

it('remembers every node that was ever a member', async () => {
  const holders = await Holders.open(folder.path);
  await holders.add(['b', 'a']);
  await holders.add(['c']);
  expect((await Holders.open(folder.path)).names()).toEqual(['a', 'b', 'c']);
});

/** A disk without room for another byte while `isFull`. */
function fullDisk() {
  const state = { isFull: true };
  const disk: Disk = Object.assign({}, FILE_SYSTEM, {
    create: async (path: string) => {
      const file = await FILE_SYSTEM.create(path);
      const write = async (bytes: Uint8Array) => {
        if (state.isFull) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
        await file.write(bytes);
      };
      return Object.assign({}, file, { write });
    },
  });
  return { state, disk };
}

it('takes no node while its name cannot be kept, and keeps it once there is room', async () => {
  const { state, disk } = fullDisk();
  state.isFull = false;
  const holders = await Holders.open(folder.path, disk);
  await holders.add(['a']);
  const before = holders.names();
  state.isFull = true;
  await expect(holders.add(['new'])).rejects.toMatchObject({ code: 'STORE_FULL' });
  expect(holders.names()).toEqual(before);
  expect((await Holders.open(folder.path)).names()).toEqual(before);
  // What is known already needs no room.
  await holders.add(before);
  state.isFull = false;
  await holders.add(['new']);
  expect((await Holders.open(folder.path)).names()).toEqual([...before, 'new']);
});

it('refuses an erasure that cannot be written down, before anything is erased', async () => {
  const { state, disk } = fullDisk();
  const world = { asked: [] as string[], away: new Set<string>() };
  const erasures = await open(world, disk);
  const refused = erasures.forget('full', false, 1000);
  await expect(refused).rejects.toMatchObject({ code: 'STORE_FULL' });
  expect([world.asked, erasures.pendingCount]).toEqual([[], 0]);
  state.isFull = false;
  await erasures.forget('full', false, 1000);
  expect(world.asked).toEqual(['behaviours of full', 'a', 'b', 'c']);
});
