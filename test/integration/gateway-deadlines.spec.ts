/** A gateway before a node that says it is well and answers nothing keeps the caller's time. */

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as grpc from '@grpc/grpc-js';
import { loadConfig } from '@tessera/config';
import { protoSchema } from '@tessera/contracts';
import { METHODS, type Method, rpcOf } from '@tessera/methods';
import { createLog } from '@tessera/telemetry';
import { relevanceProfile } from '@tessera/testing';
import protobuf from 'protobufjs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ServingGateway, serve } from '../../apps/gateway/src/serve.js';

const asIs = (bytes: Buffer) => bytes;
const root = protobuf.Root.fromJSON(protoSchema as protobuf.INamespace).resolveAll();
const definitionOf = (path: string) => ({
  path,
  requestStream: false,
  responseStream: false,
  requestSerialize: asIs,
  requestDeserialize: asIs,
  responseSerialize: asIs,
  responseDeserialize: asIs,
});

/** The request of a method; undefined where its requests have no time. */
function timedRequest({ path }: Method): object | undefined {
  const [, service = '', name = ''] = path.split('/');
  if (service.startsWith('grpc.')) return undefined;
  const { resolvedRequestType: type } = root.lookupService(service).methods[name] ?? {};
  const { fields = {} } = type ?? {};
  const timed = { deadlineMs: 50, userId: 'u' };
  if (fields.deadlineMs !== undefined) {
    const several = { recalls: [{ userId: 'u' }], documents: [{ text: 'a' }, { text: 'b' }] };
    const own = Object.entries({ ...timed, ...several, query: 'q' });
    return Object.fromEntries(own.filter(([field]) => field in fields));
  }
  const inside = fields.request?.resolvedType;
  const isTimed = inside instanceof protobuf.Type && 'deadlineMs' in inside.fields;
  return isTimed ? { request: timed } : undefined;
}

const timed = METHODS.flatMap((method) => {
  const request = timedRequest(method);
  return request === undefined || method.routing.to === 'node' ? [] : [{ method, request }];
});

const wellness = createServer(({ url }, reply) => {
  // Everything else hangs.
  if (url !== '/health') return;
  const versions = { node: 'hangs' };
  reply.end(JSON.stringify({ state: 'ready', versions, relevance: relevanceProfile() }));
});
const edge = new grpc.Server();
let gateway: ServingGateway;
let client: grpc.Client;

beforeAll(async () => {
  wellness.listen(0, '127.0.0.1');
  await once(wellness, 'listening');
  const health = '/grpc.health.v1.Health/Check';
  const well: grpc.handleUnaryCall<Buffer, Buffer> = (_call, done) => done(null, Buffer.alloc(0));
  edge.addService({ Check: definitionOf(health) }, { Check: well });
  for (const { path } of timed.map(({ method }) => method)) {
    edge.addService({ [path]: definitionOf(path) }, { [path]: () => undefined });
  }
  const port = await new Promise<number>((resolve) => {
    const credentials = grpc.ServerCredentials.createInsecure();
    edge.bindAsync('127.0.0.1:0', credentials, (_error, bound) => resolve(bound));
  });
  const http = (wellness.address() as AddressInfo).port;
  const environment = {
    TESSERA_HTTP_PORT: '0',
    TESSERA_GRPC_PORT: '0',
    TESSERA_CLUSTER_NODES: `hangs=127.0.0.1:${port}/127.0.0.1:${http}`,
    // Longer than the test: a gateway that takes it in place of the caller's time never answers.
    TESSERA_RECALL_DEADLINE_MS_MAX: '600000',
  };
  const { config } = loadConfig({ environment });
  gateway = await serve({ config, log: createLog('silent'), serviceVersion: '1' });
  client = new grpc.Client(gateway.grpcAddress, grpc.credentials.createInsecure());
});

afterAll(async () => {
  client?.close();
  await gateway?.drain.run();
  edge.forceShutdown();
  wellness.closeAllConnections();
  wellness.close();
});

async function overHttp(path: string, body: object) {
  const headers = { 'content-type': 'application/json' };
  const url = gateway.httpUrl + path;
  const reply = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  const { error } = (await reply.json()) as { error?: { code?: string } };
  return [reply.status, error?.code];
}

it('knows the methods whose requests have a time', () => {
  expect(timed.map(({ method }) => rpcOf(method.path))).toContain(
    'tessera.explain.v1.ExplainService.Explain',
  );
  expect(timed.length).toBeGreaterThan(6);
});

const routes = timed.flatMap(({ method: { http }, request }) =>
  http === undefined ? [] : [[http, request] as const],
);
const reranks = ['/rerank', '/v1/rerank', '/v2/rerank'].map(
  (path) => [path, { query: 'q', documents: ['a', 'b'], deadline_ms: 50 }] as const,
);
const whole = ['/v1/rerank', { query: 'q', documents: ['a', 7], deadline_ms: 50 }] as const;

it.each([...routes, ...reranks, whole])('%s is a 504 once its time is over', async (path, body) => {
  expect(await overHttp(path, body)).toEqual([504, 'DEADLINE_EXCEEDED']);
  expect(gateway.cluster.link('hangs')?.state).toBe('up');
});

it.each(timed.map(({ method, request }) => [method.path, request] as const))(
  '%s ends once the time of its message is over',
  async (path, request) => {
    const [, service = '', name = ''] = path.split('/');
    const type = root.lookupService(service).methods[name]?.resolvedRequestType as protobuf.Type;
    const bytes = Buffer.from(type.encode(type.fromObject(request)).finish());
    const error = await new Promise<grpc.ServiceError | null>((resolve) => {
      client.makeUnaryRequest(path, asIs, asIs, bytes, resolve);
    });
    expect(error?.code).toBe(grpc.status.DEADLINE_EXCEEDED);
    expect(error?.metadata.get('tessera-code')).toEqual(['DEADLINE_EXCEEDED']);
  },
);
