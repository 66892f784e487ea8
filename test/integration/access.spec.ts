/** Every method and route with no, wrong and right access, on a loopback address and beyond. */

import 'reflect-metadata';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { join } from 'node:path';
import * as grpc from '@grpc/grpc-js';
import { ROLES, reachOf, SCOPES, type Scope } from '@tessera/access';
import type { BehaviourLog } from '@tessera/behaviour';
import { loadConfig } from '@tessera/config';
import { TesseraError } from '@tessera/errors';
import type { Serving } from '@tessera/hosting';
import { createLog } from '@tessera/telemetry';
import { temporaryFolder } from '@tessera/testing';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { serve } from '../../apps/standalone/src/serve.js';
import { METHOD_RULES, ROUTE_RULES } from '../contract/access-rules.js';
import { FakeRuntime } from './fake-runtime.js';

const folder = temporaryFolder({});
const tokensPath = join(folder.path, 'tokens.json');
const auditPath = join(folder.path, 'audit.jsonl');
const sha256 = (token: string) => createHash('sha256').update(token).digest('hex');
/** A token of each scope alone, called by it. */
const GRANTS = SCOPES.map((scope) => ({
  name: scope,
  scopes: [scope],
  sha256: sha256(`token-of-${scope}`),
}));
writeFileSync(
  tokensPath,
  JSON.stringify([
    ...GRANTS,
    { name: 'robot', certificate: 'robot.example', scopes: ['metrics', 'catalogue:read'] },
  ]),
);
const bearer = (scope: string) => `Bearer token-of-${scope}`;

const known = {
  append: async () => [],
  erase: async () => true,
  putProfile: async () => undefined,
};
const LOG = { ...known, user: async () => null, close: async () => undefined };

class Runtime extends FakeRuntime {
  override readonly behaviourLog = LOG as Partial<BehaviourLog> as BehaviourLog;
}

let serving: Serving | undefined;

async function start(variables: Readonly<Record<string, string>>): Promise<Serving> {
  const { config } = loadConfig({
    environment: {
      TESSERA_HTTP_PORT: '0',
      TESSERA_GRPC_PORT: '0',
      TESSERA_INSPECTION_PATH: '',
      TESSERA_ACCESS_AUDIT_PATH: auditPath,
      ...variables,
    },
  });
  const parts = { runtime: new Runtime(), log: createLog('silent'), serviceVersion: '1.2.3' };
  serving = await serve({ config, ...parts });
  return serving;
}

afterEach(async () => {
  await serving?.drain.run();
  serving = undefined;
});
afterAll(() => folder.remove());

const EVERYWHERE = { TESSERA_GRPC_HOST: '0.0.0.0', TESSERA_HTTP_HOST: '0.0.0.0' };
const TOKENS = { TESSERA_ACCESS_TOKENS_PATH: tokensPath };
/** The port that was given, on this machine. */
const here = (address: string) => address.replace('0.0.0.0', '127.0.0.1');

/** Code that a call of an empty message ends with; all kinds of calls are alike on the wire. */
function grpcCode(client: grpc.Client, path: string, authorization?: string): Promise<number> {
  const metadata = new grpc.Metadata();
  if (authorization !== undefined) metadata.set('authorization', authorization);
  const pass = (bytes: Buffer) => bytes;
  const call = client.makeBidiStreamRequest(path, pass, pass, metadata);
  return new Promise((resolve) => {
    call.on('error', () => undefined);
    // Health and reflection answer without end.
    call.on('data', () => {
      resolve(grpc.status.OK);
      call.cancel();
    });
    call.on('status', ({ code }) => resolve(code));
    call.end(Buffer.alloc(0));
  });
}

async function httpStatus(route: string, authorization?: string): Promise<number> {
  const [method = '', path = ''] = route.split(' ');
  const url = here(serving?.httpUrl ?? '') + path.replaceAll(/:\w+|\*/g, 'x');
  const reply = await fetch(url, {
    method,
    redirect: 'manual',
    headers: {
      'x-tessera-console': '1',
      ...(method === 'POST' && { 'content-type': 'application/json' }),
      ...(authorization !== undefined && { authorization }),
    },
    ...(method === 'POST' && { body: '{}' }),
  });
  await reply.arrayBuffer();
  return reply.status;
}

const { UNAUTHENTICATED, PERMISSION_DENIED } = grpc.status;
const isRefused = (code: number) => code === UNAUTHENTICATED || code === PERMISSION_DENIED;
const asIn = (status: number) => (status === 401 ? 'nobody' : status === 403 ? 'denied' : 'in');
const asInGrpc = (code: number) =>
  code === UNAUTHENTICATED ? 'nobody' : code === PERMISSION_DENIED ? 'denied' : 'in';

/** The scopes whose token lets in, restated from the need of a rule. */
function letsIn(need: (typeof ROUTE_RULES)[string]['need'], scope: Scope): boolean {
  if (need === 'open') return true;
  if ('scope' in need) return reachOf([scope]).has(need.scope);
  const roles = ROLES.slice(ROLES.indexOf(need.role));
  return (roles as readonly string[]).includes(scope);
}

/** No token, one that nobody knows, and one of each scope. */
/** Those of a service; a gateway's are asked for in gateway.spec.ts. */
const ROUTES = Object.entries(ROUTE_RULES).filter(([route]) => !route.includes('/v1/cluster'));
const CALLERS = [undefined, 'Bearer guessed', 'Basic eDp5', ...SCOPES.map(bearer)];

function expected(need: (typeof ROUTE_RULES)[string]['need']): string[] {
  const unknown = need === 'open' ? 'in' : 'nobody';
  const byScope = SCOPES.map((scope) => {
    if (letsIn(need, scope)) return 'in';
    // A token without a role of the console is nobody there.
    const isPage = need !== 'open' && 'role' in need;
    return isPage && !(ROLES as readonly string[]).includes(scope) ? 'nobody' : 'denied';
  });
  return [unknown, unknown, unknown, ...byScope];
}

describe.each([
  ['a loopback address', {}],
  ['every address', EVERYWHERE],
])('with a file of tokens on %s', (_name, where) => {
  it('every method lets in as the access table says', async () => {
    const { grpcAddress } = await start({ ...where, ...TOKENS });
    const client = new grpc.Client(here(grpcAddress), grpc.credentials.createInsecure());
    for (const [path, { need }] of Object.entries(METHOD_RULES)) {
      const codes = await Promise.all(CALLERS.map((caller) => grpcCode(client, path, caller)));
      expect(codes.map(asInGrpc), path).toEqual(expected(need));
    }
    client.close();
  });

  it('every route lets in as the access table says', async () => {
    await start({ ...where, ...TOKENS });
    for (const [route, { need }] of ROUTES) {
      const statuses = await Promise.all(CALLERS.map((caller) => httpStatus(route, caller)));
      expect(statuses.map(asIn), route).toEqual(expected(need));
    }
  });
});

it('without a file of tokens a loopback address lets everybody in', async () => {
  const { grpcAddress } = await start({});
  const client = new grpc.Client(grpcAddress, grpc.credentials.createInsecure());
  for (const path of Object.keys(METHOD_RULES)) {
    expect(isRefused(await grpcCode(client, path)), path).toBe(false);
  }
  for (const [route] of ROUTES) {
    expect(asIn(await httpStatus(route)), route).toBe('in');
  }
  client.close();
});

describe('beyond a loopback address without a file of tokens', () => {
  it.each([
    ['gRPC', { TESSERA_GRPC_HOST: '0.0.0.0' }, 'grpc.host'],
    ['HTTP', { TESSERA_HTTP_HOST: '::' }, 'http.host'],
    ['gRPC as a name that begins so', { TESSERA_GRPC_HOST: '127.0.0.1.example' }, 'grpc.host'],
  ])('%s is not served, and the remedy is named', async (_name, variables, field) => {
    const refused = await start(variables).catch((error: unknown) => TesseraError.from(error));
    expect(refused).toMatchObject({ code: 'CONFIG_INVALID', field });
    const { message } = refused as TesseraError;
    expect(message).toContain('access.tokensPath');
    expect(message).toContain('access.mode');
  });

  it.each(['127.1', '::1', '::ffff:127.0.0.1'])('%s is none, and serves', async (host) => {
    const { grpcAddress } = await start({ TESSERA_GRPC_HOST: host, TESSERA_HTTP_HOST: host });
    const client = new grpc.Client(grpcAddress, grpc.credentials.createInsecure());
    expect(await grpcCode(client, '/grpc.health.v1.Health/Check')).toBe(grpc.status.OK);
    client.close();
  });

  it('everybody is let in where that is said, but to the console', async () => {
    const { grpcAddress } = await start({ ...EVERYWHERE, TESSERA_ACCESS_MODE: 'open' });
    const client = new grpc.Client(here(grpcAddress), grpc.credentials.createInsecure());
    for (const path of Object.keys(METHOD_RULES)) {
      expect(isRefused(await grpcCode(client, path)), path).toBe(false);
    }
    client.close();
    for (const [route, { need }] of ROUTES) {
      const isPage = need !== 'open' && 'role' in need;
      expect(asIn(await httpStatus(route)), route).toBe(isPage ? 'nobody' : 'in');
    }
    const metrics = await (await fetch(`${here(serving?.httpUrl ?? '')}/metrics`)).text();
    expect(metrics).toMatch(/^tessera_access_open 1$/m);
  });

  it('a file of tokens and open doors contradict each other', () => {
    const environment = { ...TOKENS, TESSERA_ACCESS_MODE: 'open' };
    expect(() => loadConfig({ environment })).toThrow(/access\.mode: expected 'guarded'/);
  });
});

const JSON_BODY = { 'content-type': 'application/json', 'content-length': '2' };

/** Status and field of the refusal of a request with headers that fetch() does not let be set. */
function asked(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<{ status: number; field: string }> {
  const { port } = new URL(serving?.httpUrl ?? '');
  const body = method === 'POST' ? '{}' : undefined;
  const options = { host: '127.0.0.1', port, method, path };
  const all = { ...(body && JSON_BODY), ...headers };
  return new Promise((resolve, reject) => {
    const call = requestHttp({ ...options, headers: all }, (reply) => {
      const chunks: Buffer[] = [];
      reply.on('data', (chunk: Buffer) => chunks.push(chunk));
      reply.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const { error } = text.startsWith('{') ? JSON.parse(text) : { error: undefined };
        resolve({ status: reply.statusCode ?? 0, field: error?.field ?? '' });
      });
    });
    call.on('error', reject);
    call.end(body);
  });
}

describe('the host that is asked for', () => {
  const EVIL = ['evil.example', '127.0.0.999', '127.0.0.1.evil.example', '10.0.0.1', 'a b'];

  it('is a name of this machine on a loopback address, on every route', async () => {
    await start({});
    for (const [route] of ROUTES) {
      const [method = '', path = ''] = route.split(' ');
      const got = await asked(method, path, { host: 'evil.example:8080' });
      expect(got, route).toEqual({ status: 403, field: 'host' });
    }
    for (const host of EVIL) {
      const got = await asked('POST', '/v1/kv/drop-user', { host });
      expect([host, got]).toEqual([host, { status: 403, field: 'host' }]);
    }
    for (const host of ['127.0.0.1:1', 'localhost', '[::1]:8080', '127.1', 'LocalHost:80']) {
      expect([host, (await asked('GET', '/health', { host })).status]).toEqual([host, 200]);
    }
  });

  it('may be one that is listed, and that of the address for people', async () => {
    await start({
      TESSERA_HTTP_PUBLIC_NAMES: 'recall.internal, other.example:8443',
      TESSERA_LOGIN_PUBLIC_URL: 'https://people.example',
    });
    const status = async (host: string) => (await asked('GET', '/health', { host })).status;
    const names = ['recall.internal:8080', 'other.example', 'people.example', 'localhost'];
    for (const host of names) expect([host, await status(host)]).toEqual([host, 200]);
    for (const host of EVIL) expect([host, await status(host)]).toEqual([host, 403]);
  });

  it('beyond loopback is any where tokens are needed, else an address or one listed', async () => {
    const status = async (host: string) => (await asked('GET', '/health', { host })).status;
    await start({ ...EVERYWHERE, ...TOKENS });
    expect([await status('evil.example'), await status('10.0.0.1')]).toEqual([200, 200]);
    await serving?.drain.run();
    await start({ ...EVERYWHERE, TESSERA_ACCESS_MODE: 'open' });
    expect([await status('evil.example'), await status('10.0.0.1:80')]).toEqual([403, 200]);
    await serving?.drain.run();
    await start({ ...EVERYWHERE, ...TOKENS, TESSERA_HTTP_PUBLIC_NAMES: 'recall.internal' });
    const got = ['evil.example', 'recall.internal', '10.0.0.1', 'localhost'].map(status);
    expect(await Promise.all(got)).toEqual([403, 200, 200, 200]);
  });
});

describe('a page of another site', () => {
  const SENT: readonly [Record<string, string>, number][] = [
    [{ origin: 'http://evil.example' }, 403],
    [{ origin: 'null' }, 403],
    [{ origin: 'http://localhost:1' }, 403],
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ origin: 'http://localhost:8080' }, 400],
    [{ 'sec-fetch-site': 'same-origin' }, 400],
    [{}, 400],
  ];

  it('gets 403 by its origin or kind of site, on every route that changes a thing', async () => {
    await start({});
    for (const [headers, expected] of SENT) {
      const all = { host: 'localhost:8080', ...headers };
      const { status } = await asked('POST', '/v1/kv/drop-user', all);
      expect([headers, status]).toEqual([headers, expected]);
      for (const [route] of ROUTES) {
        const [method = '', path = ''] = route.split(' ');
        if (method === 'GET' || expected !== 403) continue;
        const got = await asked(method, path, all);
        expect([route, headers, got]).toEqual([route, headers, { status: 403, field: 'origin' }]);
      }
    }
  });

  it('gets no CORS headers', async () => {
    const { httpUrl } = await start({});
    const headers = { origin: 'http://evil.example', 'access-control-request-method': 'POST' };
    for (const method of ['GET', 'OPTIONS']) {
      const reply = await fetch(`${httpUrl}/health`, { method, headers });
      const allowed = [...reply.headers.keys()].filter((name) => name.startsWith('access-control'));
      expect(allowed).toEqual([]);
    }
  });
});

describe('certificates', () => {
  const tls = (name: string) => join('test', 'fixtures', 'tls', name);
  const edge = (area: string) => ({
    [`TESSERA_${area}_CERTIFICATE_PATH`]: tls('server.pem'),
    [`TESSERA_${area}_KEY_PATH`]: tls('server.key'),
    [`TESSERA_${area}_CLIENT_CA_PATH`]: tls('authority.pem'),
  });
  const ca = readFileSync(tls('authority.pem'));

  function httpsStatus(path: string, method: string, name?: string): Promise<number> {
    const own = name && {
      key: readFileSync(tls(`${name}.key`)),
      cert: readFileSync(tls(`${name}.pem`)),
    };
    const { port } = new URL(serving?.httpUrl ?? '');
    const options = { host: '127.0.0.1', port, path, method, ca, ...own, agent: false as const };
    return new Promise((resolve, reject) => {
      const call = requestHttps(options, (reply) => {
        reply.resume();
        resolve(reply.statusCode ?? 0);
      });
      call.on('error', reject);
      call.end();
    });
  }

  it('say who calls over gRPC and HTTP alike, and nobody comes in without one', async () => {
    const { grpcAddress, httpUrl } = await start({ ...TOKENS, ...edge('GRPC'), ...edge('HTTP') });
    expect(httpUrl).toMatch(/^https:/);
    expect(await httpsStatus('/metrics', 'GET', 'client')).toBe(200);
    expect(await httpsStatus('/v1/recall', 'POST', 'client')).toBe(403);
    await expect(httpsStatus('/metrics', 'GET', 'stranger')).rejects.toThrow();
    await expect(httpsStatus('/metrics', 'GET')).rejects.toThrow();
    const own = grpc.credentials.createSsl(
      ca,
      readFileSync(tls('client.key')),
      readFileSync(tls('client.pem')),
    );
    const client = new grpc.Client(grpcAddress, own);
    const state = '/tessera.catalogue.v1.CatalogueService/GetState';
    expect(await grpcCode(client, state)).toBe(grpc.status.OK);
    const recall = '/tessera.recall.v1.RecallService/Recall';
    expect(await grpcCode(client, recall)).toBe(PERMISSION_DENIED);
    // A token counts before the certificate.
    expect(isRefused(await grpcCode(client, recall, bearer('recall')))).toBe(false);
    expect(await grpcCode(client, state, 'Bearer guessed')).toBe(UNAUTHENTICATED);
    client.close();
  });

  it.each(['GRPC', 'HTTP'])('of %s whose key is another one are named as that', async (area) => {
    const other = { ...edge(area), [`TESSERA_${area}_KEY_PATH`]: tls('client.key') };
    const message = await start({ ...TOKENS, ...other }).then(
      String,
      (error: Error) => error.message,
    );
    expect(message).toContain(`${area.toLowerCase()}.keyPath: expected the private key of the`);
  });
});

describe('what is changed', () => {
  const lines = () =>
    readFileSync(auditPath, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
      .map(({ action, actor, edge, outcome }) => `${action} ${actor} ${edge} ${outcome}`);

  it('is audited whatever edge it arrived by, refused or not', async () => {
    writeFileSync(auditPath, '');
    const { grpcAddress } = await start(TOKENS);
    const client = new grpc.Client(grpcAddress, grpc.credentials.createInsecure());
    const behaviour = '/tessera.behaviour.v1.BehaviourService';
    const catalogue = '/tessera.catalogue.v1.CatalogueService';
    await grpcCode(client, `${behaviour}/Append`, bearer('behaviour:write'));
    await grpcCode(client, `${catalogue}/Apply`, bearer('catalogue:write'));
    await grpcCode(client, `${catalogue}/Compact`, bearer('admin'));
    await grpcCode(client, `${catalogue}/RollBack`, bearer('read'));
    await grpcCode(client, `${behaviour}/Erase`);
    await httpStatus('POST /v1/kv/drop-version', bearer('recall'));
    client.close();
    await serving?.drain.run();
    serving = undefined;
    // Behind the answer: two calls may change places.
    expect(lines().sort()).toEqual(
      [
        'append-behaviours behaviour:write grpc OK',
        'apply-changes catalogue:write grpc OK',
        'compact-catalogue admin grpc begun',
        'compact-catalogue admin grpc OK',
        'roll-back-catalogue read grpc PERMISSION_DENIED',
        'erase-user  grpc UNAUTHENTICATED',
        'drop-version recall http PERMISSION_DENIED',
      ].sort(),
    );
  });
});
