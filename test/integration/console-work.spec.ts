/** Work of analysts in the console: its authors, the recalls of a list, the bytes of answers. */

import 'reflect-metadata';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { loadConfig } from '@tessera/config';
import type { Serving } from '@tessera/hosting';
import { createLog } from '@tessera/telemetry';
import { temporaryFolder } from '@tessera/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Inspection, openInspection } from '../../apps/standalone/src/inspection.js';
import { serve } from '../../apps/standalone/src/serve.js';
import { FakeRuntime } from './fake-runtime.js';

const folder = temporaryFolder({});
const log = createLog('silent');
const NAMES = { ann: 'read', bob: 'read', abe: 'admin' } as const;
type Name = keyof typeof NAMES;
const tokensPath = join(folder.path, 'tokens.json');
const QUOTES = `it's "odd" \\ ; DROP TABLE recalls --`;

let serving: Serving;
let inspection: Inspection | undefined;

beforeAll(async () => {
  const grants = Object.entries(NAMES).map(([name, scope]) => ({
    name,
    scopes: [scope],
    sha256: createHash('sha256').update(`${name}-token`).digest('hex'),
  }));
  writeFileSync(tokensPath, JSON.stringify(grants));
  const { config } = loadConfig({
    environment: {
      TESSERA_HTTP_PORT: '0',
      TESSERA_GRPC_PORT: '0',
      TESSERA_INSPECTION_PATH: join(folder.path, 'inspection'),
      TESSERA_INSPECTION_PERCENT: '0',
      TESSERA_ACCESS_TOKENS_PATH: tokensPath,
      TESSERA_ACCESS_AUDIT_PATH: join(folder.path, 'audit.jsonl'),
    },
  });
  inspection = await openInspection(config, log);
  const runtime = new FakeRuntime();
  serving = await serve({ config, runtime, log, inspection, serviceVersion: '1.2.3' });
});

afterAll(async () => {
  await serving.drain.run();
  folder.remove();
});

async function ask(name: Name, method: string, path: string, body?: object) {
  const reply = await fetch(`${serving.httpUrl}/console/api/${path}`, {
    method,
    headers: {
      authorization: `Bearer ${name}-token`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  const isJson = reply.headers.get('content-type')?.startsWith('application/json');
  return { status: reply.status, text, json: isJson ? JSON.parse(text) : undefined };
}

const recorded = async (body: object) =>
  (await ask('ann', 'POST', 'recalls', body)).json.id as string;

describe('work of an analyst', () => {
  it('is replaced and removed by its author or an admin alone', async () => {
    const id = await recorded({ userId: 'a' });
    const compared = async () => {
      const { text } = await ask('ann', 'POST', 'comparisons', { users: ['a'] });
      return JSON.parse(text.trim().split('\n').at(-1) ?? '').id as string;
    };
    const noted = async () =>
      (await ask('ann', 'POST', `recalls/${id}/notes`, { text: 'mine' })).json.id as string;
    const set = { name: 'hers', recallIds: [id] };
    const question = { name: 'hers', sql: 'SELECT 1' };
    const makers = [
      ['sets', async () => void (await ask('ann', 'POST', 'sets', set)), () => 'sets/hers'],
      [
        'questions',
        async () => void (await ask('ann', 'POST', 'questions', question)),
        () => 'questions/hers',
      ],
      ['comparisons', compared, (made: string) => `comparisons/${made}`],
      ['notes', noted, (made: string) => `recalls/${id}/notes/${made}`],
    ] as const;
    for (const [what, make, pathOf] of makers) {
      for (const remover of ['ann', 'abe'] as const) {
        const path = pathOf(String(await make()));
        const refused = await ask('bob', 'DELETE', path);
        expect([what, refused.status, refused.json.error.code]).toEqual([
          ...[what, 403, 'PERMISSION_DENIED'],
        ]);
        expect(refused.json.error.message).toContain('its author ann');
        expect((await ask(remover, 'DELETE', path)).json).toEqual({ removed: true });
      }
    }
    await ask('ann', 'POST', 'sets', set);
    expect((await ask('bob', 'POST', 'sets', { name: 'hers', recallIds: [] })).status).toBe(403);
    await ask('ann', 'POST', 'questions', question);
    const replaced = await ask('bob', 'POST', 'questions', { name: 'hers', sql: 'SELECT 2' });
    expect(replaced.status).toBe(403);
    expect((await ask('bob', 'GET', 'questions')).json.questions).toMatchObject([
      { name: 'hers', author: 'ann', sql: 'SELECT 1' },
    ]);
  });

  it('is no comparison where all users failed', async () => {
    const before = (await ask('ann', 'GET', 'comparisons')).json.comparisons.length;
    const { text } = await ask('ann', 'POST', 'comparisons', { users: ['nobody'] });
    const summary = JSON.parse(text.trim().split('\n').at(-1) ?? '');
    expect(summary).toMatchObject({ kind: 'summary', id: '', users: 0, failed: 1 });
    expect((await ask('ann', 'GET', 'comparisons')).json.comparisons).toHaveLength(before);
  });
});

describe('the list of recorded recalls', () => {
  const idsOf = async (query: Record<string, string>) => {
    const { status, json } = await ask('ann', 'GET', `recalls?${new URLSearchParams(query)}`);
    expect([query, status]).toEqual([query, 200]);
    return (json.recalls as { id: string }[]).map(({ id }) => id);
  };

  it('has those of a scene, an adapter, a change and a set, whatever they are called', async () => {
    const odd = await recorded({ userId: 'scene', scene: { daypart: QUOTES } });
    const plain = await recorded({ userId: 'scene', scene: { daypart: 'night' } });
    expect(await idsOf({ scene: `daypart=${QUOTES}` })).toEqual([odd]);
    expect(await idsOf({ scene: 'daypart=night', userId: 'scene' })).toEqual([plain]);
    expect(await idsOf({ scene: 'other=night' })).toEqual([]);
    const { versions } = (await ask('ann', 'GET', `recalls/${odd}`)).json.recall.answer;
    for (const adapter of [versions.adapter || 'base', versions.adapterName || 'base']) {
      expect(await idsOf({ adapter, userId: 'scene' })).toHaveLength(2);
    }
    expect(await idsOf({ adapter: QUOTES })).toEqual([]);
    expect(await idsOf({ userId: QUOTES, order: 'slowest' })).toEqual([]);
    expect(await idsOf({ change: '999999' })).toEqual([]);
    await ask('ann', 'POST', 'sets', { name: QUOTES, recallIds: [plain, 'gone', odd] });
    expect(await idsOf({ set: QUOTES })).toEqual([plain, odd]);
    expect(await idsOf({ set: QUOTES, offset: '2' })).toEqual([odd]);
    expect((await ask('ann', 'GET', 'recalls?set=none')).status).toBe(404);
    const { json } = await ask('ann', 'GET', 'recalls?userId=scene');
    expect(json.recalls[0]).toMatchObject({ id: plain, scene: { daypart: 'night' } });
  });

  it('is in the order of the duration, within bounds, part by part', async () => {
    for (let n = 0; n < 5; n += 1) await recorded({ userId: 'order' });
    const slowest = await idsOf({ userId: 'order', order: 'slowest' });
    expect(slowest).toHaveLength(5);
    const first = await idsOf({ userId: 'order', order: 'slowest', limit: '2' });
    const rest = await idsOf({ userId: 'order', order: 'slowest', limit: '3', offset: '2' });
    expect([...first, ...rest]).toEqual(slowest);
    expect(await idsOf({ userId: 'order', minUs: '999999999' })).toEqual([]);
    expect(await idsOf({ userId: 'order', maxUs: '999999999' })).toHaveLength(5);
  });

  it.each([
    ['scene=night', 'scene'],
    ['scene=a%27b=c', 'scene'],
    ['order=random', 'order'],
    ['offset=-1', 'offset'],
    ['minUs=x', 'minUs'],
    ['who=ann', 'who'],
  ])('refuses %s', async (query, field) => {
    const { status, json } = await ask('ann', 'GET', `recalls?${query}`);
    expect([status, json.error.field]).toEqual([400, field]);
  });
});

describe('answers of the API', () => {
  const raw = (path: string, encoding: string) =>
    new Promise<{ encoding: string; bytes: Buffer }>((resolve, reject) => {
      const headers = { authorization: 'Bearer ann-token', 'accept-encoding': encoding };
      const asked = request(`${serving.httpUrl}${path}`, { headers }, (reply) => {
        const parts: Buffer[] = [];
        reply.on('data', (part: Buffer) => parts.push(part));
        reply.on('end', () => {
          const used = reply.headers['content-encoding'] ?? '';
          resolve({ encoding: used, bytes: Buffer.concat(parts) });
        });
      });
      asked.on('error', reject);
      asked.end();
    });

  it('are compressed for who can read that, and those of other routes are not', async () => {
    const plain = await raw('/console/api/recalls?limit=50', 'identity');
    const small = await raw('/console/api/recalls?limit=50', 'br, gzip');
    expect([plain.encoding, small.encoding]).toEqual(['', 'br']);
    expect(brotliDecompressSync(small.bytes).toString()).toBe(plain.bytes.toString());
    expect(small.bytes.length).toBeLessThan(plain.bytes.length / 3);
    expect((await raw('/docs-json', 'br, gzip')).encoding).toBe('');
  });
});
