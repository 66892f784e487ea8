import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { TesseraClient } from '@tessera/client';
import { freePort, temporaryFolder } from '@tessera/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Collector } from './collector.js';
import { Service } from './service.js';

/** Features in one process, recalls in another. */
const folder = temporaryFolder({});
const FEATURE = { main: 'dist/apps/feature/src/main.js', printed: /metrics {2}http/ };
const RETRIEVAL = { main: 'dist/apps/standalone/src/main.js', printed: /OpenAPI {2}http/ };
const store = join(folder.path, 'behaviours');
const DEADLINE_MS = 20_000;
const POLL = { timeout: 60_000 };
const collector = new Collector();
let feature: Service;
let retrieval: Service;
let behaviours: TesseraClient;
let recalls: TesseraClient;
let url: string;

function startFeature(retrievalAddress: string, grpcPort = '0'): Promise<Service> {
  const variables = {
    TESSERA_BEHAVIOURS_STORE: 'embedded',
    TESSERA_BEHAVIOURS_PATH: store,
    TESSERA_GRPC_PORT: grpcPort,
    TESSERA_BEHAVIOURS_RETRIEVAL: retrievalAddress,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url,
  };
  return Service.start(variables, [], FEATURE);
}

beforeAll(async () => {
  url = await collector.start();
  const port = await freePort();
  feature = await startFeature(`127.0.0.1:${port}`);
  const flags = ['--behaviours', feature.grpcAddress];
  const variables = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url, TESSERA_GRPC_PORT: String(port) };
  retrieval = await Service.start(variables, flags, RETRIEVAL);
  behaviours = new TesseraClient(feature.grpcAddress);
  recalls = new TesseraClient(retrieval.grpcAddress);
});
afterAll(async () => {
  behaviours?.close();
  recalls?.close();
  await retrieval?.stop();
  await feature?.stop();
  collector.stop();
  folder.remove();
});

const event = (itemId: string, eventId: string) => ({
  userId: 'u',
  itemId,
  eventId,
  action: 'click',
  timeMs: Date.now(),
  scene: {},
});

describe('features in a process of their own', () => {
  it('give a recall the behaviours of its user', async () => {
    const unknown = recalls.recall({ userId: 'u', requireHistory: true }, DEADLINE_MS);
    await expect(unknown).rejects.toMatchObject({ code: 'USER_NOT_FOUND' });
    await behaviours.append([event('5', 'a'), event('9', 'b'), event('12', 'c')], DEADLINE_MS);
    const known = await recalls.recall({ userId: 'u', resultCount: 5 }, DEADLINE_MS);
    const history = { itemIds: ['5', '9', '12'] };
    const given = await recalls.recall({ history, resultCount: 5 }, DEADLINE_MS);
    const ids = (answer: typeof known) => answer.items.map((item) => item.itemId);
    expect(ids(known)).toHaveLength(5);
    expect(ids(known)).toEqual(ids(given));
    expect(known.historyItems).toBe(3);
  });

  it('are spans of the trace of the recall', async () => {
    const traceId = '1af7651916cd43dd8448eb211c80319c';
    const tracing = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };
    const client = new TesseraClient(retrieval.grpcAddress, { headers: () => tracing });
    await client.recall({ userId: 'u', resultCount: 4 }, DEADLINE_MS);
    client.close();
    const spans = () => collector.spans.filter((span) => span.traceId === traceId);
    const names = () => spans().map(({ service, name }) => `${service}: ${name}`);
    await expect.poll(names, POLL).toContain('tessera-feature: history');
    await expect.poll(names, POLL).toContain('tessera: recall');
    const recall = spans().find((span) => span.name === 'recall');
    const history = spans().find((span) => span.name === 'history');
    expect(recall?.parentSpanId).toBe('b7ad6b7169203331');
    expect(history?.parentSpanId).toBe(recall?.spanId);
    const [features, prefetch] = ['features', 'kv.prefetch'].map((name) =>
      spans().find((span) => span.name === name),
    );
    expect(features?.startTimeUnixNano).toBe(prefetch?.startTimeUnixNano);
    const operation = (value: string) => ({
      key: 'gen_ai.operation.name',
      value: { stringValue: value },
    });
    const topK = { key: 'gen_ai.retrieval.top_k', value: { intValue: 4 } };
    expect(recall?.attributes).toEqual(expect.arrayContaining([operation('retrieval'), topK]));
    const engine = spans().find((span) => span.name === 'engine');
    expect(engine?.attributes).toEqual(expect.arrayContaining([operation('generate_content')]));
  });

  it('let the KV pool follow, so that a returning user has only the scene to compute', async () => {
    const held = (await recalls.recall({ userId: 'u' }, DEADLINE_MS)).promptTokens;
    await behaviours.append([event('17', 'd')], DEADLINE_MS);
    const appended = 'tessera_kv_followed_users_total{outcome="appended"}';
    await expect.poll(() => feature.metric(appended), POLL).toBeGreaterThan(0);
    const answer = await recalls.recall({ userId: 'u' }, DEADLINE_MS);
    expect(answer.promptTokens).toBe(held + 3);
    expect(answer.kv?.computedTokens).toBe(1);
  });

  it('keep what they know to themselves: files 0600, folders 0700', () => {
    const names = readdirSync(store, { recursive: true, withFileTypes: true });
    expect(names.length).toBeGreaterThan(0);
    for (const { parentPath, name } of names) {
      expect(statSync(join(parentPath, name)).mode & 0o077, name).toBe(0);
    }
    expect(statSync(store).mode & 0o077).toBe(0);
  });

  it('warn a service of another model and catalogue that takes over their store', async () => {
    expect(feature.stdout).toContain(`Behaviours in ${store}\n`);
    const variables = { TESSERA_BEHAVIOURS_STORE: 'embedded', TESSERA_BEHAVIOURS_PATH: store };
    const own = Service.launch({ ...variables, TESSERA_MODEL_PATH: '/nowhere' });
    const { stderr } = await own.ended;
    const warnings = stderr.split('\n').filter((line) => line.includes('began with the users of'));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/models\/demo\/users\.json.*\/nowhere\/catalogue\.jsonl/);
    expect(feature.stderr).not.toContain('began with the users of');
  });

  it('erase a user in both', async () => {
    await behaviours.append([{ ...event('5', 'x'), userId: 'v' }], DEADLINE_MS);
    await recalls.recall({ userId: 'v' }, DEADLINE_MS);
    const chains = async () => {
      const { json } = await retrieval.post({ userId: 'v' }, undefined, '/v1/kv/inspect');
      return (json as { chains: unknown[] }).chains.length;
    };
    expect(await chains()).toBeGreaterThan(0);
    await behaviours.erase('v', DEADLINE_MS);
    expect(await chains()).toBe(0);
  });

  it('tell health and metrics of their own', async () => {
    const health = await (await fetch(`${feature.httpUrl}/health`)).json();
    expect(health).toMatchObject({ live: true, ready: true, versions: { service: '0.1.0' } });
    const added = 'tessera_behaviours_total{edge="grpc",outcome="added"}';
    expect(await feature.metric(added)).toBe(5);
  });

  it('are missed with a typed refusal, and found again', async () => {
    const ended = await feature.stop();
    expect(ended.status).toBe(0);
    const missed = recalls.recall({ userId: 'u' }, 5000);
    await expect(missed).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    feature = await startFeature(retrieval.grpcAddress, feature.grpcAddress.split(':').at(-1));
    const found = async () => {
      const answer = await recalls.recall({ userId: 'u' }, DEADLINE_MS).catch(() => undefined);
      return answer?.historyItems;
    };
    await expect.poll(found, POLL).toBe(4);
  });
});
