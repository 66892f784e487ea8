/** Operations on the user KV pool over both edges. */

import 'reflect-metadata';
import type * as grpc from '@grpc/grpc-js';
import { ServiceClient } from '@tessera/client';
import { loadConfig } from '@tessera/config';
import type { Serving } from '@tessera/hosting';
import { createLog } from '@tessera/telemetry';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { serve } from '../../apps/standalone/src/serve.js';
import { FakeRuntime } from './fake-runtime.js';

const { config } = loadConfig({
  environment: { TESSERA_HTTP_PORT: '0', TESSERA_GRPC_PORT: '0' },
});
const CHAIN = {
  version: 'abc',
  isRetired: false,
  seq: 3,
  tokens: 96,
  prefixTokens: 32,
  deviceTokens: 64,
  hostTokens: 0,
  diskTokens: 96,
  durableTokens: 96,
  unusedUs: 12.5,
  versionsBack: 0,
};

interface Failure {
  readonly code?: string | undefined;
  readonly field?: string | undefined;
}
type Outcome = { readonly answer: unknown } | { readonly error: Failure };

let runtime: FakeRuntime;
let serving: Serving;
let client: ServiceClient<'tessera.kv.v1.KvPoolService'>;

beforeEach(async () => {
  runtime = new FakeRuntime();
  runtime.kvPool.chains.set('ann', [CHAIN]);
  serving = await serve({ config, runtime, log: createLog('silent'), serviceVersion: '1.2.3' });
  client = new ServiceClient('tessera.kv.v1.KvPoolService', serving.grpcAddress);
});

afterEach(async () => {
  client.close();
  await serving.drain.run();
});

async function overHttp(operation: string, body: object): Promise<Outcome> {
  const reply = await fetch(`${serving.httpUrl}/v1/kv/${operation}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const json = (await reply.json()) as { error?: Failure };
  return json.error === undefined ? { answer: json } : { error: json.error };
}

async function overGrpc(operation: string, message: object): Promise<Outcome> {
  const method = operation.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
  try {
    return { answer: await client.call(method as 'Inspect', message) };
  } catch (thrown) {
    const { metadata } = thrown as grpc.ServiceError;
    const trailer = (name: string) => metadata.get(name)[0]?.toString();
    return { error: { code: trailer('tessera-code'), field: trailer('tessera-field') } };
  }
}

describe.each([
  ['HTTP', overHttp],
  ['gRPC', overGrpc],
])('the pool over %s', (_edge, ask) => {
  it('tells the chains of a user, and none of a stranger', async () => {
    expect(await ask('inspect', { userId: 'ann' })).toEqual({ answer: { chains: [CHAIN] } });
    expect(await ask('inspect', { userId: 'nobody' })).toEqual({ answer: { chains: [] } });
  });

  it('forgets a user and a version', async () => {
    expect(await ask('drop-user', { userId: 'ann', deadlineMs: 500 })).toEqual({ answer: {} });
    expect(runtime.kvPool.chains.size).toBe(0);
    runtime.kvPool.chains.set('ann', [CHAIN]);
    expect(await ask('drop-version', { version: 'abc' })).toEqual({ answer: {} });
    expect(runtime.kvPool.droppedVersions).toEqual(['abc']);
  });

  it('reports what a check of everything found', async () => {
    const report = { chains: 1, blocks: 0, checkedDiskBlocks: 0, faults: [] };
    expect(await ask('check-integrity', {})).toMatchObject({ answer: report });
  });

  it('keeps a user without a recall', async () => {
    const message = { requestId: 'r', userId: 'ann', profile: { age: '30' }, deadlineMs: 900 };
    const kept = { requestId: 'r', keptTokens: 8, kv: { savedTokens: 8 } };
    expect(await ask('append', message)).toMatchObject({ answer: kept });
    const [seen] = runtime.appended;
    expect(seen?.request).toEqual({
      requestId: 'r',
      userId: 'ann',
      profile: { age: '30' },
      scene: {},
      skipUnknownItems: false,
    });
    expect(seen?.context.budgetUs).toBeGreaterThan(400_000);
    expect(seen?.context.budgetUs).toBeLessThanOrEqual(900_000);
  });

  it('refuses what names nobody, unknown versions and bad deadlines, with the field', async () => {
    const refused = (field: string) => ({ error: { code: 'REQUEST_INVALID', field } });
    expect(await ask('inspect', { userId: '' })).toMatchObject(refused('userId'));
    expect(await ask('drop-user', { userId: '' })).toMatchObject(refused('userId'));
    expect(await ask('drop-version', { version: '' })).toMatchObject(refused('version'));
    expect(await ask('drop-version', { version: 'zzz' })).toMatchObject(refused('version'));
    const late = { userId: 'ann', deadlineMs: 1e9 };
    expect(await ask('drop-user', late)).toMatchObject(refused('deadlineMs'));
    expect(runtime.kvPool.chains.size).toBe(1);
  });
});

describe('the HTTP edge of the pool', () => {
  it.each([
    ['inspect', { userId: true }, 'userId'],
    ['inspect', { userId: 'ann', more: 1 }, 'more'],
    ['drop-user', {}, 'userId'],
    ['drop-version', { version: 7 }, 'version'],
    ['check-integrity', { all: true }, 'all'],
    ['append', { userId: 'ann', scene: {} }, 'scene'],
  ])('%s refuses %j, naming the field', async (operation, body, field) => {
    expect(await overHttp(operation, body)).toMatchObject({
      error: { code: 'REQUEST_INVALID', field },
    });
  });
});
