/**
 * Versions of adapters against the built service: pushed with the terminal's command, in service
 * and back, refused, tried on some users, and pushed by a trainer that never stops while others
 * recall.
 */

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as grpc from '@grpc/grpc-js';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../libs/testing/src/index.js';
import { AdapterClient } from '../../tools/served/adapter-client.js';
import { DEMO, type RandomAdapter, writeRandomAdapter } from './random-adapter.js';
import { Service } from './service.js';

const CALL_MS = 60_000;
const ROLLBACKS = 'tessera_adapter_actions_total{action="rollback",code="OK"}';
const GENTLE = 0.4;
const STRONG = 4;

interface Version {
  readonly name: string;
  readonly digest: string;
  readonly state: string;
  readonly reason: string;
}
interface Answer {
  readonly requestId: string;
  readonly items: readonly { readonly itemId: string; readonly score: number }[];
  readonly versions: { readonly adapter: string; readonly adapterName: string };
  readonly kv: {
    readonly savedTokens: number;
    readonly inheritedTokens: number;
    readonly versionsBack: number;
  };
}

const folder = temporaryFolder({});
let service: Service;
let client: AdapterClient;
const path = join(folder.path, 'adapters');
const TOKENS = join(folder.path, 'tokens.json');
const OWNER = 'owner-token';

afterAll(async () => {
  await stop();
  folder.remove();
});

async function stop(): Promise<void> {
  client?.close();
  await service?.stop();
}

interface Grant {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly token?: string;
  readonly certificate?: string;
  readonly expires?: string;
}

/** Read by the service at each call; `owner` may do everything. */
function allow(...grants: readonly Grant[]): void {
  const owner = { name: 'owner', scopes: ['push', 'activate', 'read', 'recall'], token: OWNER };
  const lines = [owner, ...grants].map(({ token, ...grant }: Grant) => ({
    ...grant,
    ...(token === undefined ? {} : { sha256: createHash('sha256').update(token).digest('hex') }),
  }));
  writeFileSync(TOKENS, JSON.stringify(lines));
}

function connect(token = OWNER): void {
  client?.close();
  client = new AdapterClient(service.grpcAddress, token);
}

async function start(variables: Readonly<Record<string, string>> = {}): Promise<void> {
  await stop();
  service = await Service.start({
    TESSERA_MODEL_PATH: DEMO,
    TESSERA_CATALOGUE_CACHE_PATH: join(folder.path, 'cache'),
    TESSERA_ADAPTERS_PATH: path,
    TESSERA_ACCESS_TOKENS_PATH: TOKENS,
    ...variables,
  });
  service.token = OWNER;
  connect();
}

/** Versions that were pushed before stay; none of them serves. */
async function serveBase(): Promise<void> {
  for (;;) {
    const { versions } = await client.call<{ versions: Version[] }>('List', { name: '' }, CALL_MS);
    if (versions.every(({ state }) => !/CANARY|ACTIVE/.test(state))) return;
    await client.call('Rollback', { name: 'main' }, CALL_MS);
  }
}

/** Lines of the audit log since this was called. */
function auditsFromNow(): () => Record<string, string>[] {
  const from = audits().length;
  return () => audits().slice(from);
}

/** `npm run adapter -- ...` against the service; what it writes as JSON. */
async function command<Result>(...words: string[]): Promise<Result> {
  const token = join(folder.path, 'owner');
  writeFileSync(token, OWNER);
  const where = ['--address', service.grpcAddress, '--http', service.httpUrl, '--json'];
  where.push('--token-file', token);
  const all = ['dist/tools/adapter.js', ...words, ...where];
  const { stdout } = await promisify(execFile)(process.execPath, all);
  return JSON.parse(stdout) as Result;
}

async function baseModel(): Promise<string> {
  const reply = await fetch(`${service.httpUrl}/health`);
  return ((await reply.json()) as { versions: { model: string } }).versions.model;
}

async function push(wanted: RandomAdapter, name = 'main'): Promise<string> {
  const from = writeRandomAdapter(join(folder.path, `peft-${name}-${wanted.seed}`), wanted);
  const pushed = { name, baseModel: await baseModel() };
  const answer = await client.pushFolder<{ version: Version }>(from, pushed, CALL_MS);
  return answer.version.digest;
}

const activate = (digest: string, share?: number, name = 'main') =>
  client.call<{ version: Version; warmedUsers: number; goldenOverlap?: number }>(
    'Activate',
    { name, digest, share, force: share !== undefined },
    CALL_MS,
  );

async function recall(userId: string, adapter?: string): Promise<Answer> {
  const { status, json } = await service.post({ userId, ...(adapter ? { adapter } : {}) });
  expect(status, JSON.stringify(json)).toBe(200);
  return json as unknown as Answer;
}

const shown = ({ items }: Answer) => items.map(({ itemId, score }) => [itemId, score]);

async function versions(): Promise<readonly Version[]> {
  return (await client.call<{ versions: Version[] }>('List', { name: '' }, CALL_MS)).versions;
}

const audits = () =>
  readFileSync(join(path, 'audit.jsonl'), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, string>);

describe('of one service', () => {
  beforeAll(async () => {
    allow();
    await start();
  });
  beforeEach(async () => {
    allow();
    connect();
    await serveBase();
  });

  it('change the recall from the next request on, and a rollback restores it exactly', async () => {
    const audited = auditsFromNow();
    const before = await recall('1');
    expect(before.versions).toMatchObject({ adapter: '', adapterName: '' });
    const from = writeRandomAdapter(join(folder.path, 'peft'), { seed: 1, size: GENTLE });
    const { version } = await command<{ version: Version }>('push', from);
    expect(version).toMatchObject({ name: 'main', state: 'STATE_VALIDATED' });
    expect(shown(await recall('1'))).toEqual(shown(before));

    await command('activate', version.digest.slice(0, 12));
    const after = await recall('1');
    expect(after.versions).toMatchObject({ adapter: version.digest, adapterName: 'main' });
    expect(shown(after)).not.toEqual(shown(before));
    const base = await recall('1', 'base');
    expect(shown(base)).toEqual(shown(before));

    // An answer is explained with the version that it had.
    const { itemId } = after.items[0] as { itemId: string };
    const question = { request: { userId: '1', requestId: after.requestId }, itemId };
    const explained = async () =>
      service.post({ ...question, versions: after.versions }, undefined, '/v1/explain');
    const { json } = await explained();
    expect(json).toMatchObject({ verdict: 'returned', rank: 1, score: after.items[0]?.score });

    await command('rollback');
    const restored = await recall('1');
    expect(shown(restored)).toEqual(shown(before));
    expect(restored.versions.adapter).toBe('');
    await command('delete', version.digest);
    expect(await explained()).toMatchObject({
      status: 404,
      json: { error: { code: 'ADAPTER_NOT_FOUND', field: 'adapter' } },
    });
    const done = audited().filter(({ outcome }) => outcome !== 'begun');
    expect(done.map(({ action, outcome }) => `${action} ${outcome}`)).toEqual([
      'push OK',
      'activate OK',
      'rollback OK',
      'delete OK',
    ]);
  });

  it('recalls what the newest behaviours ask for, once it was trained on them', async () => {
    const categories = new Map(
      readFileSync(join(DEMO, 'catalogue.jsonl'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { item_id: string; attributes: { category: string } })
        .map(({ item_id, attributes }) => [item_id, attributes.category]),
    );
    // Users whom the training has not seen; see test/fixtures/finetuned.
    const users = Array.from({ length: 30 }, (_, i) => String(101 + i));
    const answersOf = async () => Promise.all(users.map((user) => recall(user)));
    const petsIn = (answers: readonly Answer[]) =>
      answers
        .flatMap(({ items }) => items)
        .filter(({ itemId }) => categories.get(itemId) === 'pets').length;
    const before = await answersOf();
    const { version } = await command<{ version: Version }>('push', 'test/fixtures/finetuned');
    await command('activate', version.digest);
    const after = await answersOf();
    expect(petsIn(after)).toBeGreaterThan(2 * petsIn(before));
    expect(after.every(({ versions: its }) => its.adapter === version.digest)).toBe(true);
    await command('rollback');
    expect((await answersOf()).map(shown)).toEqual(before.map(shown));
  });

  describe('a bad version', () => {
    const truncated = (content: Buffer) => content.subarray(0, content.length - 10);
    const notFinite = (content: Buffer) => {
      const bad = Buffer.from(content);
      bad.writeFloatLE(Number.NaN, bad.length - 8);
      return bad;
    };

    it('is refused with the reason, and the active version serves on', async () => {
      const kept = readdirSync(join(path, 'versions'));
      const active = await push({ seed: 2, size: GENTLE });
      await activate(active);
      const before = await recall('3');
      const bad: [string, RandomAdapter, RegExp][] = [
        ['not finite', { seed: 3, size: 1, weights: notFinite }, /ADAPTER_CORRUPT/],
        ['cut off', { seed: 4, size: 1, weights: truncated }, /ADAPTER_CORRUPT|ADAPTER_INVALID/],
        [
          'rank over the limit',
          { seed: 5, size: 1, rank: 129 },
          /ADAPTER_INVALID \(r\).* 1\.\.128/s,
        ],
        ['another rank than it says', { seed: 6, size: 1, config: { r: 3 } }, /ADAPTER_INVALID/],
        ['DoRA', { seed: 7, size: 1, config: { use_dora: true } }, /ADAPTER_INVALID.*magnitude/is],
        ['norm over the limit', { seed: 8, size: 1000 }, /ADAPTER_INVALID.*norm/is],
      ];
      for (const [what, wanted, expected] of bad) {
        const from = writeRandomAdapter(join(folder.path, `bad-${wanted.seed}`), wanted);
        const failed = command('push', from).then(
          () => 'it was taken',
          (error: { stderr: string }) => error.stderr,
        );
        expect(await failed, what).toMatch(expected);
      }
      const from = writeRandomAdapter(join(folder.path, 'other-base'), { seed: 9, size: 1 });
      const pushed = client.pushFolder(from, { name: 'main', baseModel: 'x' }, CALL_MS);
      await expect(pushed).rejects.toThrow(/baseModel: expected .* which is served, got 'x'/);
      const revision = 'f'.repeat(32);
      const trained = { seed: 9, size: 1, config: { revision } };
      const ofAnother = writeRandomAdapter(join(folder.path, 'revision'), trained);
      await expect(command('push', ofAnother)).rejects.toMatchObject({
        stderr: expect.stringMatching(/baseModel: expected .* which is served, got 'f{32}'/),
      });
      const after = await recall('3');
      expect(after.versions.adapter).toBe(active);
      expect(shown(after)).toEqual(shown(before));
      const rejected = (await versions()).filter(({ state }) => state === 'STATE_REJECTED');
      expect(rejected).toHaveLength(bad.length);
      expect(rejected.every(({ reason }) => reason !== '')).toBe(true);
      expect(readdirSync(join(path, 'versions')).sort()).toEqual([...kept, active].sort());
    });
  });

  describe('a canary', () => {
    it('that worsens recall is rolled back by itself, and says why', async () => {
      const good = await push({ seed: 10, size: GENTLE / 2 });
      await activate(good);
      const bad = await push({ seed: 11, size: STRONG });
      const refused = client.call('Activate', { name: 'main', digest: bad }, CALL_MS);
      await expect(refused).rejects.toThrow(/golden set: expected at least 20 % of the items/);

      const rollbacks = await service.metric(ROLLBACKS);
      await activate(bad, 0.5);
      const stateOf = async (digest: string) =>
        (await versions()).find((version) => version.digest === digest);
      const served = new Set<string>();
      for (let user = 1; (await stateOf(bad))?.state === 'STATE_CANARY'; user = (user % 200) + 1) {
        served.add((await recall(String(user))).versions.adapter);
      }
      expect(served).toEqual(new Set([good, bad]));
      expect(await stateOf(bad)).toMatchObject({ state: 'STATE_RETIRED' });
      expect((await stateOf(bad))?.reason).toMatch(/overlap: expected at least 20 %/);
      await service.metricBecomes(ROLLBACKS, rollbacks + 1);
      expect(audits().at(-1)).toMatchObject({ action: 'rollback', actor: 'canary', digest: bad });
      for (let user = 1; user <= 20; user += 1) {
        expect((await recall(String(user))).versions.adapter).toBe(good);
      }
    });
  });

  it('are accessed by token and scope, and whoever is refused is written down', async () => {
    allow(
      { name: 'pusher', scopes: ['push'], token: 'pusher-token' },
      { name: 'chief', scopes: ['activate', 'read'], token: 'chief-token' },
      {
        name: 'late',
        scopes: ['push', 'activate'],
        token: 'late-token',
        expires: '2020-01-01T00:00:00Z',
      },
    );
    const audited = auditsFromNow();
    connect('');
    await expect(push({ seed: 13, size: GENTLE })).rejects.toThrow(/^16 UNAUTHENTICATED/);
    const as = (name: string) => connect(`${name}-token`);
    as('chief');
    await expect(push({ seed: 13, size: GENTLE })).rejects.toThrow(/^7 PERMISSION_DENIED/);
    as('late');
    await expect(push({ seed: 13, size: GENTLE })).rejects.toThrow(/expired/);
    as('pusher');
    const digest = await push({ seed: 13, size: GENTLE });
    await expect(activate(digest)).rejects.toThrow(/^7 PERMISSION_DENIED/);
    await expect(versions()).rejects.toThrow(/^7 PERMISSION_DENIED/);
    as('chief');
    await activate(digest);
    expect((await recall('1')).versions.adapter).toBe(digest);
    const lines = audited().map(({ action, actor, outcome }) => `${action} ${actor} ${outcome}`);
    expect(lines).toEqual([
      ...['push  UNAUTHENTICATED', 'push chief PERMISSION_DENIED', 'push  UNAUTHENTICATED'],
      ...['push pusher begun', 'push pusher OK', 'activate pusher PERMISSION_DENIED'],
      ...['activate chief begun', 'activate chief OK'],
    ]);
  });

  it('serve after a kill what they served before, and half a push is forgotten', async () => {
    const digest = await push({ seed: 12, size: GENTLE });
    await activate(digest);
    const before = await recall('5');
    const kept = readdirSync(join(path, 'versions'));
    const bytes = Buffer.alloc(1 << 20, 7);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const file = { bytes: bytes.length, sha256 };
    const files = [
      { name: 'adapter_config.json', ...file },
      { name: 'adapter_model.safetensors', ...file },
    ];
    const model = await baseModel();
    const parts = (async function* () {
      yield { header: { name: 'main', baseModel: model, files, remark: '' } };
      for (let at = 0; at < bytes.length; at += 1 << 16) {
        yield { chunk: { data: bytes.subarray(at, at + (1 << 16)) } };
      }
      service.child.kill('SIGKILL');
      await service.ended;
    })();
    await expect(client.pushParts(parts, CALL_MS)).rejects.toThrow();
    await start();
    expect(await recall('5')).toMatchObject({ versions: { adapter: digest } });
    expect(shown(await recall('5'))).toEqual(shown(before));
    expect(readdirSync(join(path, 'versions'))).toEqual(kept);
    expect(readdirSync(path)).not.toContain('staging');
  });
});

it('access is by certificate where gRPC asks for one, and nobody else comes in', async () => {
  const tls = (name: string) => join('test', 'fixtures', 'tls', name);
  allow({ name: 'robot', certificate: 'robot.example', scopes: ['read'] });
  await start({
    TESSERA_GRPC_CERTIFICATE_PATH: tls('server.pem'),
    TESSERA_GRPC_KEY_PATH: tls('server.key'),
    TESSERA_GRPC_CLIENT_CA_PATH: tls('authority.pem'),
  });
  const as = async (name?: string) => {
    client.close();
    const keys = name === undefined ? [] : [`${name}.key`, `${name}.pem`];
    const [key = null, chain = null] = keys.map((one) => readFileSync(tls(one)));
    const authority = readFileSync(tls('authority.pem'));
    const credentials = grpc.credentials.createSsl(authority, key, chain);
    client = new AdapterClient(service.grpcAddress, '', credentials);
    return client.call('List', { name: '' }, 5000);
  };
  expect(await as('client')).toMatchObject({ defaultName: 'main' });
  const asked = client.call('Rollback', { name: 'main' }, 5000);
  await expect(asked).rejects.toThrow(/^7 PERMISSION_DENIED.*'robot' has read/);
  await expect(as('stranger')).rejects.toThrow(/^14 UNAVAILABLE/);
  await expect(as()).rejects.toThrow(/^14 UNAVAILABLE/);
});

describe('the first visit of a user under a new version', () => {
  // Users whom the golden set, which is answered with each version, has not.
  const [ANN, BOB, CIM] = ['101', '102', '103'];
  const serve = (versionsBack?: string) =>
    start({
      // One that has never had versions.
      TESSERA_ADAPTERS_PATH: mkdtempSync(join(folder.path, 'first-')),
      TESSERA_ADAPTERS_KV_VERSIONS_BACK: versionsBack as string,
      TESSERA_KV_DISK_BYTES: '0',
    });
  beforeAll(() => allow());
  const found = ({ kv }: Answer) => [kv.savedTokens > 0, kv.inheritedTokens > 0, kv.versionsBack];
  const ALL_COMPUTED = [false, false, 0];
  const OWN = [true, false, 0];
  const next = async (seed: number, options: object = { cold: true }) => {
    const digest = await push({ seed, size: GENTLE });
    const named = { name: 'main', digest, force: true, ...options };
    await client.call('Activate', named, CALL_MS);
    return digest;
  };

  it('finds nothing where nothing else is asked for', async () => {
    await serve();
    await next(30);
    await recall(ANN);
    await next(31);
    expect(found(await recall(ANN))).toEqual(ALL_COMPUTED);
    expect(found(await recall(ANN))).toEqual(OWN);
  });

  it('goes on with what versions before computed as far as allowed, and says so', async () => {
    await serve('2');
    for (const [seed, expected] of [
      [32, ALL_COMPUTED],
      [33, [true, true, 1]],
      [34, [true, true, 2]],
      [35, ALL_COMPUTED],
    ] as const) {
      await next(seed);
      expect(found(await recall(ANN)), `seed ${seed}`).toEqual(expected);
    }
    expect(found(await recall(ANN))).toEqual(OWN);
    const reply = await fetch(`${service.httpUrl}/metrics`, { headers: service.ownHeaders() });
    const metrics = await reply.text();
    expect(metrics).toMatch(/tessera_kv_inherited_chains_total 2/);
    expect(metrics).toMatch(/tessera_kv_inherited_tokens_total [1-9]/);
  });

  it('computes anew after a rollback what was answered before, to the bit', async () => {
    await serve('1');
    await next(36);
    const before = await recall(ANN);
    await next(37);
    expect(found(await recall(ANN))).toEqual([true, true, 1]);
    await command('rollback');
    const restored = await recall(ANN);
    expect(found(restored)).toEqual(ALL_COMPUTED);
    expect(shown(restored)).toEqual(shown(before));
  });

  it('finds what each version has itself for a canary and who was warmed up', async () => {
    await serve('1');
    await next(38);
    for (const user of [ANN, BOB, CIM]) await recall(user);
    const canary = await next(39, { share: 0.99, cold: true });
    const tried = await recall(BOB);
    expect(tried.versions.adapter).toBe(canary);
    expect(found(tried)).toEqual([true, true, 1]);
    await command('rollback');
    expect(found(await recall(CIM))).toEqual(OWN);
    await next(40, { cold: false });
    expect(found(await recall(CIM))).toEqual(OWN);
  });
});

describe('a trainer that pushes again and again', () => {
  /** The long form: npm run test:long. */
  const SECONDS = Number(process.env.TRAINER_SECONDS ?? 6);
  const MEBIBYTE = 2 ** 20;
  /** Of what is not the heap of JavaScript; versions themselves lie in the arena. */
  const GROWTH_MAX = 64 * MEBIBYTE;
  /** In the last third of a long run above the second: of that, and of what a collection leaves. */
  const THIRD_GROWTH_MAX = 16 * MEBIBYTE;
  const LONG_SECONDS = 60;
  const READERS = 3;
  const CHECKED_AT_ONCE = 16;
  interface Memory {
    /** Resident, without the heap of JavaScript and the versions. */
    readonly outside: number;
    /** In use in that heap, what the next collection takes away included. */
    readonly heap: number;
  }
  const memory = async (): Promise<Memory> => {
    const resident = await service.metric('process_resident_memory_bytes');
    const heap = await service.metric('nodejs_heap_size_total_bytes');
    const arena = await service.metric('tessera_adapter_bytes{place="arena",kind="used"}');
    const used = await service.metric('nodejs_heap_size_used_bytes');
    return { outside: resident - heap - arena, heap: used };
  };
  const mean = (values: readonly number[]) =>
    values.reduce((sum, value) => sum + value, 0) / values.length;

  it('fails no recall, and every answer is that of the version it names', async () => {
    allow();
    await start({
      TESSERA_ADAPTERS_PATH: join(folder.path, 'trained'),
      // Memory of the pool is taken as it is used: a small one is soon full, and grows no more.
      TESSERA_KV_DEVICE_BYTES: String(16 * MEBIBYTE),
      TESSERA_KV_HOST_BYTES: '0',
    });
    for (let user = 1; user <= 40; user += 1) await recall(String(user));
    const before = await memory();
    const answers: { userId: string; answer: Answer }[] = [];
    let isOver = false;
    const reader = async (first: number) => {
      for (let user = first; !isOver; user = (user % 40) + 1) {
        const answer = await recall(String(user));
        answers.push({ userId: String(user), answer });
      }
    };
    const readers = Array.from({ length: READERS }, (_, i) => reader(1 + 10 * i));
    const digests: string[] = [];
    const seen: Memory[] = [];
    const until = performance.now() + SECONDS * 1000;
    const train = async () => {
      for (let seed = 100; performance.now() < until; seed += 1) {
        const digest = await push({ seed, size: GENTLE, rank: 1 + (seed % 16) });
        await client.call('Pin', { name: 'main', digest }, CALL_MS);
        const share = seed % 3 === 0 ? 0.5 : undefined;
        await client.call('Activate', { name: 'main', digest, share, force: true }, CALL_MS);
        digests.push(digest);
        seen.push(await memory());
        if (seed % 4 === 0) await client.call('Rollback', { name: 'main' }, CALL_MS);
      }
    };
    const trained = train().finally(() => {
      isOver = true;
    });
    await Promise.all([trained, ...readers]);
    expect((await memory()).outside).toBeLessThan(before.outside + GROWTH_MAX);
    if (SECONDS >= LONG_SECONDS) {
      const third = Math.floor(seen.length / 3);
      const [second, last] = [seen.slice(third, 2 * third), seen.slice(-third)].map((some) => ({
        outside: mean(some.map(({ outside }) => outside)),
        heap: Math.min(...some.map(({ heap }) => heap)),
      })) as [Memory, Memory];
      console.log(`${digests.length} versions, bytes:`, JSON.stringify({ before, second, last }));
      expect(last.outside).toBeLessThan(second.outside + THIRD_GROWTH_MAX);
      expect(last.heap).toBeLessThan(second.heap + THIRD_GROWTH_MAX);
    }
    const named = new Set(answers.map(({ answer }) => answer.versions.adapter));
    expect(named.size).toBeGreaterThan(Math.min(5, digests.length));
    const recomputed = new Map<string, Promise<Answer>>();
    const check = async ({ userId, answer }: { userId: string; answer: Answer }) => {
      const adapter = answer.versions.adapter || 'base';
      const key = `${userId} ${adapter}`;
      const again = recomputed.get(key) ?? recall(userId, adapter);
      recomputed.set(key, again);
      expect(shown(answer), `user ${userId}, version ${adapter}`).toEqual(shown(await again));
    };
    for (let at = 0; at < answers.length; at += CHECKED_AT_ONCE) {
      await Promise.all(answers.slice(at, at + CHECKED_AT_ONCE).map(check));
    }
    // A retired version that is not pinned gives its memory back.
    for (const digest of digests) await client.call('Unpin', { name: 'main', digest }, CALL_MS);
    const { arenaUsedBytes } = await client.call<{ arenaUsedBytes: number }>(
      'List',
      { name: '' },
      CALL_MS,
    );
    const loaded = (await versions()).filter(
      (version) => (version as never as { loaded: boolean }).loaded,
    );
    expect(loaded.length).toBeLessThanOrEqual(3);
    const arena = loaded.reduce(
      (sum, one) => sum + (one as never as { arenaBytes: number }).arenaBytes,
      0,
    );
    expect(arenaUsedBytes).toBe(arena);
  });
});
