/** Contract of every entry store: a folder, an independent S3 server, and one in memory. */

import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import {
  MemoryEntryStore,
  S3_CREDENTIALS,
  type S3Server,
  startS3Server,
  temporaryFolder,
} from '@tessera/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type EntryStore, openEntryStore } from './index.js';

const home = temporaryFolder({});
const folder = join(home.path, 'entries');
const settings = { endpoint: '', region: 'us-east-1', isPathStyle: true, timeoutMs: 20_000 };
let server: S3Server;
beforeAll(async () => {
  server = await startS3Server('entries');
});
afterAll(async () => {
  await server.stop();
  home.remove();
});
beforeEach(() => {
  for (const [name, value] of Object.entries(S3_CREDENTIALS)) vi.stubEnv(name, value);
});
afterEach(() => vi.unstubAllEnvs());

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (content: Uint8Array) => new TextDecoder().decode(content);
const inS3 = (endpoint: string) =>
  openEntryStore('s3://entries/some/prefix', { ...settings, endpoint });

const stores: readonly [string, () => EntryStore][] = [
  ['a folder', () => openEntryStore(folder, settings)],
  ['S3', () => inS3(server.url)],
  ['memory', () => memory],
];
const memory = new MemoryEntryStore();

describe.each(stores)('an entry store in %s', (_name, open) => {
  it('gives what was put, and keeps what is there already', async () => {
    const store = open();
    await store.put('a/one', bytes('first'));
    await store.put('a/one', bytes('second'));
    expect(text(await store.get('a/one'))).toBe('first');
    await store.put('empty', bytes(''));
    expect(text(await open().get('empty'))).toBe('');
  });

  it('gives files', async () => {
    const store = open();
    const [source, target] = [join(home.path, 'source'), join(home.path, 'target')];
    const content = Buffer.alloc(3 << 20, 'tea ');
    writeFileSync(source, content);
    await store.putFile('files/one', source);
    writeFileSync(source, 'changed');
    await store.putFile('files/one', source);
    writeFileSync(target, 'an older one');
    await store.getFile('files/one', target);
    expect(readFileSync(target).equals(content)).toBe(true);
    expect(readdirSync(home.path).filter((name) => name.startsWith('target'))).toEqual(['target']);
  });

  it('lists names below a prefix, and removes them', async () => {
    const store = open();
    for (const name of ['l/1', 'l/2', 'm/1']) await store.put(name, bytes(name));
    expect(await store.list('l/')).toEqual(['l/1', 'l/2']);
    await store.remove('l/1');
    await store.remove('l/1');
    expect(await store.list('l/')).toEqual(['l/2']);
    expect(await store.list('nothing/')).toEqual([]);
  });

  it('says that a name is not there', async () => {
    const store = open();
    const target = join(home.path, 'missing');
    await expect(store.get('missing')).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
    await expect(store.getFile('missing', target)).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
    expect(existsSync(target)).toBe(false);
  });
});

describe.each(stores.slice(0, 2))('an entry store in %s', (_name, open) => {
  it.each(['../out', '/etc/passwd', 'a/../b', 'a//b', '', '.partial/x', 'a b'])(
    'refuses the name %j',
    async (name) => {
      const refused = expect.objectContaining({ code: 'REQUEST_INVALID', field: 'name' });
      await expect(open().get(name)).rejects.toEqual(refused);
      await expect(open().put(name, bytes('x'))).rejects.toEqual(refused);
      await expect(open().remove(name)).rejects.toEqual(refused);
    },
  );
});

it('leaves nothing half written in a folder', async () => {
  const store = openEntryStore(folder, settings);
  await expect(store.putFile('half', join(home.path, 'not there'))).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
  });
  expect(readdirSync(join(folder, '.partial'))).toEqual([]);
  expect(await store.list('')).not.toContain('half');
});

it('is away where its folder cannot be used', async () => {
  symlinkSync('/dev/null', join(home.path, 'no-folder'));
  const store = openEntryStore(join(home.path, 'no-folder'), settings);
  await expect(store.put('x', bytes('x'))).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  const unmounted = openEntryStore(join(home.path, 'unmounted'), settings);
  await expect(unmounted.get('x')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
});

describe('an S3 server', () => {
  /** Answers like this, and tells of each request. */
  async function answering(status: (method: string, condition: string | undefined) => number) {
    const seen: string[] = [];
    const http = createServer((request, response) => {
      const condition = request.headers['if-none-match'];
      seen.push(`${request.method} ${condition ?? ''}`.trim());
      request.resume().on('end', () => {
        response.writeHead(status(request.method ?? '', condition)).end();
      });
    });
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    const { port } = http.address() as AddressInfo;
    const stop = () => http.closeAllConnections();
    return { store: inS3(`http://127.0.0.1:${port}`), seen, stop: () => http.close(stop) };
  }

  it('that knows no conditions is asked without', async () => {
    const { store, seen, stop } = await answering((method, condition) =>
      method === 'HEAD' ? 404 : condition === undefined ? 200 : 501,
    );
    await store.put('x', bytes('x'));
    expect(seen[0]).toBe('HEAD');
    expect(seen.at(-2)).toBe('PUT *');
    expect(seen.at(-1)).toBe('PUT');
    stop();
  });

  it('that has the name by now keeps it', async () => {
    let heads = 0;
    const { store, stop } = await answering((method) => {
      if (method !== 'HEAD') return 412;
      heads += 1;
      return heads === 1 ? 404 : 200;
    });
    await store.put('x', bytes('x'));
    stop();
  });

  it('that has no space left, or does not answer, is told apart', async () => {
    const full = await answering((method) => (method === 'HEAD' ? 404 : 507));
    await expect(full.store.put('x', bytes('x'))).rejects.toMatchObject({ code: 'STORE_FULL' });
    full.stop();
    const gone = inS3('http://127.0.0.1:1');
    await expect(gone.get('x')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await expect(gone.list('')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });
});

it('takes a file that is too large for one request in parts, once', async () => {
  const own = { ...settings, endpoint: server.url, wholeBytesMax: 2 ** 20 };
  const store = openEntryStore('s3://entries/large', own);
  const [from, to] = [join(home.path, 'large'), join(home.path, 'large.again')];
  const content = Buffer.alloc(20 * 2 ** 20, 'some bytes');
  writeFileSync(from, content);
  await store.putFile('large', from);
  await store.putFile('large', from);
  await store.getFile('large', to);
  expect(readFileSync(to).equals(content)).toBe(true);
  const cut = openEntryStore('s3://entries/large', { ...own, endpoint: 'http://127.0.0.1:1' });
  await expect(cut.putFile('x', from)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
});

/** Sends a part now and then, of many: more time in all than the limit, and none between. */
it('reads a large object for as long as bytes come, and gives up where none do', async () => {
  const [parts, limitMs] = [24, 400];
  const http = createServer((request, response) => {
    if (request.url?.includes('silent') || request.url?.includes('list-type')) return;
    response.writeHead(200, { 'content-length': String(parts) });
    let sent = 0;
    const timer = setInterval(() => {
      response.write('x');
      sent += 1;
      if (sent === parts) clearInterval(timer);
    }, limitMs / 8);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  const own = { ...settings, endpoint: `http://127.0.0.1:${port}`, timeoutMs: limitMs };
  const store = openEntryStore('s3://bucket', own);
  expect(await store.get('slow')).toHaveLength(parts);
  const away = { code: 'STORE_UNAVAILABLE' };
  await expect(store.get('silent')).rejects.toMatchObject(away);
  await expect(store.list('')).rejects.toMatchObject(away);
  http.closeAllConnections();
  http.close();
});

it.each(['entries', './entries', 's3://', 's3://bucket/../x', 'http://x/y', ''])(
  'no store is at %j',
  (location) => {
    expect(() => openEntryStore(location, settings)).toThrow(/cluster.logStore: expected/);
  },
);
