import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PendingErasures } from '@tessera/erasure';
import { TesseraError } from '@tessera/errors';
import { temporaryFolder } from '@tessera/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type ErasureParts, UserErasure } from './user-erasure.js';

const erased: string[] = [];
let folder: ReturnType<typeof temporaryFolder>;
let unreached: string[] = [];
const open: UserErasure[] = [];

beforeEach(() => {
  folder = temporaryFolder({});
  erased.length = 0;
  unreached = [];
});
afterEach(async () => {
  for (const erasure of open.splice(0)) await erasure.close();
  folder.remove();
});

/** Notes what it erases, or fails where it is not reached. */
const note = async (what: string, userId: string) => {
  if (unreached.includes(what)) throw new TesseraError('STORE_UNAVAILABLE', `${what} away`);
  erased.push(`${what} of ${userId}`);
};

async function erasureOver(changes: Partial<ErasureParts> = {}): Promise<UserErasure> {
  const erasure = new UserErasure({
    behaviours: { erase: (userId) => note('behaviours', userId).then(() => true) },
    follower: { erase: (userId) => note('keys and values', userId) },
    eraseRecalls: (userId) => note('recalls', userId).then(() => 3),
    pending: await PendingErasures.open(folder.path),
    log: { warn: () => undefined, info: () => undefined },
    nowMs: () => 5,
    ...changes,
  });
  open.push(erasure);
  return erasure;
}

it('takes away what is derived after what it is derived from', async () => {
  expect(await (await erasureOver()).erase('7')).toEqual({ known: true, recalls: 3 });
  expect(erased).toEqual(['behaviours of 7', 'keys and values of 7', 'recalls of 7']);
  expect(readdirSync(folder.path)).toEqual([]);
});

it('has no recalls to take away where none are recorded', async () => {
  const erasure = await erasureOver({ eraseRecalls: undefined });
  expect(await erasure.erase('7')).toEqual({ known: true, recalls: 0 });
});

it('is not acknowledged where something was not reached, which it names, and goes on', async () => {
  const erasure = await erasureOver();
  unreached = ['keys and values'];
  await expect(erasure.erase('7')).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
    message: expect.stringContaining('keys and values away'),
    retryable: true,
  });
  expect(erased).toEqual(['behaviours of 7', 'recalls of 7']);
  expect(erasure.pendingCount).toBe(1);
  await erasure.retry();
  expect(erasure.pendingCount).toBe(1);
  unreached = [];
  erased.length = 0;
  await erasure.retry();
  // The user's behaviours since then stay.
  expect(erased).toEqual(['keys and values of 7', 'recalls of 7']);
  expect(erasure.pendingCount).toBe(0);
});

it('goes on after the process has died at any step', async () => {
  for (const dies of ['behaviours', 'keys and values', 'recalls']) {
    erased.length = 0;
    unreached = [dies];
    await expect((await erasureOver()).erase("'<7>/..'")).rejects.toThrow('away');
    unreached = [];
    const again = await erasureOver();
    expect(again.pendingCount).toBe(1);
    await again.retry();
    expect([...new Set(erased)].sort()).toEqual([
      "behaviours of '<7>/..'",
      "keys and values of '<7>/..'",
      "recalls of '<7>/..'",
    ]);
    expect((await erasureOver()).pendingCount).toBe(0);
  }
});

it('can be repeated while it is pending, and does not stumble over other files', async () => {
  writeFileSync(join(folder.path, 'x.json'), '{"userId": 1');
  writeFileSync(join(folder.path, 'y.json.part'), '');
  const erasure = await erasureOver();
  unreached = ['recalls'];
  await expect(erasure.erase('7')).rejects.toThrow('recalls away');
  unreached = [];
  expect(await erasure.erase('7')).toEqual({ known: true, recalls: 3 });
  expect(erasure.pendingCount).toBe(0);
});

it('is not begun where it cannot be remembered', async () => {
  const erasure = await erasureOver();
  folder.remove();
  await expect(erasure.erase('7')).rejects.toMatchObject({ code: 'IO_FAILED' });
  expect(erased).toEqual([]);
});
