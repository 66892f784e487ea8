import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PendingErasures } from '@tessera/erasure';
import { TesseraError } from '@tessera/errors';
import { Readiness } from '@tessera/lifecycle';
import { temporaryFolder, until } from '@tessera/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { giveUpListed, ListedErasures } from './listed-erasures.js';

const STORES = ['behaviours', 'records', 'pool'] as const;
type Store = (typeof STORES)[number];

let folder: ReturnType<typeof temporaryFolder>;
let erased: string[] = [];
const away = new Set<Store>();
/** Users for whom a store does not answer, by `STORE USER`. */
const hanging = new Set<string>();
const open: ListedErasures[] = [];
let readiness: Readiness;

beforeEach(() => {
  folder = temporaryFolder({});
  erased = [];
});
afterEach(async () => {
  for (const erasures of open.splice(0)) await erasures.close();
  away.clear();
  hanging.clear();
  folder.remove();
});

const storeOf = (name: Store) => ({
  name,
  erase: async ({ userId }: { userId: string }) => {
    if (hanging.has(`${name} ${userId}`)) await new Promise(() => undefined);
    if (away.has(name)) throw new TesseraError('STORE_UNAVAILABLE', 'it is away');
    erased.push(`${name} of ${userId}`);
    return { known: true, recalls: 3 };
  },
});

async function opened(): Promise<ListedErasures> {
  const erasures = new ListedErasures({
    pending: await PendingErasures.open(folder.path),
    stores: {
      behaviours: storeOf('behaviours'),
      records: storeOf('records'),
      pool: storeOf('pool'),
    },
    nodeLog: { warn: () => undefined, info: () => undefined },
    nowMs: () => 5,
  });
  open.push(erasures);
  readiness = new Readiness();
  erasures.showIn(readiness);
  return erasures;
}

async function closed(erasures: ListedErasures): Promise<void> {
  open.splice(open.indexOf(erasures), 1);
  await erasures.close();
}

const whole = (userId: string) => ({ userId, withBehaviours: true, withRecords: true });
const conditionOf = (name: string) =>
  readiness.conditions.all().find((condition) => condition.name === name);

describe('erasures of a process without a log', () => {
  it('take away what is derived after what it is derived from', async () => {
    const erasures = await opened();
    expect(await erasures.erase(whole('7'))).toEqual({ known: true, recalls: 3 });
    expect(erased[0]).toBe('behaviours of 7');
    expect([...erased].sort()).toEqual(['behaviours of 7', 'pool of 7', 'records of 7']);
    expect(readdirSync(folder.path)).toEqual([]);
    expect(conditionOf('erasures')?.state).toBe('ok');
  });

  it('leave behaviours and records where these are not asked for', async () => {
    const erasures = await opened();
    await erasures.erase({ userId: '7', withBehaviours: false, withRecords: false });
    expect(erased).toEqual(['pool of 7']);
  });

  it('are refused with what was not reached, and go on until it is', async () => {
    const erasures = await opened();
    away.add('pool');
    await expect(erasures.erase(whole('7'))).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('pool: it is away'),
      retryable: true,
    });
    expect(erasures.isPending('7')).toBe(true);
    expect(conditionOf('erasures')?.state).toBe('degraded');
    away.clear();
    await until('it is done', () => !erasures.isPending('7'));
    // The user's behaviours since then stay.
    expect(erased).toEqual(['behaviours of 7', 'records of 7', 'pool of 7']);
  });

  it('keep what is made of behaviours until these are gone', async () => {
    const erasures = await opened();
    away.add('behaviours');
    await expect(erasures.erase(whole('7'))).rejects.toThrow('behaviours: it is away');
    expect(erased).toEqual([]);
    away.clear();
    await until('it is done', () => !erasures.isPending('7'));
    expect(erased[0]).toBe('behaviours of 7');
  });

  it.each(STORES)('hold no other user where %s does not answer', async (store) => {
    const erasures = await opened();
    hanging.add(`${store} 7`);
    const given = new AbortController();
    const held = erasures.erase(whole('7'), given.signal);
    held.catch(() => undefined);
    const others = Array.from({ length: 20 }, (_, user) => erasures.erase(whole(`other ${user}`)));
    await Promise.all(others);
    expect(erasures.isPending('7')).toBe(true);
    given.abort();
    await expect(held).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
  });

  it('go on after the process has died before any store', async () => {
    for (const store of STORES) {
      erased = [];
      away.add(store);
      const first = await opened();
      await expect(first.erase(whole("'<7>/..'"))).rejects.toThrow('away');
      await closed(first);
      away.clear();
      const again = await opened();
      await until('it is done', () => !again.isPending("'<7>/..'"));
      expect([...erased].sort()).toEqual([
        "behaviours of '<7>/..'",
        "pool of '<7>/..'",
        "records of '<7>/..'",
      ]);
      expect(readdirSync(folder.path)).toEqual([]);
    }
  });

  it('can be repeated while they wait, as one, and are done again from the beginning', async () => {
    writeFileSync(join(folder.path, 'x.json'), '{"userId": 1');
    const erasures = await opened();
    away.add('pool');
    for (let at = 0; at < 3; at += 1) {
      await expect(erasures.erase(whole('7'))).rejects.toThrow('away');
    }
    expect(readdirSync(folder.path)).toHaveLength(2);
    away.clear();
    expect(await erasures.erase(whole('7'))).toEqual({ known: true, recalls: 3 });
    expect(erased.filter((one) => one === 'behaviours of 7')).toHaveLength(4);
    expect(readdirSync(folder.path)).toEqual(['x.json']);
  });

  it('are done again where they are repeated while the last store answers', async () => {
    const erasures = await opened();
    const first = erasures.erase(whole('7'));
    const second = erasures.erase(whole('7'));
    await Promise.all([first, second]);
    expect(erased.filter((one) => one === 'behaviours of 7').length).toBeGreaterThan(0);
    expect(erasures.isPending('7')).toBe(false);
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it('are not begun where they cannot be remembered', async () => {
    const erasures = await opened();
    folder.remove();
    await expect(erasures.erase(whole('7'))).rejects.toMatchObject({ code: 'IO_FAILED' });
    expect(erased).toEqual([]);
  });

  it('count without a store that a person gives up', async () => {
    const erasures = await opened();
    away.add('records');
    await expect(erasures.erase(whole('7'))).rejects.toThrow('away');
    await closed(erasures);
    const pending = await PendingErasures.open(folder.path);
    await expect(giveUpListed(pending, 9, 'records')).rejects.toThrow('expected one of [1], got 9');
    await giveUpListed(pending, 1, 'records');
    expect((await opened()).isPending('7')).toBe(false);
    expect(readdirSync(folder.path)).toEqual([]);
  });
});
