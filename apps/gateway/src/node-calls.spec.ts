/** Calls over gRPC from a gateway to one node, over real connections. */

import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import * as grpc from '@grpc/grpc-js';
import type { Connection } from '@tessera/client';
import { LOAD_TRAILER } from '@tessera/contracts';
import { until } from '@tessera/testing';
import { afterEach, expect, it } from 'vitest';
import { failureOf, NodeAway } from './node-failure.js';
import { NodeLink } from './node-link.js';

const CONNECTION: Connection = { isTls: false, files: {} as Connection['files'], token: '' };
const PATH = '/test.v1.Echo/Ask';
const MESSAGE = Buffer.from('any bytes');
const asIs = (bytes: Buffer) => bytes;
const METHOD = {
  path: PATH,
  requestStream: false,
  responseStream: false,
  requestSerialize: asIs,
  requestDeserialize: asIs,
  responseSerialize: asIs,
  responseDeserialize: asIs,
};

const opened: (() => void)[] = [];
afterEach(() => {
  for (const close of opened.splice(0)) close();
});

type Handler = grpc.handleUnaryCall<Buffer, Buffer>;

/** @returns its port */
function serve(handler: Handler, port = 0): Promise<number> {
  const server = new grpc.Server();
  server.addService({ Ask: METHOD }, { Ask: handler });
  opened.push(() => server.forceShutdown());
  return new Promise((resolve, reject) => {
    const credentials = grpc.ServerCredentials.createInsecure();
    server.bindAsync(`127.0.0.1:${port}`, credentials, (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
}

function linkTo(port: number, onLoad?: (loadClass: number) => void): NodeLink {
  const member = { name: 'a', grpc: `127.0.0.1:${port}`, http: '127.0.0.1:1', weight: 1 };
  const link = new NodeLink(member, CONNECTION, onLoad);
  opened.push(() => link.close());
  return link;
}

const NEVER = Number.POSITIVE_INFINITY;
const ask = (link: NodeLink, deadlineMs = NEVER, onBegun = (_: () => void) => {}) =>
  link.unary(PATH, MESSAGE, { 'idempotency-key': 'k' }, deadlineMs, onBegun);
const thrownBy = (answer: Promise<Buffer>) => answer.catch((thrown: unknown) => thrown);

it('passes bytes and fields on, and takes the load class of the answer', async () => {
  const loads: number[] = [];
  const port = await serve((call, done) => {
    const trailers = new grpc.Metadata();
    trailers.set(LOAD_TRAILER, '3');
    const key = String(call.metadata.get('idempotency-key')[0]);
    done(null, Buffer.concat([call.request, Buffer.from(key)]), trailers);
  });
  expect((await ask(linkTo(port, (load) => loads.push(load)))).toString()).toBe('any bytesk');
  expect(loads).toEqual([3]);
});

it('fails as the node does, with its trailers', async () => {
  const metadata = new grpc.Metadata();
  metadata.set('tessera-code', 'ENGINE_OVERLOADED');
  const code = grpc.status.RESOURCE_EXHAUSTED;
  const port = await serve((_, done) => done({ code, details: 'the queue is full', metadata }));
  const thrown = await thrownBy(ask(linkTo(port)));
  expect(thrown).toMatchObject({ code, details: 'the queue is full' });
  expect(failureOf(thrown)).toBe('busy');
});

it('ends at the deadline, which says nothing of the node', async () => {
  const thrown = await thrownBy(ask(linkTo(await serve(() => undefined)), Date.now() + 50));
  expect(thrown).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
  expect(failureOf(thrown)).toBe('final');
});

it('ends at the deadline before a node that accepts connections and says nothing', async () => {
  const silent = createServer(() => undefined).listen(0, '127.0.0.1');
  opened.push(() => silent.close());
  await once(silent, 'listening');
  const link = linkTo((silent.address() as AddressInfo).port);
  await expect(link.ping('', Date.now() + 100)).rejects.toThrow(NodeAway);
  expect(await thrownBy(ask(link, Date.now() + 100))).toMatchObject({
    code: 'DEADLINE_EXCEEDED',
  });
});

it('keeps the connection of many calls that end at their deadlines', async () => {
  const peers = new Set<string>();
  const link = linkTo(await serve((call) => void peers.add(call.getPeer())));
  for (let round = 0; round < 15; round += 1) {
    const asked = Array.from({ length: 100 }, () => thrownBy(ask(link, Date.now() + 20)));
    for (const thrown of await Promise.all(asked)) {
      expect(thrown).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    }
  }
  expect(peers.size).toBe(1);
});

it('ends at the node where its caller cancels it', async () => {
  const seen = { begun: false, cancelled: false };
  const port = await serve((call) => {
    seen.begun = true;
    call.once('cancelled', () => {
      seen.cancelled = true;
    });
  });
  let cancel: () => void = () => undefined;
  const answer = thrownBy(
    ask(linkTo(port), NEVER, (end) => {
      cancel = end;
    }),
  );
  await until('the node has it', () => seen.begun);
  cancel();
  expect(await answer).toMatchObject({ code: grpc.status.CANCELLED });
  await until('the node knows', () => seen.cancelled);
});

it('leaves a node that is found to be away, and reaches it when it is back', async () => {
  let begun = 0;
  const port = await serve((call, done) => {
    begun += 1;
    if (begun > 1) done(null, call.request);
  });
  const link = linkTo(port);
  const answer = thrownBy(ask(link));
  await until('the node has it', () => begun === 1);
  link.endWaiting();
  const thrown = await answer;
  expect(thrown).toBeInstanceOf(NodeAway);
  expect(failureOf(thrown)).toBe('away');
  expect((await ask(link)).equals(MESSAGE)).toBe(true);
});

it('is for another node where the connection breaks or nobody listens', async () => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const link = linkTo(port);
  const answer = thrownBy(ask(link));
  await until('the node has it', () => sockets.length > 0);
  silent.close();
  for (const socket of sockets) socket.destroy();
  expect(failureOf(await answer)).toBe('away');
  expect(failureOf(await thrownBy(ask(link)))).toBe('away');
  await expect(link.ping('', 1000)).rejects.toThrow(NodeAway);
  await serve((call, done) => done(null, call.request), port);
  link.endWaiting();
  expect((await ask(link)).equals(MESSAGE)).toBe(true);
});
