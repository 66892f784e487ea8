/** The API of the console over a fake runtime: its contract, who may do what, and bad input. */

import 'reflect-metadata';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { RequestMethod } from '@nestjs/common';
import { CatalogueChanges } from '@tessera/catalogue';
import { loadConfig } from '@tessera/config';
import type { Serving } from '@tessera/hosting';
import { createLog } from '@tessera/telemetry';
import { temporaryFolder, until } from '@tessera/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConsoleModule } from '../../apps/console/src/console.module.js';
import type { ConsoleParts } from '../../apps/console/src/console-parts.js';
import { type Inspection, openInspection } from '../../apps/standalone/src/inspection.js';
import { serve } from '../../apps/standalone/src/serve.js';
import { FakeRelevance } from './fake-relevance.js';
import { answerTo, FakeRuntime } from './fake-runtime.js';

const folder = temporaryFolder({});
const log = createLog('silent');
const { config } = loadConfig({
  environment: {
    TESSERA_HTTP_PORT: '0',
    TESSERA_GRPC_PORT: '0',
    TESSERA_INSPECTION_PATH: folder.path,
    TESSERA_INSPECTION_PERCENT: '0',
    TESSERA_ACCESS_AUDIT_PATH: join(folder.path, 'audit.jsonl'),
  },
});
const OWN = { 'x-tessera-console': '1', 'content-type': 'application/json' };

const NO_WISHES = {
  requestId: '',
  profile: {},
  scene: {},
  resultCount: 0,
  widths: [],
  itemsPerSid: 0,
  skipUnknownItems: false,
};

/** A text's vector is its length. */
class LengthEmbedder {
  readonly name = 'length';
  readonly dimension = 1;
  embed(texts: readonly string[]) {
    return Promise.resolve(texts.map(({ length }) => Float32Array.of(length)));
  }
}

let serving: Serving;
let inspection: Inspection | undefined;
const scorer = new FakeRelevance();

beforeAll(async () => {
  inspection = await openInspection(config, log);
  const runtime = new FakeRuntime();
  const semanticIds = { digest: 'books', embedder: new LengthEmbedder() };
  const options = { folder: '', compactAfterChanges: 0, onCompacted: () => undefined, semanticIds };
  const changes = new CatalogueChanges(runtime.catalogue, options);
  runtime.changesOf = () => changes;
  const relevance = scorer.opened;
  serving = await serve({ config, runtime, log, inspection, relevance, serviceVersion: '1.2.3' });
});

afterAll(async () => {
  await serving.drain.run();
  folder.remove();
});

async function ask(method: string, path: string, body?: unknown, headers: object = OWN) {
  const reply = await fetch(`${serving.httpUrl}/console/api/${path}`, {
    method,
    headers: body === undefined ? { 'x-tessera-console': '1' } : { ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  const isJson = reply.headers.get('content-type')?.startsWith('application/json');
  return { status: reply.status, text, json: isJson ? JSON.parse(text) : undefined };
}

const tried = async (body: object) => (await ask('POST', 'recalls', body)).json.id as string;

describe('the API of the console', () => {
  it('describes every route that it has, and has every route that it describes', async () => {
    const reply = await fetch(`${serving.httpUrl}/docs-json/console`);
    const { paths } = (await reply.json()) as { paths: Record<string, Record<string, unknown>> };
    const described = Object.entries(paths).flatMap(([path, operations]) =>
      path.startsWith('/console/')
        ? Object.keys(operations).map((method) => `${method} ${path}`)
        : [],
    );
    const { controllers = [] } = ConsoleModule.register({} as ConsoleParts);
    const routes = controllers.flatMap((controller) => {
      const { prototype } = controller;
      const root = Reflect.getMetadata('path', controller) as string;
      return Object.getOwnPropertyNames(prototype).flatMap((name) => {
        const method = Reflect.getMetadata('method', prototype[name]) as number | undefined;
        if (method === undefined) return [];
        const path = String(Reflect.getMetadata('path', prototype[name]));
        const whole = `/${root}/${path}`.replace(/\/+$/, '').replace(/:(\w+)/g, '{$1}');
        return [`${RequestMethod[method]?.toLowerCase()} ${whole}`];
      });
    });
    expect(described.sort()).toEqual(routes.sort());
  });

  it('records what is tried and gives it back', async () => {
    const id = await tried({ userId: 'a', resultCount: 5 });
    const { json } = await ask('GET', `recalls/${id}`);
    expect(json.recall).toMatchObject({ id, source: 'console', reason: 'request', code: 'OK' });
    expect(json.recall.request).toEqual(expect.objectContaining({ userId: 'a', resultCount: 5 }));
    expect(json.described).toMatchObject({ a: { title: 'Tëst', sid: [3, 1, 4] } });
  });

  it('asks recalls that explored again to estimate a target', async () => {
    const explore = { slots: 1, temperature: 2, seed: 7 };
    await tried({ userId: 'a', requestId: 'explored', explore });
    const asked = (what: string) => ask('GET', `analysis/outcomes?source=all&what=${what}`);
    // Facts of the last seconds may be missing.
    const isThere = async () => (await asked('adapter=base')).json.explored > 0;
    await until('the fact of the recall', isThere);
    const { json } = await asked('temperature=3');
    // The fake's answer has one item: that of the user, or of the history that is written for them.
    expect(json).toMatchObject({
      explored: 1,
      recalls: 1,
      users: 1,
      rewards: 0,
      targetItems: 1,
      reward: 'click',
      estimates: null,
      effectiveUsersMin: 100,
    });
    for (const [query, field] of [
      ['what=bid', 'what'],
      ['source=all&what=valuation=nosuch', 'what'],
      ['what=adapter=B&reward=money', 'reward'],
      ['what=adapter=B&recalls=0', 'recalls'],
    ]) {
      const refused = await ask('GET', `analysis/outcomes?${query}`);
      expect([refused.status, refused.json.error.field]).toEqual([400, field]);
    }
  });

  it('names what is wrong in a question, not in the SQL that it would become', async () => {
    for (const [path, field] of [
      ['overview?scene=daypart=%00', 'scene'],
      ['overview?from=0&to=9007199254740991', 'to'],
      ['composition?by=%00', 'by'],
      ['ads/%00', 'id'],
    ]) {
      const { status, json } = await ask('GET', `analysis/${path}`);
      expect([path, status, json.error.field]).toEqual([path, 400, field]);
    }
    const odd = encodeURIComponent(`a"b\\c'); DROP TABLE item_version; --`);
    for (const path of [
      `composition?by=${odd}&attribute=${odd}=1`,
      'overview?from=0&to=253402300799999',
      `tables/spend?by=${odd}&bid=${odd}`,
      `items?attribute=${odd}=1`,
    ]) {
      const { status, text } = await ask('GET', `analysis/${path}`);
      expect([path, status, text]).toEqual([path, 200, expect.any(String)]);
    }
  });

  it('records a recall that failed, with its error', async () => {
    const refused = await ask('POST', 'recalls', { userId: 'nobody' });
    expect(refused.status).toBe(404);
    const { json } = await ask('GET', 'recalls?code=USER_NOT_FOUND');
    expect(json.recalls).toHaveLength(1);
    const page = await ask('GET', `recalls/${json.recalls[0].id}`);
    expect(page.json.recall.message).toContain("'nobody' is not known");
    expect(page.json.recall.answer).toBeUndefined();
  });

  it('finds IDs and names in a path that are as long as they may be', async () => {
    const userId = '😀'.repeat(128);
    const user = await ask('GET', `users/${encodeURIComponent(userId)}`);
    expect([user.status, user.json.userId]).toEqual([200, userId]);
    const name = 'ü'.repeat(200);
    const removed = await ask('DELETE', `sets/${encodeURIComponent(name)}`);
    expect([removed.status, removed.json]).toEqual([200, { removed: false }]);
  });

  it('tells which versions of a recall are no longer served', async () => {
    const request = { ...NO_WISHES, userId: 'a' };
    const answer = answerTo(request);
    const versions = { ...answer.versions, model: 'of last year' };
    inspection?.store.offer({
      id: 'old',
      timeMs: 1e12,
      source: 'served',
      reason: 'share',
      request,
      outcome: { answer: { ...answer, versions } },
    });
    const { json } = await ask('GET', 'recalls/old');
    expect(json.goneVersions).toEqual(['model']);
    expect(json.recall.answer.items).toHaveLength(1);
    const now = await ask('GET', `recalls/${await tried({ userId: 'a' })}`);
    expect(now.json.goneVersions).toEqual([]);
  });

  it('scores texts and items for a query, and says what became of each', async () => {
    const documents = ['red', { itemId: 'a' }, 'faulty', { itemId: 'nowhere' }];
    const { status, json } = await ask('POST', 'relevance', { query: 'shoes', documents });
    expect(status).toBe(200);
    expect(json).toMatchObject({ model: 'fake', template: 'fake', promptTokens: 3 + 4 });
    const score = expect.any(Number);
    expect(json.documents).toMatchObject([
      { itemId: '', text: 'red', score, promptTokens: 3, documentTokens: 3, error: null },
      { itemId: 'a', text: 'Tëst', score, cutTokens: 0, error: null },
      { text: 'faulty', score: null, error: { code: 'REQUEST_INVALID' } },
      { itemId: 'nowhere', text: '', score: null, error: { code: 'ITEM_NOT_FOUND' } },
    ]);
  });

  it.each([
    ['query', { query: '', documents: ['a'] }],
    ['documents', { query: 'a', documents: [] }],
    ['texts', { query: 'a', texts: ['a'] }],
    ['deadlineMs', { query: 'a', documents: ['a'], deadline_ms: 1e9 }],
  ])('names %s of texts that cannot be scored', async (field, body) => {
    const { status, json } = await ask('POST', 'relevance', body);
    expect(status).toBe(400);
    expect(json).toMatchObject({ error: { code: 'REQUEST_INVALID', field } });
  });

  it('shows where an ad of a text would go, and who lives there', async () => {
    const placed = await ask('POST', 'catalogue/landing', { text: 'hand cream' });
    expect(placed.status).toBe(200);
    expect(placed.json).toMatchObject({ codes: [3, 1, 4], sid: [3, 1, 4], codebooks: 'books' });
    expect(placed.json.neighbours).toEqual([
      { itemId: 'a', title: 'Tëst', sid: [3, 1, 4], sharedLevels: 3 },
    ]);
  });

  it.each([
    ['POST', 'catalogue/landing', { text: '' }, 400, 'REQUEST_INVALID'],
    ['POST', 'catalogue/landing', { vector: [1] }, 400, 'REQUEST_INVALID'],
    ['GET', 'recalls/none', undefined, 404, 'ROUTE_NOT_FOUND'],
    ['GET', 'recalls?limit=0', undefined, 400, 'REQUEST_INVALID'],
    ['GET', 'recalls?limt=1', undefined, 400, 'REQUEST_INVALID'],
    ['GET', 'users/nobody', undefined, 404, 'USER_NOT_FOUND'],
    ['GET', 'live?minutes=x', undefined, 400, 'REQUEST_INVALID'],
    ['POST', 'recalls', { userId: 'a', nonsense: 1 }, 400, 'REQUEST_INVALID'],
    ['POST', 'recalls', { inspect: 3, userId: 'a' }, 400, 'REQUEST_INVALID'],
    ['POST', 'sql', { sql: 'DROP TABLE recalls' }, 400, 'REQUEST_INVALID'],
    ['POST', 'sql', { sql: 3 }, 400, 'REQUEST_INVALID'],
    ['POST', 'sql', {}, 400, 'REQUEST_INVALID'],
    ['POST', 'exports', { sql: 'SELECT 1', format: 'xls' }, 400, 'REQUEST_INVALID'],
    ['POST', 'exports', { sql: 3, format: 'csv' }, 400, 'REQUEST_INVALID'],
    ['GET', 'exports/none/file', undefined, 404, 'ROUTE_NOT_FOUND'],
    ['POST', 'comparisons', { sample: 0 }, 400, 'REQUEST_INVALID'],
    ['POST', 'comparisons', { left: { userId: '1' }, sample: 1 }, 400, 'REQUEST_INVALID'],
    ['POST', 'comparisons', { left: { widths: 'x' }, sample: 1 }, 400, 'REQUEST_INVALID'],
    ['POST', 'comparisons', { left: { catalogueSequence: -1 }, sample: 1 }, 400, 'REQUEST_INVALID'],
    ['POST', 'recalls', { userId: 'a', catalogueSequence: 'x' }, 400, 'REQUEST_INVALID'],
    ['POST', 'sets', { name: '', recallIds: [] }, 400, 'REQUEST_INVALID'],
    ['POST', 'sets', { name: 'x', recallIds: [3] }, 400, 'REQUEST_INVALID'],
    ['POST', 'catalogue/roll-back', { sequence: -1 }, 400, 'REQUEST_INVALID'],
    ['DELETE', 'users/a', undefined, 400, 'REQUEST_INVALID'],
    ['GET', 'adapters/changes?limit=501', undefined, 400, 'REQUEST_INVALID'],
    ['POST', 'adapters/n/d/activate', { share: 0 }, 400, 'REQUEST_INVALID'],
    ['POST', 'adapters/n/d/activate', { share: 1, force: 'x' }, 400, 'REQUEST_INVALID'],
    ['POST', 'adapters/n/d/activate', { share: 1 }, 409, 'ADAPTER_STATE'],
    ['POST', 'adapters/n/roll-back', {}, 409, 'ADAPTER_STATE'],
    ['POST', 'adapters/n/d/pin', {}, 409, 'ADAPTER_STATE'],
    ['DELETE', 'adapters/n/d', undefined, 409, 'ADAPTER_STATE'],
  ])('answers %s %s with a typed refusal', async (method, path, body, status, code) => {
    const reply = await ask(method, path, body);
    expect([reply.status, reply.json?.error?.code]).toEqual([status, code]);
  });

  it('keeps notes and sets, and compares line by line', async () => {
    const id = await tried({ userId: 'a' });
    const note = await ask('POST', `recalls/${id}/notes`, { text: '<b>x</b>' });
    expect(note.json).toMatchObject({ recallId: id, author: 'local', text: '<b>x</b>' });
    expect((await ask('GET', `recalls/${id}`)).json.notes).toHaveLength(1);
    const gone = await ask('DELETE', `recalls/${id}/notes/${note.json.id}`);
    expect(gone.json).toEqual({ removed: true });
    await ask('POST', 'sets', { name: 's', recallIds: [id] });
    expect((await ask('GET', 'sets')).json.sets).toMatchObject([{ name: 's', recallIds: [id] }]);
    const { text } = await ask('POST', 'comparisons', { users: ['a', 'nobody'], left: {} });
    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ kind }) => kind)).toEqual([
      'progress',
      'user',
      'progress',
      'failed',
      'summary',
    ]);
    expect(lines.at(-1)).toMatchObject({ users: 1, failed: 1, overlap: 1 });
  });

  it('saves a comparison that comes to its end, with its notes, until it is removed', async () => {
    const left = { widths: [3], catalogueSequence: 0 };
    const { text } = await ask('POST', 'comparisons', { users: ['a', 'nobody'], left });
    const { id } = JSON.parse(text.trim().split('\n').at(-1) as string);
    const listed = await ask('GET', 'comparisons');
    expect(listed.json.comparisons[0]).toMatchObject({ id, userCount: 1, author: 'local' });
    const note = await ask('POST', `comparisons/${id}/notes`, { text: 'why?' });
    const { json } = await ask('GET', `comparisons/${id}`);
    expect(json).toMatchObject({ sides: { left, right: {} }, notes: [note.json] });
    expect(json.lines.map(({ kind }: { kind: string }) => kind)).toEqual([
      ...['user', 'failed', 'summary'],
    ]);
    await ask('DELETE', `comparisons/${id}/notes/${note.json.id}`);
    expect((await ask('GET', `comparisons/${id}`)).json.notes).toEqual([]);
    expect((await ask('DELETE', `comparisons/${id}`)).json).toEqual({ removed: true });
    expect((await ask('GET', `comparisons/${id}`)).status).toBe(404);
    const toNone = await ask('POST', `comparisons/${id}/notes`, { text: 'x' });
    expect(toNone.status).toBe(404);
  });

  it('says that no adapters are kept, and what was tried with them', async () => {
    const { json } = await ask('GET', 'adapters');
    expect(json).toMatchObject({ isKept: false, versions: [] });
    await ask('DELETE', 'adapters/tried/0123456789abcdef');
    const { changes, isWhole } = (await ask('GET', 'adapters/changes?limit=1')).json;
    expect(changes).toEqual([
      {
        timeMs: expect.any(Number),
        action: 'delete',
        actor: 'local',
        role: 'admin',
        name: 'tried',
        digest: '0123456789abcdef',
        outcome: 'ADAPTER_STATE',
        detail: expect.stringContaining('adapters.path'),
      },
    ]);
    expect(isWhole).toBe(false);
  });

  it('streams exports and removes their files', async () => {
    const begun = await ask('POST', 'exports', { sql: 'SELECT 42 AS n', format: 'csv' });
    const { id } = begun.json;
    await expect
      .poll(async () => (await ask('GET', `exports/${id}`)).json.state, { timeout: 30_000 })
      .toBe('done');
    const { text, status } = await ask('GET', `exports/${id}/file`);
    expect([status, text]).toEqual([200, 'n\n42\n']);
    expect((await ask('DELETE', `exports/${id}`)).json).toEqual({ removed: true });
    expect((await ask('GET', `exports/${id}/file`)).status).toBe(404);
  });
});

describe('an import of changes', () => {
  const begun = async () => (await ask('POST', 'catalogue/imports')).json.id as string;
  const lines = (id: string, text: string) =>
    ask('POST', `catalogue/imports/${id}/lines`, { text });
  const apply = (id: string) => ask('POST', `catalogue/imports/${id}/apply`);

  it('is collected part by part, applied at once and named in the log', async () => {
    const id = await begun();
    const first = '{"op":"pause","item_id":"p"}\n\n{"item_id":"q","sid":[1]}\n';
    expect((await lines(id, first)).json).toEqual({ lineCount: 3, changeCount: 2 });
    await lines(id, '{"op":"remove","item_id":"r"}');
    const { json } = await apply(id);
    expect(json).toMatchObject({ lineCount: 4, changeCount: 3 });
    const { changes } = (await ask('GET', 'catalogue/changes?limit=1')).json;
    expect(changes).toMatchObject([
      {
        sequence: json.sequence,
        changeCount: 3,
        source: 'console: local',
        ops: { pause: 1, upsert: 1, remove: 1 },
        told: [
          { op: 'pause', itemId: 'p' },
          { op: 'upsert', itemId: 'q' },
          { op: 'remove', itemId: 'r' },
        ],
      },
    ]);
    expect((await apply(id)).status).toBe(404);
  });

  it('is refused with line and member, and has changed nothing', async () => {
    const before = (await ask('GET', 'catalogue')).json.sequence;
    const torn = await begun();
    await lines(torn, '{"op":"pause","item_id":"p"}\n');
    const refused = await lines(torn, '\n{"op":"pause"}\n');
    expect(refused.json.error).toMatchObject({
      code: 'CATALOGUE_INVALID',
      field: 'lines[3].item_id',
    });
    expect((await apply(torn)).status).toBe(404);
    const wrong = await begun();
    await lines(wrong, '\n{"op":"pause","item_id":"p"}\n\n{"op":"pause","item_id":"wrong"}\n');
    const { json } = await apply(wrong);
    expect(json.error).toMatchObject({ code: 'CATALOGUE_INVALID', field: 'lines[4].sid' });
    expect(json.error.message).toBe('line 4.sid: expected another');
    const empty = await begun();
    expect((await apply(empty)).json.error.field).toBe('lines');
    expect((await ask('GET', 'catalogue')).json.sequence).toBe(before);
  });

  it('is one of few, and makes room when it is cancelled', async () => {
    const ids = await Promise.all(Array.from({ length: 4 }, begun));
    const fifth = await ask('POST', 'catalogue/imports');
    expect(fifth.json.error).toMatchObject({ code: 'STORE_FULL', field: 'imports' });
    for (const id of ids) {
      expect((await ask('DELETE', `catalogue/imports/${id}`)).json).toEqual({ removed: true });
    }
    expect((await ask('DELETE', `catalogue/imports/${await begun()}`)).status).toBe(200);
  });
});

describe('the gate', () => {
  it.each([
    ['no header of its own', { 'content-type': 'application/json' }],
    ['another origin', { ...OWN, origin: 'http://evil.example' }],
    ['another site', { ...OWN, 'sec-fetch-site': 'cross-site' }],
  ])('lets nothing act that comes with %s', async (_name, headers) => {
    const reply = await ask('POST', 'sql', { sql: 'SELECT 1' }, headers);
    expect([reply.status, reply.json.error.code]).toEqual([403, 'PERMISSION_DENIED']);
  });

  it('lets nobody look who calls this machine by another name', async () => {
    const { port } = new URL(serving.httpUrl);
    const status = await new Promise((resolve, reject) => {
      const headers = { host: 'rebound.example' };
      const path = '/console/api/about';
      httpRequest({ host: '127.0.0.1', port, path, headers }, (reply) => {
        reply.resume();
        resolve(reply.statusCode);
      })
        .on('error', reject)
        .end();
    });
    expect(status).toBe(403);
  });
});
