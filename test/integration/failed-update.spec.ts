/** A service whose engine refuses all work for good is not ready, and says why. */

import 'reflect-metadata';
import { join } from 'node:path';
import * as grpc from '@grpc/grpc-js';
import { loadConfig } from '@tessera/config';
import { type ErrorCode, TesseraError } from '@tessera/errors';
import type { Serving } from '@tessera/hosting';
import { createLog } from '@tessera/telemetry';
import { temporaryFolder } from '@tessera/testing';
import { service as healthService } from 'grpc-health-check';
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest';
import { serve } from '../../apps/standalone/src/serve.js';
import { AdapterClient } from '../../tools/served/adapter-client.js';
import { FakeRuntime } from './fake-runtime.js';

const CALL_MS = 10_000;
const REASON = 'the old weights did not come back';

let serving: Serving;
let weights: AdapterClient;
let code: ErrorCode;
const folder = temporaryFolder({});
const HealthClient = grpc.makeGenericClientConstructor(healthService, 'Health');

beforeEach(async () => {
  const runtime = new FakeRuntime();
  const update = () => Promise.reject(new TesseraError(code, REASON));
  const recall = () => Promise.reject(new TesseraError(code, REASON));
  Object.assign(runtime, { recall, weights: { ...runtime.weights, update } });
  const { config } = loadConfig({
    environment: {
      TESSERA_HTTP_PORT: '0',
      TESSERA_GRPC_PORT: '0',
      TESSERA_ACCESS_AUDIT_PATH: join(folder.path, 'audit.jsonl'),
    },
  });
  serving = await serve({ config, runtime, log: createLog('silent'), serviceVersion: '1' });
  const credentials = grpc.credentials.createInsecure();
  weights = new AdapterClient(serving.grpcAddress, '', credentials, 'weights');
});
afterEach(async () => {
  weights.close();
  await serving.drain.run();
});
afterAll(() => folder.remove());

async function healthOverGrpc(): Promise<unknown> {
  const client = new HealthClient(serving.grpcAddress, grpc.credentials.createInsecure());
  const check = (client as never as Record<string, (...words: unknown[]) => void>).Check;
  try {
    return await new Promise((resolve, reject) => {
      check?.call(client, { service: '' }, (error: unknown, answer: { status: unknown }) =>
        error ? reject(error) : resolve(answer.status),
      );
    });
  } finally {
    client.close();
  }
}

async function readyOverHttp() {
  const reply = await fetch(`${serving.httpUrl}/health/ready`);
  return { status: reply.status, ...((await reply.json()) as object) };
}

async function recallOverHttp(): Promise<unknown> {
  const reply = await fetch(`${serving.httpUrl}/v1/recall`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"userId":"1"}',
  });
  return reply.json();
}

it('an update after which no weights are there ends the readiness, with the reason', async () => {
  code = 'ENGINE_UNAVAILABLE';
  await expect(weights.call('Update', { name: 'monday' }, CALL_MS)).rejects.toThrow(REASON);
  const reason = expect.stringContaining(REASON);
  expect(await readyOverHttp()).toMatchObject({ status: 503, state: 'failed', reason });
  expect(await healthOverGrpc()).toBe('NOT_SERVING');
  expect(await recallOverHttp()).toMatchObject({
    error: { code: 'ENGINE_UNAVAILABLE', message: `the service is failed: ${REASON}` },
  });
});

it('an update that is refused leaves it ready', async () => {
  code = 'MODEL_CORRUPT';
  await expect(weights.call('Update', { name: 'monday' }, CALL_MS)).rejects.toThrow(REASON);
  expect(await readyOverHttp()).toMatchObject({ status: 200, state: 'ready' });
  expect(await healthOverGrpc()).toBe('SERVING');
});

it('a recall that finds an engine that cannot compute ends the readiness', async () => {
  code = 'DEADLINE_EXCEEDED';
  await recallOverHttp();
  expect(await readyOverHttp()).toMatchObject({ status: 200, state: 'ready' });
  code = 'ENGINE_UNAVAILABLE';
  expect(await recallOverHttp()).toMatchObject({ error: { code, message: REASON } });
  const reason = expect.stringContaining(REASON);
  expect(await readyOverHttp()).toMatchObject({ status: 503, state: 'failed', reason });
  expect(await healthOverGrpc()).toBe('NOT_SERVING');
});
