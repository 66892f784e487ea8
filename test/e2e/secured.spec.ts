/**
 * Two processes that speak TLS, ask every caller for a certificate and for a token, and call each
 * other so; and every command that calls a service.
 */

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { TesseraClient } from '@tessera/client';
import { freePort, temporaryFolder } from '@tessera/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeRandomAdapter } from './random-adapter.js';
import { Service } from './service.js';
import { pythonWith } from './trainer-python.js';

const folder = temporaryFolder({});
const place = (name: string) => join(folder.path, name);
const tls = (name: string) => join('test', 'fixtures', 'tls', name);
const RETRIEVAL = { main: 'dist/apps/standalone/src/main.js', printed: /OpenAPI {2}https:/ };
const FEATURE = { main: 'dist/apps/feature/src/main.js', printed: /metrics {2}https:/ };
const DEADLINE_MS = 20_000;
const PYTHON = pythonWith(['tessera_client']);

const SCOPES = {
  server: ['recall'],
  producer: ['behaviour:write', 'behaviour:erase'],
  trainer: ['push', 'read', 'activate'],
  retrieval: ['behaviour:read'],
  feature: ['kv'],
};

const edge = (area: string) => ({
  [`TESSERA_${area}_CERTIFICATE_PATH`]: tls('server.pem'),
  [`TESSERA_${area}_KEY_PATH`]: tls('server.key'),
  [`TESSERA_${area}_CLIENT_CA_PATH`]: tls('authority.pem'),
});

/** A service that asks for certificates and tokens, and calls others as `name`. */
const secured = (name: string) => ({
  ...edge('GRPC'),
  ...edge('HTTP'),
  TESSERA_ACCESS_TOKENS_PATH: place('tokens.json'),
  TESSERA_ACCESS_AUDIT_PATH: place(`${name}-audit.jsonl`),
  TESSERA_PEER_TLS: 'on',
  TESSERA_PEER_CA_PATH: tls('authority.pem'),
  TESSERA_PEER_CERTIFICATE_PATH: tls('client.pem'),
  TESSERA_PEER_KEY_PATH: tls('client.key'),
  TESSERA_PEER_TOKEN_PATH: place(name),
});

let feature: Service;
let retrieval: Service;

beforeAll(async () => {
  const grants = Object.entries(SCOPES).map(([name, scopes]) => {
    writeFileSync(place(name), `token-of-${name}\n`);
    const sha256 = createHash('sha256').update(`token-of-${name}`).digest('hex');
    return { name, scopes, sha256 };
  });
  writeFileSync(place('tokens.json'), JSON.stringify(grants));
  const port = await freePort();
  const stored = { TESSERA_BEHAVIOURS_STORE: 'embedded', TESSERA_BEHAVIOURS_PATH: place('store') };
  const followed = { TESSERA_BEHAVIOURS_RETRIEVAL: `127.0.0.1:${port}` };
  feature = await Service.start({ ...secured('feature'), ...stored, ...followed }, [], FEATURE);
  const serves = { TESSERA_GRPC_PORT: String(port), TESSERA_ADAPTERS_PATH: place('adapters') };
  const asks = ['--behaviours', feature.grpcAddress];
  retrieval = await Service.start({ ...secured('retrieval'), ...serves }, asks, RETRIEVAL);
});

afterAll(async () => {
  await retrieval?.stop();
  await feature?.stop();
  folder.remove();
});

const pem = (name: string) => readFileSync(tls(name));
const FILES = { ca: pem('authority.pem'), cert: pem('client.pem'), key: pem('client.key') };
const FLAGS = [
  '--ca',
  tls('authority.pem'),
  '--cert',
  tls('client.pem'),
  '--key',
  tls('client.key'),
];
/** Certificates name hosts; an address in place of a name is warned of by Node. */
const named = (address: string) => address.replace('127.0.0.1', 'localhost');
const as = (name: string) => ['--token-file', place(name)];

interface Ran {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function ran(program: string, words: readonly string[], variables = {}): Promise<Ran> {
  const env = { PATH: process.env.PATH, ...variables };
  try {
    return { status: 0, ...(await promisify(execFile)(program, words, { env })) };
  } catch (thrown) {
    const { code, stdout, stderr } = thrown as { code: number; stdout: string; stderr: string };
    return { status: code, stdout, stderr };
  }
}

const command = (name: string, words: readonly string[], variables = {}) =>
  ran(process.execPath, [`dist/${name}.js`, ...words], variables);

describe('processes that ask each other for certificates and tokens', () => {
  it('give a recall the behaviours of its user, and erase what the other has of it', async () => {
    const connection = { isTls: true, files: FILES };
    const client = (at: Service, name: string) =>
      new TesseraClient(at.grpcAddress, {
        connection: { ...connection, token: `token-of-${name}` },
      });
    const [behaviours, recalls] = [client(feature, 'producer'), client(retrieval, 'server')];
    const event = { userId: 'u', itemId: '5', eventId: 'a', action: 'click', scene: {} };
    await behaviours.append([{ ...event, timeMs: Date.now() }], DEADLINE_MS);
    const { historyItems } = await recalls.recall({ userId: 'u' }, DEADLINE_MS);
    expect(historyItems).toBe(1);
    expect(await behaviours.erase('u', DEADLINE_MS)).toEqual({ known: true });
    const erased = recalls.recall({ userId: 'u', requireHistory: true }, DEADLINE_MS);
    await expect(erased).rejects.toMatchObject({
      code: 'USER_NOT_FOUND',
    });
    await expect(behaviours.dropUser('u', DEADLINE_MS)).rejects.toMatchObject({
      code: 'ROUTE_NOT_FOUND',
    });
    behaviours.close();
    recalls.close();
    const audits = (name: string) =>
      readFileSync(place(`${name}-audit.jsonl`), 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line))
        .map(({ action, actor, name: of, outcome }) => `${action} ${actor} ${of} ${outcome}`);
    expect(audits('feature')).toContain('erase-user producer u OK');
    await expect.poll(() => audits('retrieval')).toContain('drop-user feature u OK');
  });
});

describe('commands that call a service', () => {
  const at = () => ['--address', named(retrieval.grpcAddress)];

  it('come in by certificate and token, and not without', async () => {
    const good = [...at(), ...FLAGS, ...as('trainer')];
    const ran = await Promise.all([
      command('tools/adapter', ['list', ...good]),
      command('tools/catalogue', ['state', ...good]),
      command('tools/weights', ['show', ...good]),
      command('tools/adapter', ['list', ...at(), ...FLAGS], { TESSERA_TOKEN: 'token-of-trainer' }),
      command('tools/adapter', ['list', ...at(), ...as('trainer')]),
      command('tools/catalogue', ['state', ...at(), ...FLAGS]),
      command('tools/weights', ['show', ...at(), ...FLAGS, ...as('server')]),
    ]);
    const ends = ran.map(({ status, stderr }) => `${status} ${/^\w*/.exec(stderr)?.[0]}`);
    expect(ends).toEqual([
      ...['0 ', '0 ', '0 ', '0 '],
      ...['1 ENGINE_UNAVAILABLE', '1 UNAUTHENTICATED', '1 PERMISSION_DENIED'],
    ]);
  });

  it('push an adapter, asking over HTTPS what is served', async () => {
    const from = writeRandomAdapter(place('peft'), { seed: 3, size: 0.4 });
    const words = ['push', from, ...at(), '--http', named(retrieval.httpUrl), '--json'];
    const { stdout, stderr } = await command('tools/adapter', [
      ...words,
      ...FLAGS,
      ...as('trainer'),
    ]);
    expect([stderr, JSON.parse(stdout || '{}').version?.state]).toEqual(['', 'STATE_VALIDATED']);
    const listed = await command('tools/adapter', ['list', ...at(), ...FLAGS, ...as('trainer')]);
    expect(listed.stdout).toMatch(/^main +[0-9a-f]{64} +validated /m);
    const away = ['push', from, ...at(), '--http', 'http://127.0.0.1:1', ...as('trainer')];
    const refused = await command('tools/adapter', [...away, ...FLAGS]);
    expect(refused.stderr).toContain('--http: expected a service at http://127.0.0.1:1/health');
  });

  it('push an adapter for the weights of a service that is not ready', async () => {
    const model = 'e'.repeat(64);
    const unready = createServer((_, reply) => {
      reply.writeHead(503, { 'content-type': 'application/json' });
      reply.end(JSON.stringify({ ready: false, versions: { model } }));
    });
    await new Promise<void>((resolve) => unready.listen(0, '127.0.0.1', resolve));
    const { port } = unready.address() as AddressInfo;
    const from = writeRandomAdapter(place('unready'), { seed: 4, size: 0.4 });
    const words = ['push', from, ...at(), '--http', `http://127.0.0.1:${port}`, '--json'];
    const ran = await command('tools/adapter', [...words, ...FLAGS, ...as('trainer')]);
    unready.close();
    expect(ran.status).toBe(1);
    expect(ran.stderr).toContain(model);
    expect(ran.stderr).not.toContain('--http');
  });

  it('recall and report as the examples do', async () => {
    const asked = [
      '--users',
      'new',
      '--address',
      named(retrieval.grpcAddress),
      '--deadline-ms',
      '20000',
    ];
    const server = await command('examples/ad-server', [...asked, ...FLAGS, ...as('server')]);
    expect([server.stderr, server.stdout]).toEqual(['', expect.stringContaining('no-history')]);
    const event = ['--user', 'new', '--items', '5,9', '--address', named(feature.grpcAddress)];
    const done = await command('examples/event-producer', [...event, ...FLAGS, ...as('producer')]);
    expect([done.stderr, done.stdout]).toEqual(['', '2 behaviours of user new reported\n']);
    const again = await command('examples/ad-server', [...asked, ...FLAGS, ...as('server')]);
    expect(again.stdout).not.toContain('no-history');
  });

  it('say which file of TLS is wrong', async () => {
    const key = ['--ca', tls('authority.pem'), '--cert', tls('client.pem'), '--key'];
    const other = await command('tools/weights', ['show', ...at(), ...key, tls('server.key')]);
    expect(other.stderr).toMatch(/^CONFIG_INVALID \(--key\): --key: expected the private key of/);
    const absent = await command('tools/weights', ['show', ...at(), '--ca', 'no-such-file']);
    expect(absent.stderr).toMatch(/^CONFIG_INVALID \(--ca\): --ca: expected a readable file/);
  });

  const ofTrainer = it.skipIf(PYTHON === undefined);
  if (PYTHON === undefined) console.log('secured.spec: push skipped, no Python has tessera_client');
  ofTrainer("push with the trainer's command", async () => {
    const from = writeRandomAdapter(place('peft'), { seed: 3, size: 0.4 });
    const words = ['-m', 'trainer', 'push', from, ...at(), ...FLAGS];
    const pushed = await ran(PYTHON as string, [...words, ...as('trainer')]);
    expect(pushed.stdout).toMatch(/^valid: main [0-9a-f]{64}/);
    const ofVariable = await ran(PYTHON as string, words, { TESSERA_TOKEN: 'token-of-trainer' });
    expect(ofVariable).toEqual(pushed);
    const nobody = await ran(PYTHON as string, words);
    expect(nobody.stderr).toContain('UNAUTHENTICATED');
  });
});
