/** Nodes that had states of their own begin to follow one log: real processes, a real etcd. */

import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ServiceClient } from '@tessera/client';
import { Etcd, NodeKey } from '@tessera/etcd';
import { EtcdLog } from '@tessera/log';
import { type EtcdServer, startEtcdServer, temporaryFolder, until } from '@tessera/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdapterClient } from '../../tools/served/adapter-client.js';
import { beginningOf, entryText } from '../cluster/appended-entries.js';
import { DEMO, writeRandomAdapter } from './random-adapter.js';
import { Service } from './service.js';

const NAMES = ['a', 'b', 'c'];
/** More than stay behind a snapshot. */
const ENTRIES = 4500;
/** Each is kept on the disks of two nodes and of etcd. */
const ENTRIES_MS = 300_000;
const CATALOGUE = 'tessera.catalogue.v1.CatalogueService';
const CALL_MS = 60_000;
const SERVING = { printed: /OpenAPI\s+http/ };

const folder = temporaryFolder({});
const changesOf = (name: string) => join(folder.path, name, 'changes');
let etcd: EtcdServer;
const services = new Map<string, Service>();

function start(name: string, more: Readonly<Record<string, string>>): Promise<Service> {
  const variables = {
    TESSERA_NODE_NAME: name,
    TESSERA_CATALOGUE_CHANGES_PATH: changesOf(name),
    TESSERA_CATALOGUE_CACHE_PATH: join(folder.path, name, 'cache'),
    TESSERA_BEHAVIOURS_STORE: 'embedded',
    TESSERA_BEHAVIOURS_PATH: join(folder.path, name, 'behaviours'),
    TESSERA_ADAPTERS_PATH: join(folder.path, name, 'adapters'),
    TESSERA_MODEL_PATH: DEMO,
    TESSERA_ENGINE_THREAD_COUNT: '1',
    ...more,
  };
  return Service.start(variables, [], SERVING);
}

const following = () => ({
  TESSERA_CLUSTER_ETCD: etcd.address,
  TESSERA_CLUSTER_LOG_STORE: join(folder.path, 'store'),
  TESSERA_CLUSTER_LOG_SNAPSHOT_ENTRIES: '100',
});

async function all(act: (name: string) => Promise<Service>): Promise<void> {
  const started = await Promise.all(NAMES.map(act));
  for (const [n, name] of NAMES.entries()) services.set(name, started[n] as Service);
}

async function stopAll(): Promise<void> {
  await Promise.all([...services.values()].map((service) => service.stop()));
  services.clear();
}

async function withCatalogue<T>(
  name: string,
  act: (catalogue: ServiceClient<typeof CATALOGUE>) => Promise<T>,
): Promise<T> {
  const catalogue = new ServiceClient(CATALOGUE, services.get(name)?.grpcAddress ?? '');
  return act(catalogue).finally(() => catalogue.close());
}

const pause = (name: string, itemId: string) =>
  withCatalogue(name, (catalogue) =>
    catalogue.call('Apply', { changes: [{ pauseItemId: itemId }] }),
  );

/** Of items that are paused at a node. */
const pausedAt = (name: string) =>
  withCatalogue(name, async (catalogue) => {
    const ids: string[] = [];
    for await (const { items } of catalogue.stream('ListItems', {})) {
      ids.push(...items.filter(({ paused }) => paused).map(({ itemId }) => itemId));
    }
    return ids.join();
  });

async function logOf(name: string): Promise<{ identity: string; offset: number; digest: string }> {
  const reply = await fetch(`${services.get(name)?.httpUrl}/health`);
  return ((await reply.json()) as { clusterLog: never }).clusterLog;
}

beforeAll(async () => {
  etcd = await startEtcdServer();
});

afterAll(async () => {
  await stopAll();
  await etcd?.stop();
  folder.remove();
});

describe('nodes that follow one log from now on', () => {
  it('begin it with the state of one of them, whoever is first of those that start', async () => {
    await all((name) => start(name, {}));
    for (const [n, name] of NAMES.entries()) await pause(name, String(n + 1));
    expect(await Promise.all(NAMES.map(pausedAt))).toEqual(['1', '2', '3']);
    await stopAll();
    await all((name) => start(name, following()));
    const [paused = '', ...others] = await Promise.all(NAMES.map(pausedAt));
    expect(['1', '2', '3']).toContain(paused);
    expect(others).toEqual([paused, paused]);
    // The others had it otherwise, and have that still.
    const isAside = (name: string) =>
      readdirSync(dirname(changesOf(name))).some((one) => one.includes('.before-log-'));
    const aside = NAMES.filter(isAside);
    expect(aside).toEqual(NAMES.filter((_, n) => String(n + 1) !== paused));
  });

  it('serve what is changed at any of them, also when all are killed and start again', async () => {
    for (const [n, name] of NAMES.entries()) await pause(name, String(n + 11));
    const before = await Promise.all(NAMES.map(pausedAt));
    expect(before[0]).toMatch(/11,12,13$/);
    expect(new Set(before).size).toBe(1);
    const words = await Promise.all(NAMES.map(logOf));
    for (const service of services.values()) {
      service.child.kill('SIGKILL');
      await service.ended;
    }
    await etcd.kill();
    await etcd.start();
    await all((name) => start(name, following()));
    expect(await Promise.all(NAMES.map(pausedAt))).toEqual(before);
    const again = await Promise.all(NAMES.map(logOf));
    expect(new Set(again.map(({ digest }) => digest)).size).toBe(1);
    expect(again[0]).toMatchObject({ identity: words[0]?.identity, digest: words[0]?.digest });
  });

  it('serve an adapter pushed at one and activated at another, and go back alike', async () => {
    const recalled = async (name: string) => {
      const { status, json } = await (services.get(name) as Service).post({ userId: '1' });
      expect(status, JSON.stringify(json)).toBe(200);
      const { adapter } = json.versions as { readonly adapter: string };
      return JSON.stringify([adapter, json.items]);
    };
    const client = (name: string) =>
      new AdapterClient(services.get(name)?.grpcAddress ?? '', 'nobody');
    const [before = ''] = await Promise.all(NAMES.map(recalled));
    await services.get('c')?.stop();
    const from = writeRandomAdapter(join(folder.path, 'peft'), { seed: 1, size: 0.4 });
    const health = await fetch(`${services.get('a')?.httpUrl}/health`);
    const { versions } = (await health.json()) as { versions: { model: string } };
    const pusher = client('a');
    const own = { holder: 'ann', leaseSeconds: 600 };
    const named = { name: 'main', baseModel: versions.model, ...own };
    const { version } = await pusher.pushFolder<{ version: { digest: string } }>(
      from,
      named,
      CALL_MS,
    );
    pusher.close();
    const activator = client('b');
    const act = { name: 'main', digest: version.digest };
    const other = { holder: 'bob', leaseSeconds: 600 };
    const refused = activator.call('Activate', Object.assign({}, act, { holder: 'bob' }), CALL_MS);
    await expect(refused).rejects.toThrow(/expected 'ann', which has the lease/);
    await activator.call('Activate', act, CALL_MS);
    const after = await recalled('a');
    expect(after).toContain(version.digest);
    expect(await recalled('b')).toBe(after);
    // A node that was away has the files and serves them before it is asked.
    services.set('c', await start('c', following()));
    expect(await recalled('c')).toBe(after);
    const late = client('c');
    const second = late.pushFolder(
      from,
      { name: 'main', baseModel: versions.model, ...other },
      CALL_MS,
    );
    await expect(second).rejects.toThrow(/expected 'ann', which has the lease/);
    late.close();
    await activator.call('Rollback', { name: 'main' }, CALL_MS);
    activator.close();
    expect(await Promise.all(NAMES.map(recalled))).toEqual([before, before, before]);
    const words = await Promise.all(NAMES.map(logOf));
    expect(new Set(words.map(({ offset, digest }) => `${offset} ${digest}`)).size).toBe(1);
  });

  it(
    'begin with a snapshot where entries that they need are gone',
    async () => {
      const { offset } = await logOf('c');
      await services.get('c')?.stop();
      const log = new EtcdLog(new NodeKey(new Etcd(etcd.address), 'tessera', 'by hand'));
      const after = await beginningOf(log);
      const entry = (n: number) =>
        entryText({ key: `filler ${n}`, kind: 'drop-version', body: { version: 'none' } });
      await Promise.all(Array.from({ length: ENTRIES }, (_, n) => log.append(entry(n), after)));
      // Behind two snapshots: a node may begin with the older one.
      let more = ENTRIES;
      await until('entries are gone', async () => {
        for (const end = more + 10; more < end; more += 1) await log.append(entry(more), after);
        return (await log.bounds()).first > offset + 1;
      });
      await log.close();
      await pause('b', '22');
      const [late, anew] = await Promise.all(['c', 'd'].map((name) => start(name, following())));
      services.set('c', late as Service).set('d', anew as Service);
      const paused = await Promise.all(['a', 'b', 'c', 'd'].map(pausedAt));
      expect(paused[0]).toMatch(/22$/);
      expect(new Set(paused).size).toBe(1);
      const words = await Promise.all(['a', 'b', 'c', 'd'].map(logOf));
      expect(new Set(words.map(({ digest }) => digest)).size).toBe(1);
    },
    ENTRIES_MS,
  );

  it('do not start with a log that has been emptied, and say what there is to choose', async () => {
    await stopAll();
    await etcd.stop();
    etcd = await startEtcdServer();
    const service = Service.launch({
      TESSERA_NODE_NAME: 'a',
      TESSERA_CATALOGUE_CHANGES_PATH: changesOf('a'),
      TESSERA_BEHAVIOURS_STORE: 'file',
      ...following(),
    });
    const { status, stderr } = await service.ended;
    expect(status).not.toBe(0);
    expect(stderr).toMatch(/LOG_DIFFERENT[\s\S]*a log that nobody has begun[\s\S]*continue/);
  });
});
