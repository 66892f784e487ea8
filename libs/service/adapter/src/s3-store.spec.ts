/** Versions in a store: an independent server, and servers that misbehave. */

import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TesseraError } from '@tessera/errors';
import {
  fakePush,
  S3_CREDENTIALS,
  type S3Server,
  startS3Server,
  temporaryFolder,
} from '@tessera/testing';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { AnnouncedVersions, type PushPart, type S3Settings, S3Store } from './index.js';

const push = fakePush('main', 'weights');
const [config = Buffer.of(), weights = Buffer.of()] = push.contents;
const sha256 = Object.fromEntries(push.header.files.map((file) => [file.name, file.sha256]));
const BUCKET = 'adapters';
const FOLDER = `s3://${BUCKET}/trained/one/`;
const never = new AbortController().signal;

let good: S3Server;
const home = temporaryFolder({});
beforeAll(async () => {
  good = await startS3Server(BUCKET);
  await good.put('trained/one/adapter_config.json', config);
  await good.put('trained/one/adapter_model.safetensors', weights);
  await good.put('trained/one/optimizer.pt', Buffer.alloc(1 << 20));
  await good.put('trained/half/adapter_config.json', config);
});
afterAll(async () => {
  await good.stop();
  home.remove();
});
beforeEach(() => {
  for (const [name, value] of Object.entries(S3_CREDENTIALS)) vi.stubEnv(name, value);
});
const servers: Server[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
});

function versions(endpoint: string, changed: Partial<S3Settings> = {}, bytesMax = 1 << 20) {
  const settings = {
    endpoint,
    region: 'us-east-1',
    buckets: [BUCKET],
    isPathStyle: true,
    timeoutMs: 20_000,
    ...changed,
  };
  return new AnnouncedVersions({ folder: '', store: new S3Store(settings), bytesMax });
}

const announced = (location = FOLDER, digests: Record<string, string> = {}) => ({
  name: 'main',
  baseModel: 'fake-model',
  location,
  sha256: digests,
});

async function partsOf(parts: AsyncIterable<PushPart>): Promise<PushPart[]> {
  const all = [];
  for await (const part of parts) all.push(part);
  return all;
}

/** Code, field and message of the refusal. */
async function refusal(act: () => AsyncIterable<PushPart>): Promise<string> {
  try {
    await partsOf(act());
  } catch (thrown) {
    const { code, field, message } = TesseraError.from(thrown);
    return `${code} ${field} ${message}`;
  }
  return 'none';
}

async function misbehaving(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A store that answers well when it is looked at, and as the test wants when it is read. */
function wellUntilRead(read: RequestListener): RequestListener {
  return (request, reply) => {
    const content = request.url?.includes('config') === true ? config : weights;
    if (request.method !== 'HEAD') return read(request, reply);
    if (!/adapter_/.test(request.url ?? '')) return void reply.writeHead(404).end();
    reply.writeHead(200, { 'content-length': content.length, etag: '"one"' }).end();
  };
}

it.each([
  ['digests that are announced', sha256],
  ['digests that it finds itself', {}],
])('is a push of the two objects, with %s', async (_, digests) => {
  const parts = await partsOf(versions(good.url).parts(announced(FOLDER, digests), never));
  const data = parts.flatMap((part) => ('data' in part ? [part.data] : []));
  expect(parts[0]).toEqual({ header: { ...push.header, remark: `announced at ${FOLDER}` } });
  expect(Buffer.concat(data)).toEqual(Buffer.concat([config, weights]));
  expect(parts.at(-1)).toEqual({ isEnd: true });
});

it('reads no object before the push wants its bytes, where the digests are announced', async () => {
  const asked: string[] = [];
  const url = await misbehaving(
    wellUntilRead(({ method, url: path }, reply) => {
      asked.push(`${method} ${path?.split('?')[0]}`);
      reply.writeHead(500).end();
    }),
  );
  const parts = versions(url).parts(announced(FOLDER, sha256), never)[Symbol.asyncIterator]();
  expect((await parts.next()).value).toHaveProperty('header');
  expect(asked).toEqual([]);
  await expect(parts.next()).rejects.toMatchObject({ code: 'ADAPTER_SOURCE_UNAVAILABLE' });
  expect(asked).toEqual([`GET /${BUCKET}/trained/one/adapter_config.json`]);
});

it.each([
  ['a bucket that is not allowed', 's3://another/one/', 'ADAPTER_INVALID location'],
  ['no bucket', 's3:///one/', 'ADAPTER_INVALID location'],
  ['a path upwards', `s3://${BUCKET}/one/../two/`, 'ADAPTER_INVALID location'],
  ['a part that is empty', `s3://${BUCKET}/one//two/`, 'ADAPTER_INVALID location'],
  ['a control character', `s3://${BUCKET}/one\n/`, 'ADAPTER_INVALID location'],
  ['a long prefix', `s3://${BUCKET}/${'x'.repeat(1024)}/`, 'ADAPTER_INVALID location'],
  ['a prefix without objects', `s3://${BUCKET}/gone/`, 'ADAPTER_NOT_FOUND location'],
  ['half of the objects', `s3://${BUCKET}/trained/half/`, 'ADAPTER_NOT_FOUND location'],
  ['a folder where there is none', 'trained/one', 'ADAPTER_INVALID location'],
])('refuses %s', async (_, location, expected) => {
  const all = await refusal(() => versions(good.url).parts(announced(location), never));
  expect(all.startsWith(`${expected} `), all).toBe(true);
});

it('refuses a bucket that the store does not have', async () => {
  const other = versions(good.url, { buckets: ['absent'] });
  const all = await refusal(() => other.parts(announced('s3://absent/one/'), never));
  expect(all).toMatch(/^ADAPTER_NOT_FOUND location /);
});

it('refuses a store where none is configured', async () => {
  const none = new AnnouncedVersions({ folder: '/tmp', store: undefined, bytesMax: 1 });
  expect(await refusal(() => none.parts(announced(), never))).toMatch(
    /^ADAPTER_INVALID location .*adapters\.s3Buckets/,
  );
});

it('refuses what is larger than a push may be, before it reads any of it', async () => {
  const small = versions(good.url, {}, config.length + weights.length - 1);
  expect(await refusal(() => small.parts(announced(), never))).toMatch(/^ADAPTER_INVALID files /);
});

it.each([
  [403, 'ADAPTER_SOURCE_DENIED'],
  [404, 'ADAPTER_NOT_FOUND'],
  [400, 'ADAPTER_INVALID'],
  [301, 'ADAPTER_INVALID'],
  [412, 'ADAPTER_SOURCE_UNAVAILABLE'],
  [429, 'ADAPTER_SOURCE_UNAVAILABLE'],
  [500, 'ADAPTER_SOURCE_UNAVAILABLE'],
  [503, 'ADAPTER_SOURCE_UNAVAILABLE'],
])('says what a status of %d is', async (status, code) => {
  const url = await misbehaving(
    wellUntilRead((_, reply) => {
      reply.writeHead(status).end('<Error><Code>Told</Code><Message>why</Message></Error>');
    }),
  );
  const all = await refusal(() => versions(url).parts(announced(FOLDER, sha256), never));
  expect(all.startsWith(`${code} location `), all).toBe(true);
});

it('refuses a caller without credentials as one who is not let in', async () => {
  vi.unstubAllEnvs();
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_PROFILE']) {
    vi.stubEnv(name, undefined);
  }
  vi.stubEnv('HOME', home.path);
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
  expect(await refusal(() => versions(good.url).parts(announced(), never))).toMatch(
    /^ADAPTER_SOURCE_DENIED location /,
  );
});

it.each([
  ['in a hash', {}],
  ['in a push', sha256],
])('notices a body that is cut off %s', async (_, digests) => {
  const url = await misbehaving(
    wellUntilRead((request, reply) => {
      const content = request.url?.includes('config') === true ? config : weights;
      reply.writeHead(200, { 'content-length': content.length });
      if (content === config) return void reply.end(content);
      reply.write(content.subarray(0, 3), () => request.socket.destroy());
    }),
  );
  const all = await refusal(() => versions(url).parts(announced(FOLDER, digests), never));
  expect(all).toMatch(/^ADAPTER_SOURCE_UNAVAILABLE location .*after 3 of 7 bytes/);
});

it.each([
  ['shorter', weights.subarray(1), /expected 7 bytes, got 6 and then the end/],
  ['longer', Buffer.concat([weights, weights]), /expected 7 bytes, got more/],
])('notices a body that is %s than it was', async (_, body, expected) => {
  const url = await misbehaving(
    wellUntilRead((request, reply) => {
      reply.end(request.url?.includes('config') === true ? config : body);
    }),
  );
  const all = await refusal(() => versions(url).parts(announced(FOLDER, sha256), never));
  expect(all).toMatch(expected);
});

it('asks for the content that it looked at, and no other', async () => {
  let wanted: string | undefined;
  const url = await misbehaving(
    wellUntilRead((request, reply) => {
      wanted = request.headers['if-match'];
      reply.writeHead(412).end();
    }),
  );
  await refusal(() => versions(url).parts(announced(), never));
  expect(wanted).toBe('"one"');
});

it.each([
  ['that does not answer', (() => undefined) as RequestListener],
  [
    'that stops in the middle',
    wellUntilRead((_, reply) => {
      reply.writeHead(200, { 'content-length': config.length }).write('{');
    }),
  ],
])('waits no longer than allowed for a store %s', async (_, listener) => {
  const url = await misbehaving(listener);
  const impatient = versions(url, { timeoutMs: 300 });
  expect(await refusal(() => impatient.parts(announced(FOLDER, sha256), never))).toMatch(
    /^ADAPTER_SOURCE_UNAVAILABLE location .*within 300 ms/,
  );
});

it('is broken off by its signal', async () => {
  const end = new AbortController();
  const url = await misbehaving(() => end.abort());
  expect(await refusal(() => versions(url).parts(announced(), end.signal))).toMatch(
    /^ADAPTER_SOURCE_UNAVAILABLE location /,
  );
});

it('says that a store is away', async () => {
  const url = await misbehaving(() => undefined);
  const [server] = servers.splice(0);
  server?.close();
  await once(server as Server, 'close');
  expect(await refusal(() => versions(url).parts(announced(), never))).toMatch(
    /^ADAPTER_SOURCE_UNAVAILABLE location .*ECONNREFUSED/,
  );
});
