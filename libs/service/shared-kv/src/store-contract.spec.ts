/** The same tests of every store: in memory, in Redis of each kind and in a bucket. */

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { RedisSecurity } from '@tessera/redis';
import {
  documentedRights,
  MemoryKvStore,
  missingFor,
  S3_CREDENTIALS,
  seededRandom,
  startRedisCluster,
  startRedisSentinel,
  startRedisServer,
  startS3Server,
  temporaryFolder,
} from '@tessera/testing';
import { Cluster, Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChainName, SharedKvStore } from './domain/kv-store.js';
import { parseStoreAddress } from './domain/store-address.js';
import { RedisSharedStore } from './outside/redis-store.js';
import { S3SharedStore } from './outside/s3-store.js';

interface Place {
  /** A client of its own. */
  open(prefix?: string): SharedKvStore;
  /** Names of all that the store keeps under the prefix of `open`. */
  names(): Promise<readonly string[]>;
  stop(): Promise<void>;
}

interface Kind {
  readonly name: string;
  readonly start: () => Promise<Place>;
  readonly rounds: number;
  readonly missing: readonly string[];
}

const FIELD = 'kv.shared';
const PREFIX = 'here';
const MEBIBYTE = 1024 * 1024;

async function startMemory(): Promise<Place> {
  const store = new MemoryKvStore();
  const other = new MemoryKvStore();
  return {
    open: (prefix = PREFIX) => (prefix === PREFIX ? store : other),
    names: async () => store.names(),
    stop: async () => undefined,
  };
}

function redisAt(text: string, prefix: string, security?: RedisSecurity): SharedKvStore {
  const address = parseStoreAddress(FIELD, text);
  if (address.kind !== 'redis') throw new Error('not Redis');
  const limits = { ttlMs: 600_000, timeoutMs: 30_000 };
  return new RedisSharedStore({ address, prefix, field: FIELD, security, ...limits });
}

const tlsFile = (name: string) => resolve('test/fixtures/tls', name);

/** Over TLS alone, with the client's certificate, for a user who may no more than the page says. */
async function startSecured(): Promise<Place> {
  const keys = `~${PREFIX}:* ~elsewhere:*`;
  const rights = documentedRights('docs/operate/shared-kv.md').replace('~tessera:kv:*', keys);
  const folder = temporaryFolder({
    acl: `user default off\nuser tessera on >secret ${rights}\n`,
  });
  const server = await startRedisServer((port) => [
    ...['--port', '0', '--tls-port', String(port), '--aclfile', join(folder.path, 'acl')],
    ...['--tls-cert-file', tlsFile('server.pem'), '--tls-key-file', tlsFile('server.key')],
    ...['--tls-ca-cert-file', tlsFile('authority.pem'), '--tls-auth-clients', 'yes'],
  ]);
  const tls = {
    ca: readFileSync(tlsFile('authority.pem')),
    cert: readFileSync(tlsFile('client.pem')),
    key: readFileSync(tlsFile('client.key')),
  };
  const security = { username: 'tessera', password: 'secret', tls };
  const admin = new Redis(`rediss://${server.address}`, security);
  return {
    open: (prefix = PREFIX) => redisAt(`rediss://${server.address}`, prefix, security),
    names: () => admin.keys(`${PREFIX}:*`),
    stop: async () => {
      admin.disconnect();
      await server.stop();
      folder.remove();
    },
  };
}

async function startWatched(): Promise<Place> {
  const watched = await startRedisSentinel();
  const admin = new Redis(`redis://${watched.primary.address}`);
  return {
    open: (prefix = PREFIX) => redisAt(`redis+sentinel://${watched.address}/main`, prefix),
    names: () => admin.keys(`${PREFIX}:*`),
    stop: async () => {
      admin.disconnect();
      await watched.stop();
    },
  };
}

async function startRedis(): Promise<Place> {
  const server = await startRedisServer();
  const admin = new Redis(`redis://${server.address}`);
  return {
    open: (prefix = PREFIX) => redisAt(`redis://${server.address}`, prefix),
    names: () => admin.keys(`${PREFIX}:*`),
    stop: async () => {
      admin.disconnect();
      await server.stop();
    },
  };
}

async function startCluster(): Promise<Place> {
  const cluster = await startRedisCluster();
  const admin = new Cluster(
    cluster.address.split(',').map((text) => {
      const [host = '', port = ''] = text.split(':');
      return { host, port: Number(port) };
    }),
  );
  const [first] = cluster.nodes;
  return {
    // One address is enough: the server says that it is part of a cluster.
    open: (prefix = PREFIX) => redisAt(`redis://${first?.address}`, prefix),
    names: async () => {
      const ofNodes = admin.nodes('master').map((node) => node.keys(`${PREFIX}:*`));
      return (await Promise.all(ofNodes)).flat();
    },
    stop: async () => {
      admin.disconnect();
      await cluster.stop();
    },
  };
}

const startBucket = (kind: 'conditional' | 'plain') => async (): Promise<Place> => {
  Object.assign(process.env, S3_CREDENTIALS);
  const server = await startS3Server('kv', kind);
  const address = parseStoreAddress(FIELD, 's3://kv/some/where');
  if (address.kind !== 's3') throw new Error('not S3');
  const s3 = { endpoint: server.url, region: 'us-east-1', isPathStyle: true };
  const settings = { address, s3, field: FIELD, timeoutMs: 30_000, settleMs: 0 };
  return {
    open: (prefix = PREFIX) => new S3SharedStore({ ...settings, prefix }),
    names: () => server.keys(`some/where/${PREFIX}/`),
    stop: server.stop,
  };
};

const redis = missingFor(['redis']);
const ROUNDS = 1000;
const KINDS: readonly Kind[] = [
  { name: 'in memory', start: startMemory, rounds: ROUNDS, missing: [] },
  { name: 'in Redis', start: startRedis, rounds: ROUNDS, missing: redis },
  { name: 'in a Redis cluster', start: startCluster, rounds: 100, missing: redis },
  { name: 'in Redis over TLS', start: startSecured, rounds: 100, missing: redis },
  { name: 'in Redis behind a sentinel', start: startWatched, rounds: 100, missing: redis },
  { name: 'in a bucket', start: startBucket('conditional'), rounds: 250, missing: [] },
];

const hex = (random: () => number) =>
  Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16)).join('');
const random = seededRandom(45);
const chain = (owner = hex(random)): ChainName => ({ owner, version: hex(random) });
const bytesOf = (text: string) => Buffer.from(text);
const textOf = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString();
const NEVER = -1;

async function published(store: SharedKvStore, name: ChainName, head: string, replaces = '') {
  const outcome = await store.publish(name, bytesOf(head), replaces, [], NEVER);
  if (typeof outcome === 'string') throw new Error(outcome);
  return outcome.kept;
}

for (const { name: kind, start, rounds, missing } of KINDS) {
  if (missing.length > 0) console.warn(`${kind}: left out, not installed: ${missing.join(', ')}`);
  describe.skipIf(missing.length > 0)(`a store ${kind}`, () => {
    let place: Place;
    let store: SharedKvStore;
    beforeAll(async () => {
      place = await start();
      store = place.open();
    });
    afterAll(async () => {
      await store.close();
      await place.stop();
    });

    it('has nothing that was not put there', async () => {
      expect(await store.find(chain())).toBeUndefined();
      expect(await store.read(chain(), hex(random))).toBeUndefined();
    });

    it('gives blocks and heads back to the byte, up to 4 MiB', async () => {
      const name = chain();
      const all = Uint8Array.from({ length: 4 * MEBIBYTE }, (_, i) => (i * 31 + (i >> 8)) & 255);
      const [block, empty] = [hex(random), hex(random)];
      expect(await store.write(name, block, all, NEVER)).toBe('kept');
      expect(await store.write(name, empty, new Uint8Array(), NEVER)).toBe('kept');
      const head = all.subarray(7, 70_007);
      const outcome = await store.publish(name, head, '', [], NEVER);
      const read = await store.read(name, block);
      expect(Buffer.from(read ?? []).equals(all)).toBe(true);
      expect(await store.read(name, empty)).toHaveLength(0);
      const found = await store.find(name);
      expect(Buffer.from(found?.head ?? []).equals(head)).toBe(true);
      expect(outcome).toEqual({ kept: found?.revision });
    });

    it('replaces the head of the revision that is named, and no other', async () => {
      const name = chain();
      const first = await published(store, name, 'one');
      expect(await store.publish(name, bytesOf('x'), '', [], NEVER)).toBe('changed');
      const second = await published(store, name, 'two', first);
      expect(second).not.toBe(first);
      expect(await store.publish(name, bytesOf('x'), first, [], NEVER)).toBe('changed');
      const found = await store.find(name);
      expect(textOf(found?.head)).toBe('two');
      expect(await store.publish(chain(), bytesOf('x'), second, [], NEVER)).toBe('changed');
    });

    it('takes a head twice, as a caller who heard nothing makes sure', async () => {
      const name = chain();
      const first = await published(store, name, 'one');
      expect(await published(store, name, 'one')).toBe(first);
    });

    it('removes the blocks that a head leaves behind, of this version alone', async () => {
      const name = chain();
      const other = chain(name.owner);
      const [stays, goes] = [hex(random), hex(random)];
      for (const one of [name, other]) {
        for (const block of [stays, goes]) await store.write(one, block, bytesOf('b'), NEVER);
      }
      expect(await store.publish(name, bytesOf('x'), 'none', [goes], NEVER)).toBe('changed');
      expect(await store.read(name, goes)).toBeDefined();
      await store.publish(name, bytesOf('h'), '', [goes], NEVER);
      expect(await store.read(name, goes)).toBeUndefined();
      expect(await store.read(name, stays)).toBeDefined();
      expect(await store.read(other, goes)).toBeDefined();
    });

    it('loses no head of two clients that replace it at once', async () => {
      const name = chain();
      const clients = [place.open(), place.open()];
      const kept: { revision: string; replaces: string; text: string }[] = [];
      const act = async (client: SharedKvStore, who: number) => {
        for (let round = 0; round < rounds / 2; round += 1) {
          const before = await client.find(name);
          const replaces = before?.revision ?? '';
          const text = `${textOf(before?.head)}|${who}.${round}`.slice(-40);
          const outcome = await client.publish(name, bytesOf(text), replaces, [], NEVER);
          if (typeof outcome !== 'string') kept.push({ revision: outcome.kept, replaces, text });
        }
      };
      await Promise.all(clients.map(act));
      const byReplaced = new Map(kept.map((row) => [row.replaces, row]));
      expect(byReplaced.size).toBe(kept.length);
      let revision = '';
      let last = '';
      for (let length = 0; length < kept.length; length += 1) {
        const next = byReplaced.get(revision);
        if (next === undefined) throw new Error(`seed 45: nothing replaces ${revision}`);
        ({ revision, text: last } = next);
      }
      const found = await store.find(name);
      expect(found).toMatchObject({ revision });
      expect(textOf(found?.head)).toBe(last);
      expect(kept.length).toBeGreaterThanOrEqual(rounds / 2);
      for (const client of clients) if (client !== store) await client.close();
    });

    it('removes all of an erased owner, and nothing of others', async () => {
      const [erased, other] = [hex(random), hex(random)];
      const names = [chain(erased), chain(erased), chain(other)];
      for (const name of names) {
        await store.write(name, hex(random), bytesOf('b'), NEVER);
        await published(store, name, 'h');
      }
      await store.erase(erased, 7);
      const left = (await place.names()).filter((text) => text.includes(erased));
      expect(left).toEqual([expect.stringMatching(/erased$/)]);
      expect(await store.find(names[1] as ChainName)).toBeUndefined();
      expect(await store.find(names[2] as ChainName)).toBeDefined();
    });

    it('refuses writers that have not applied the erasure, and takes others', async () => {
      const name = chain();
      const late = place.open();
      await store.erase(name.owner, 7);
      await store.erase(name.owner, 5);
      const block = hex(random);
      for (const until of [NEVER, 5, 6]) {
        expect(await late.write(name, block, bytesOf('b'), until)).toBe('erased');
        expect(await late.publish(name, bytesOf('h'), '', [], until)).toBe('erased');
      }
      expect(await late.find(name)).toBeUndefined();
      expect(await late.read(name, block)).toBeUndefined();
      expect(await late.write(name, block, bytesOf('b'), 7)).toBe('kept');
      expect(await late.publish(name, bytesOf('h'), '', [], 8)).toMatchObject({
        kept: expect.stringMatching(/./),
      });
    });

    it('keeps nothing of writes that race with an erasure', async () => {
      for (let round = 0; round < rounds / 20; round += 1) {
        const name = chain();
        await store.write(name, hex(random), bytesOf('before'), NEVER);
        const writer = place.open();
        await Promise.all([
          store.erase(name.owner, round),
          writer.write(name, hex(random), bytesOf('beside'), round - 1),
          writer.publish(name, bytesOf('beside'), '', [], round - 1),
        ]);
        if (writer !== store) await writer.close();
        const left = (await place.names()).filter((text) => text.includes(name.owner));
        expect(left, `seed 45, round ${round}`).toEqual([expect.stringMatching(/erased$/)]);
      }
    });

    it('shows nothing of another deployment', async () => {
      const name = chain();
      const elsewhere = place.open('elsewhere');
      await published(elsewhere, name, 'theirs');
      await elsewhere.write(name, name.owner, bytesOf('theirs'), NEVER);
      expect(await store.find(name)).toBeUndefined();
      expect(await store.read(name, name.owner)).toBeUndefined();
      await elsewhere.erase(name.owner, 3);
      expect(await store.write(name, name.owner, bytesOf('ours'), NEVER)).toBe('kept');
    });

    it('refuses what is no name', async () => {
      const bad = { owner: 'a}{b', version: hex(random) };
      if (kind === 'in memory') return;
      const refusal = { code: 'REQUEST_INVALID', field: 'owner' };
      await expect(store.find(bad)).rejects.toMatchObject(refusal);
      await expect(store.erase(bad.owner, 1)).rejects.toMatchObject(refusal);
      await expect(store.read(chain(), 'x')).rejects.toMatchObject({ field: 'block' });
    });
  });
}

describe('a bucket that takes no notice of conditions', () => {
  it('is compared before it is written', async () => {
    const place = await startBucket('plain')();
    const store = place.open();
    const name = chain();
    const first = await published(store, name, 'one');
    expect(await store.publish(name, bytesOf('x'), '', [], NEVER)).toBe('changed');
    expect(await store.publish(name, bytesOf('x'), 'other', [], NEVER)).toBe('changed');
    await published(store, name, 'two', first);
    expect(await store.publish(name, bytesOf('x'), first, [], NEVER)).toBe('changed');
    await store.close();
    await place.stop();
  });
});
