/** A service whose recalls take long: deadlines, clients that go away, and stopping meanwhile. */

import { join } from 'node:path';
import * as grpc from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../libs/testing/src/index.js';
import { RecallClient } from '../integration/recall-client.js';
import { SLOW, writeRandomModel } from './random-model.js';
import { Service } from './service.js';

const folder = temporaryFolder({});
const running = 'tessera_engine_requests{state="running"}';
const outcome = (name: string) => `tessera_engine_outcomes_total{outcome="${name}"}`;

// Time enough: what cannot be done in time is refused at once and never runs.
const PATIENCE_MS = 600_000;

let service: Service;

const variables = {
  TESSERA_MODEL_PATH: join(folder.path, 'model'),
  TESSERA_CATALOGUE_CACHE_PATH: join(folder.path, 'cache'),
  TESSERA_ENGINE_PROMPT_TOKENS_MAX: '8000',
  TESSERA_ENGINE_PREFILL_CHUNK_TOKENS: '16',
  TESSERA_RECALL_DEADLINE_MS_MAX: String(PATIENCE_MS),
};

const history = Array.from({ length: 1500 }, (_, index) => String((index * 37) % 200));
const long = { history, deadlineMs: PATIENCE_MS };
const longMessage = { history: { itemIds: history } };

beforeAll(() => {
  writeRandomModel(join(folder.path, 'model'), SLOW);
});

afterAll(() => folder.remove());

describe('while a recall runs', () => {
  beforeAll(async () => {
    service = await Service.start(variables);
  });
  afterAll(async () => {
    await service?.stop();
  });

  it('an HTTP client that goes away cancels it in the engine', async () => {
    const before = await service.metric(outcome('cancelled'));
    const controller = new AbortController();
    const reply = service.post(long, controller.signal).catch((error: Error) => error.name);
    await service.metricBecomes(running, 1);
    controller.abort();
    expect(await reply).toBe('AbortError');
    await service.metricBecomes(outcome('cancelled'), before + 1);
  });

  it('a gRPC client that cancels its call cancels it in the engine', async () => {
    const before = await service.metric(outcome('cancelled'));
    const client = new RecallClient(service.grpcAddress);
    const { reply, cancel } = client.begin(longMessage, {
      deadline: Date.now() + PATIENCE_MS,
    });
    await service.metricBecomes(running, 1);
    cancel();
    expect((await reply).status).toBe(grpc.status.CANCELLED);
    await service.metricBecomes(outcome('cancelled'), before + 1);
    client.close();
  });

  // The last one: its gRPC recall may begin after the client gave up, or never.
  it('its deadline ends it on both edges', async () => {
    const overHttp = await service.post({ ...long, deadlineMs: 30 });
    expect(overHttp.status).toBe(504);
    expect(overHttp.json.error).toMatchObject({ code: 'DEADLINE_EXCEEDED', retryable: true });
    const client = new RecallClient(service.grpcAddress);
    const overGrpc = await client.recall(longMessage, { deadline: Date.now() + 50 });
    expect(overGrpc.status).toBe(grpc.status.DEADLINE_EXCEEDED);
    client.close();
  });
});

describe('SIGTERM', () => {
  it('lets an accepted recall end, refuses new connections and exits with 0', async () => {
    service = await Service.start({ ...variables, TESSERA_SHUTDOWN_DRAIN_MS: String(PATIENCE_MS) });
    const reply = service.post({ history: history.slice(0, 300), deadlineMs: PATIENCE_MS });
    await service.metricBecomes(running, 1);
    const ended = service.stop();
    expect((await reply).status).toBe(200);
    expect(await ended).toMatchObject({ status: 0, signal: null });
    await expect(service.post({ userId: '1' })).rejects.toThrow();
    const steps = [...service.stderr.matchAll(/"step":"([^"]+)","outcome":"([^"]+)"/g)];
    const done = steps.map((match) => `${match[1]}: ${match[2]}`);
    expect(done.slice(0, 5)).toEqual([
      'readiness off: done',
      'stop accepting: done',
      'engine drain: done',
      'edges close: done',
      'nothing held: done',
    ]);
    expect(done.slice(5).every((step) => step.endsWith(' close: done'))).toBe(true);
  });

  it('cancels a recall that outlasts the drain time, with a typed answer', async () => {
    service = await Service.start({ ...variables, TESSERA_SHUTDOWN_DRAIN_MS: '1' });
    const reply = service.post(long);
    await service.metricBecomes(running, 1);
    const ended = service.stop();
    const { status, json } = await reply;
    expect(status).toBeGreaterThanOrEqual(499);
    expect(['CANCELLED', 'ENGINE_UNAVAILABLE']).toContain((json.error as { code: string }).code);
    expect(await ended).toMatchObject({ status: 0, signal: null });
  });
});
