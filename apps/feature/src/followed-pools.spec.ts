import { loadConfig } from '@tessera/config';
import { TesseraError } from '@tessera/errors';
import type { NodeRole } from '@tessera/routing';
import { expect, it } from 'vitest';
import { retrievalPools } from './erasure-parts.js';
import { RemotePools } from './followed-pools.js';

const USERS = Array.from({ length: 60 }, (_, n) => `user-${n}`);
const BUDGET_MS = 100;

/** Pools by address; `failed`: what each rejects appends with. */
function world(roles: Readonly<Record<string, NodeRole>>) {
  const kept = new Map<string, string[]>();
  const failed = new Map<string, TesseraError>();
  const dropped: string[] = [];
  const pools = Object.entries(roles).map(([address, role]) => ({
    address,
    role,
    client: {
      keep: async ({ userId = '' }: { readonly userId?: string | undefined }) => {
        const failure = failed.get(address);
        if (failure !== undefined) throw failure;
        kept.set(address, [...(kept.get(address) ?? []), userId]);
        return {} as never;
      },
      dropUser: async () => {
        dropped.push(address);
        return {} as never;
      },
    },
  }));
  const all = new RemotePools(pools);
  const append = async () => {
    kept.clear();
    for (const userId of USERS) await all.append(userId, BUDGET_MS);
    return Object.fromEntries([...kept].map(([address, users]) => [address, users.length]));
  };
  return { all, kept, failed, dropped, append };
}

const away = new TesseraError('ENGINE_UNAVAILABLE', 'no connection');

it('asks all that may hold a user, and of those that only append one for each', async () => {
  expect(await world({ a: 'both', b: 'both' }).append()).toEqual({ a: 60, b: 60 });
  expect(await world({ a: 'both', b: 'answer' }).append()).toEqual({ a: 60 });
  expect(await world({ a: 'answer', b: 'answer' }).append()).toEqual({ a: 60, b: 60 });
  const { append, kept } = world({ a: 'append', b: 'append', c: 'answer', d: 'both' });
  const { a = 0, b = 0, ...others } = await append();
  expect([a + b, others]).toEqual([60, {}]);
  expect(Math.min(a, b)).toBeGreaterThan(10);
  const first = [...(kept.get('a') ?? [])];
  await append();
  expect(kept.get('a')).toEqual(first);
});

it('asks the next process that appends where one is away, and then the others', async () => {
  const { append, failed } = world({ a: 'append', b: 'append', c: 'answer', d: 'both' });
  failed.set('a', away);
  expect(await append()).toEqual({ b: 60 });
  failed.set('b', away);
  expect(await append()).toEqual({ d: 60 });
  failed.clear();
  failed.set('a', new TesseraError('REQUEST_INVALID', 'userId: expected text, got nothing'));
  failed.set('b', new TesseraError('REQUEST_INVALID', 'userId: expected text, got nothing'));
  await expect(append()).rejects.toMatchObject({ code: 'REQUEST_INVALID' });
});

it('erases at every process, whatever its role', async () => {
  const { all, dropped } = world({ a: 'append', b: 'answer', c: 'both' });
  await all.erase('u', BUDGET_MS);
  expect(dropped.sort()).toEqual(['a', 'b', 'c']);
});

it('reads the role behind an address of behaviours.retrieval', () => {
  const poolsOf = (text: string) => {
    const { config } = loadConfig({ environment: { TESSERA_BEHAVIOURS_RETRIEVAL: text } });
    return retrievalPools(config).map(({ address, role, client }) => {
      client.close();
      return [address, role];
    });
  };
  expect(poolsOf(' h:1@append, h:2 ,[::1]:3@answer,')).toEqual([
    ['h:1', 'append'],
    ['h:2', 'both'],
    ['[::1]:3', 'answer'],
  ]);
  const expected = 'behaviours.retrieval: expected HOST:PORT, with @append or @answer or without';
  expect(() => poolsOf('h:1@none')).toThrow(`${expected}, got h:1@none`);
});
