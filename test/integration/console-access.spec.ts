/** Permissions in the console: by token, by provider, by role; and its audits. */

import 'reflect-metadata';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RequestMethod } from '@nestjs/common';
import { loadConfig } from '@tessera/config';
import type { Serving } from '@tessera/hosting';
import { createLog } from '@tessera/telemetry';
import { temporaryFolder } from '@tessera/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ConsoleModule } from '../../apps/console/src/console.module.js';
import type { ConsoleParts } from '../../apps/console/src/console-parts.js';
import { type Inspection, openInspection } from '../../apps/standalone/src/inspection.js';
import { serve } from '../../apps/standalone/src/serve.js';
import { CLIENT_ID, CLIENT_SECRET, OidcIssuer } from '../e2e/oidc-issuer.js';
import { FakeRuntime } from './fake-runtime.js';

const folder = temporaryFolder({});
const log = createLog('silent');
const OWN = { 'x-tessera-console': '1', 'content-type': 'application/json' };
const sha256 = (token: string) => createHash('sha256').update(token).digest('hex');
const tokensPath = join(folder.path, 'tokens.json');
const auditPath = join(folder.path, 'audit.jsonl');
const SCOPES = {
  ann: ['read'],
  olga: ['operate'],
  abe: ['read', 'admin'],
  pusher: ['push', 'activate'],
};
const FAILURES_MAX = 10;

function writeTokens(names: readonly string[]): void {
  const grants = names.map((name) => ({
    name,
    scopes: SCOPES[name as keyof typeof SCOPES],
    sha256: sha256(`${name}-token`),
  }));
  writeFileSync(tokensPath, JSON.stringify(grants));
}

/** A browser's jar of cookies, as far as these tests need one. */
class Jar {
  readonly cookies = new Map<string, string>();
  readonly set: string[] = [];

  take(reply: Response): Response {
    for (const line of reply.headers.getSetCookie()) {
      this.set.push(line);
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/max-age=0\b/i.test(line) || value === '') this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return reply;
  }

  get header(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }
}

let serving: Serving;
let inspection: Inspection | undefined;
let issuer: OidcIssuer;

async function start(more: Readonly<Record<string, string>> = {}): Promise<void> {
  const { config } = loadConfig({
    environment: {
      TESSERA_HTTP_PORT: '0',
      TESSERA_GRPC_PORT: '0',
      TESSERA_INSPECTION_PATH: '',
      TESSERA_ACCESS_AUDIT_PATH: auditPath,
      ...more,
    },
  });
  inspection = await openInspection(config, log);
  serving = await serve({
    config,
    runtime: new FakeRuntime(),
    log,
    inspection,
    serviceVersion: '1.2.3',
  });
}

const withTokens = { TESSERA_ACCESS_TOKENS_PATH: tokensPath };

beforeAll(async () => {
  issuer = await OidcIssuer.start({ olga: ['operate', 'staff'], stranger: ['staff'] });
});
beforeEach(() => {
  writeTokens(Object.keys(SCOPES));
  writeFileSync(auditPath, '');
});
afterEach(() => serving.drain.run());
afterAll(async () => {
  await issuer.stop();
  folder.remove();
});

async function ask(
  jar: Jar,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = OWN,
) {
  const reply = await fetch(`${serving.httpUrl}/console/api/${path}`, {
    method,
    redirect: 'manual',
    headers: {
      ...(body === undefined ? { 'x-tessera-console': '1' } : headers),
      cookie: jar.header,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  jar.take(reply);
  const text = await reply.text();
  const isJson = reply.headers.get('content-type')?.startsWith('application/json');
  return { status: reply.status, headers: reply.headers, json: isJson ? JSON.parse(text) : {} };
}

async function entered(name: string): Promise<Jar> {
  const jar = new Jar();
  const { status } = await ask(jar, 'POST', 'login', { token: `${name}-token` });
  expect(status).toBe(200);
  return jar;
}

const audits = () =>
  readFileSync(auditPath, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, string>);
const auditLines = () =>
  audits().map(({ action, actor, role, name, outcome }) =>
    [action, actor || '-', role || '-', name || '-', outcome].join(' '),
  );

describe('where nobody has to log in', () => {
  it('is everybody an admin who is on this machine, and what they do is written down', async () => {
    await start();
    const jar = new Jar();
    const { json } = await ask(jar, 'GET', 'login');
    expect(json).toEqual({ visitor: { name: 'local', role: 'admin' }, ways: null });
    await ask(jar, 'DELETE', 'users/a');
    expect((await ask(jar, 'POST', 'login', { token: 'x' })).status).toBe(400);
    expect(auditLines()).toEqual([
      'erase-user local admin a begun',
      'erase-user local admin a REQUEST_INVALID',
    ]);
  });
});

describe('where nothing says how to log in', () => {
  it('comes nobody in from elsewhere, and the page says what to set', async () => {
    await start({ TESSERA_HTTP_HOST: '0.0.0.0', TESSERA_ACCESS_MODE: 'open' });
    const jar = new Jar();
    const { json } = await ask(jar, 'GET', 'login');
    expect(json).toEqual({ visitor: null, ways: { token: false, oidc: false } });
    const refused = await ask(jar, 'GET', 'about');
    expect([refused.status, refused.json.error.code]).toEqual([401, 'UNAUTHENTICATED']);
  });
});

/** Method and path of every route of the API. */
function routesOf(): [string, string][] {
  const { controllers = [] } = ConsoleModule.register({} as ConsoleParts);
  return controllers.flatMap((controller) => {
    const { prototype } = controller;
    const root = String(Reflect.getMetadata('path', controller)).replace('console/api', '');
    return Object.getOwnPropertyNames(prototype).flatMap((name): [string, string][] => {
      const method = Reflect.getMetadata('method', prototype[name]) as number | undefined;
      if (method === undefined) return [];
      const path = `${root}/${String(Reflect.getMetadata('path', prototype[name]))}`;
      return [[RequestMethod[method] ?? '', path.replace(/^\/|\/+$/g, '').replace(/:\w+/g, 'x')]];
    });
  });
}

describe('every route', () => {
  it('asks who comes, but for those of the login', async () => {
    await start(withTokens);
    const routes = routesOf().filter(([, path]) => !path.startsWith('login'));
    expect(routes.length).toBeGreaterThan(20);
    const open = [];
    for (const [method, path] of routes) {
      // Whatever else is wrong with it, the answer does not say.
      const body = method === 'POST' ? { sequence: 0, name: 'x', recallIds: [] } : undefined;
      const { status } = await ask(new Jar(), method, path, body);
      if (status !== 401) open.push(`${method} ${path} ${status}`);
    }
    expect(open).toEqual([]);
  });
});

describe('with a token', () => {
  /** Statuses for read, operate and admin; 400, 503: they were let in, and it has no store. */
  const routes = [
    ['GET', 'about', undefined, [200, 200, 200]],
    ['POST', 'recalls/x/explain', { itemId: 'a' }, [503, 503, 503]],
    ['DELETE', 'users/a', undefined, [403, 400, 400]],
    ['POST', 'catalogue/roll-back', { sequence: 0 }, [403, 403, 200]],
    ['POST', 'adapters/main/0123456789/activate', { share: 1 }, [403, 403, 409]],
    ['POST', 'adapters/main/roll-back', {}, [403, 403, 409]],
    ['POST', 'adapters/main/0123456789/pin', {}, [403, 403, 409]],
    ['DELETE', 'adapters/main/0123456789/pin', undefined, [403, 403, 409]],
    ['DELETE', 'adapters/main/0123456789', undefined, [403, 403, 409]],
  ] as const;

  it('comes in as what its scopes say, and may do that and no more', async () => {
    await start(withTokens);
    const jars = [await entered('ann'), await entered('olga'), await entered('abe')];
    const seen = await Promise.all(jars.map(async (jar) => (await ask(jar, 'GET', 'login')).json));
    expect(seen.map(({ visitor }) => visitor)).toEqual([
      { name: 'ann', role: 'read' },
      { name: 'olga', role: 'operate' },
      { name: 'abe', role: 'admin' },
    ]);
    for (const [method, path, body, expected] of routes) {
      const got = [];
      for (const jar of jars) got.push((await ask(jar, method, path, body)).status);
      expect(got, `${method} ${path}`).toEqual(expected);
      expect((await ask(new Jar(), method, path, body)).status, `${path}, nobody`).toBe(401);
    }
  });

  it('names the role that is wanted, and writes the refusal down', async () => {
    await start(withTokens);
    const jar = await entered('ann');
    const { json } = await ask(jar, 'DELETE', 'users/a');
    expect(json.error).toMatchObject({
      code: 'PERMISSION_DENIED',
      field: 'role',
      message: 'role: expected operate or more, got read',
    });
    const nobody = await ask(new Jar(), 'DELETE', 'users/a');
    expect(nobody.json.error.message).toContain('the role operate or more, got nobody');
    expect(auditLines()).toEqual([
      'login ann read ann OK',
      'erase-user ann read a PERMISSION_DENIED',
    ]);
  });

  it('that is for gRPC alone does not come in', async () => {
    await start(withTokens);
    const { status, json } = await ask(new Jar(), 'POST', 'login', { token: 'pusher-token' });
    expect(status).toBe(403);
    expect(json.error.message).toContain("'pusher' has push, activate");
    expect(auditLines()).toEqual(['login - - - PERMISSION_DENIED']);
  });

  it('that is taken out of the file is out at once, and so is who logs out', async () => {
    await start(withTokens);
    const [ann, abe] = [await entered('ann'), await entered('abe')];
    writeTokens(['abe']);
    expect((await ask(ann, 'GET', 'about')).status).toBe(401);
    const kept = new Jar();
    for (const [name, value] of abe.cookies) kept.cookies.set(name, value);
    expect((await ask(kept, 'GET', 'about')).status).toBe(200);
    await ask(abe, 'DELETE', 'login');
    expect((await ask(abe, 'GET', 'about')).status).toBe(401);
    expect((await ask(kept, 'GET', 'about')).status).toBe(401);
    expect(auditLines().at(-1)).toBe('logout abe admin abe OK');
  });

  it('has a cookie that scripts and other sites never see', async () => {
    await start({ ...withTokens, TESSERA_LOGIN_PUBLIC_URL: 'https://recall.example.org' });
    const jar = await entered('ann');
    const [cookie = ''] = jar.set;
    expect(cookie).toMatch(/^tessera-console=[\w-]{43}; /);
    const flags = cookie.split('; ').slice(1).sort();
    // The path is that of the API, as the browser sees it.
    expect(flags).toEqual(['HttpOnly', 'Max-Age=28800', 'SameSite=Strict', 'Secure']);
    const { headers } = await ask(jar, 'GET', 'about');
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it.each([
    ['no header of its own', { 'content-type': 'application/json' }, 'x-tessera-console'],
    ['another origin', { ...OWN, origin: 'http://evil.example' }, 'origin'],
    ['an origin that is none', { ...OWN, origin: 'null' }, 'origin'],
    ['another site', { ...OWN, 'sec-fetch-site': 'cross-site' }, 'origin'],
    ['another port', { ...OWN, 'sec-fetch-site': 'same-site' }, 'origin'],
  ])('does nothing that comes with %s, whoever is logged in', async (_name, headers, field) => {
    await start(withTokens);
    const jar = await entered('abe');
    const acted = await ask(jar, 'POST', 'catalogue/roll-back', { sequence: 0 }, headers);
    expect([acted.status, acted.json.error.field]).toEqual([403, field]);
    const login = await ask(new Jar(), 'POST', 'login', { token: 'abe-token' }, headers);
    expect(login.status).toBe(403);
  });

  it('is not guessed: an address that failed too often has to wait', async () => {
    await start(withTokens);
    const attempt = (token: string) => ask(new Jar(), 'POST', 'login', { token });
    const got = await Promise.all(
      Array.from({ length: FAILURES_MAX + 5 }, (_, i) => attempt(`guess-${i}`)),
    );
    const statuses = got.map(({ status }) => status).sort();
    const [failed, refused] = [Array(FAILURES_MAX).fill(401), Array(5).fill(429)];
    expect(statuses).toEqual([...failed, ...refused]);
    const { status, json, headers } = await attempt('abe-token');
    expect([status, json.error.code]).toEqual([429, 'TOO_MANY_ATTEMPTS']);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(auditLines()).toEqual(Array(FAILURES_MAX).fill('login - - - UNAUTHENTICATED'));
  });
});

describe('with a provider', () => {
  const withProvider = () => {
    const secretPath = join(folder.path, 'secret');
    writeFileSync(secretPath, `${CLIENT_SECRET}\n`);
    return {
      TESSERA_OIDC_ISSUER: issuer.url,
      TESSERA_OIDC_CLIENT_ID: CLIENT_ID,
      TESSERA_OIDC_CLIENT_SECRET_PATH: secretPath,
    };
  };

  /** Follows a browser through the provider until it comes back; where it is sent then. */
  async function throughProvider(url: string, who: string): Promise<string> {
    const jar = new Jar();
    let next = new URL(url);
    let body: string | undefined;
    while (next.origin === issuer.url) {
      const reply = jar.take(
        await fetch(next, {
          redirect: 'manual',
          headers: {
            cookie: jar.header,
            ...(body !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
          },
          ...(body !== undefined && { method: 'POST', body }),
        }),
      );
      const location = reply.headers.get('location');
      body = location === null ? `who=${who}` : undefined;
      next = new URL(location ?? next, next);
    }
    return next.pathname.replace('/console/api/', '') + next.search;
  }

  async function begun(returnTo = '/recalls/7?x=1') {
    const jar = new Jar();
    const { json, status } = await ask(jar, 'POST', 'login/oidc', { returnTo });
    expect(status).toBe(200);
    return { jar, url: json.url as string };
  }

  it('comes in as what the claim says, back on the page that was asked for', async () => {
    await start(withProvider());
    const { json: state } = await ask(new Jar(), 'GET', 'login');
    expect(state).toEqual({ visitor: null, ways: { token: false, oidc: true } });
    const { jar, url } = await begun();
    expect(new URL(url).searchParams.get('code_challenge_method')).toBe('S256');
    const back = await ask(jar, 'GET', await throughProvider(url, 'olga'));
    expect([back.status, back.headers.get('location')]).toEqual([302, '../../../#/recalls/7?x=1']);
    const { json } = await ask(jar, 'GET', 'login');
    expect(json.visitor).toEqual({ name: 'olga', role: 'operate' });
    expect((await ask(jar, 'POST', 'catalogue/roll-back', { sequence: 0 })).status).toBe(403);
    expect(auditLines()[0]).toBe('login olga operate olga OK');
    expect(audits()[0]?.detail).toContain('as olga');
  });

  it.each([
    ['has no role', 'stranger', 'PERMISSION_DENIED'],
    ['gives up', '', 'UNAUTHENTICATED'],
  ])('does not come in who %s, and is answered why', async (_name, who, code) => {
    await start(withProvider());
    const { jar, url } = await begun();
    const back = await ask(jar, 'GET', await throughProvider(url, who));
    expect(back.headers.get('location')).toBe(`../../../#/?refused=${code}`);
    expect((await ask(jar, 'GET', 'about')).status).toBe(401);
    expect(auditLines()).toEqual([`login - - - ${code}`]);
  });

  it('comes only in who began: not with the answer to somebody else, nor twice', async () => {
    await start(withProvider());
    const [one, other] = [await begun(), await begun()];
    const answer = await throughProvider(one.url, 'olga');
    for (const jar of [other.jar, new Jar()]) {
      const back = await ask(jar, 'GET', answer);
      expect(back.headers.get('location')).toBe('../../../#/?refused=UNAUTHENTICATED');
    }
    const cookies = new Map(one.jar.cookies);
    expect((await ask(one.jar, 'GET', answer)).headers.get('location')).toContain('/recalls/7');
    const again = new Jar();
    for (const [name, value] of cookies) again.cookies.set(name, value);
    const back = await ask(again, 'GET', answer);
    expect(back.headers.get('location')).toContain('refused=');
  });

  it('believes nothing of a beginning that it has not sealed', async () => {
    await start(withProvider());
    const { jar, url } = await begun();
    const answer = await throughProvider(url, 'olga');
    const [[name, sealed]] = [...jar.cookies] as [[string, string]];
    const [text = ''] = sealed.split('.');
    const forged = new Jar();
    forged.cookies.set(name, `${text}.${'A'.repeat(43)}`);
    const back = await ask(forged, 'GET', answer);
    expect(back.headers.get('location')).toBe('../../../#/?refused=UNAUTHENTICATED');
    expect((await ask(jar, 'GET', answer)).headers.get('location')).toContain('/recalls/7');
  });

  it('comes back to where people reach the console, behind a prefix as well', async () => {
    const publicUrl = 'https://recall.example.org/ads/tessera/';
    await start({ ...withProvider(), TESSERA_LOGIN_PUBLIC_URL: publicUrl });
    const { jar, url } = await begun();
    const back = new URL(url).searchParams.get('redirect_uri');
    expect(back).toBe(`${publicUrl}console/api/login/oidc/return`);
    expect(jar.set[0]).toContain('; Path=/ads/tessera/console/api/login;');
  });

  it('says both names where the provider calls itself another, from the start on', async () => {
    const at = new URL(issuer.url);
    const named = await OidcIssuer.start({}, `${at.protocol}//localhost:9/app/tessera/`);
    const served = named.url;
    await start({ ...withProvider(), TESSERA_OIDC_ISSUER: served });
    const { status, json } = await ask(new Jar(), 'POST', 'login/oidc', {});
    expect([status, json.error.code]).toEqual([500, 'CONFIG_INVALID']);
    const condition = async () => {
      const { conditions } = (await (await fetch(`${serving.httpUrl}/health`)).json()) as {
        conditions: { name: string; state: string; reason: string }[];
      };
      return conditions.find(({ name }) => name === 'oidc');
    };
    await expect.poll(async () => (await condition())?.state).toBe('down');
    expect((await condition())?.reason).toContain("'http://localhost:9/app/tessera/'");
    expect((await condition())?.reason).toContain(`got ${served}`);
    await named.stop();
  });

  it('says so where the provider is away, and lets others in by token', async () => {
    const gone = await OidcIssuer.start({});
    await gone.stop();
    await start({ ...withProvider(), ...withTokens, TESSERA_OIDC_ISSUER: gone.url });
    const { status, json } = await ask(new Jar(), 'POST', 'login/oidc', {});
    expect([status, json.error.code]).toEqual([503, 'ISSUER_UNAVAILABLE']);
    await entered('ann');
  });

  it.each([
    [{ TESSERA_OIDC_ISSUER: 'http://idp.example.org' }, /oidc\.issuer: expected .* https/],
    [{ TESSERA_OIDC_CLIENT_ID: '' }, /oidc\.clientId: expected/],
    [{ TESSERA_OIDC_CLIENT_SECRET_PATH: '/nowhere' }, /oidc\.clientSecretPath: expected/],
    [{ TESSERA_OIDC_ROLES: 'a=chief' }, /oidc\.roles: expected VALUE=ROLE/],
    [{ TESSERA_LOGIN_PUBLIC_URL: 'recall.example' }, /login\.publicUrl: expected/],
    [{ TESSERA_HTTP_TRUSTED_PROXIES: 'somebody' }, /http\.trustedProxies: expected/],
  ])('does not start with %j', async (bad, message) => {
    await expect(start({ ...withProvider(), ...bad })).rejects.toThrow(message);
    await start();
  });
});
