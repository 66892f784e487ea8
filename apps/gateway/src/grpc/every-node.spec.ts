import * as grpc from '@grpc/grpc-js';
import type { Connection } from '@tessera/client';
import { until } from '@tessera/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { Asking, ForwardCounts } from '../asking.js';
import { Cluster } from '../cluster.js';
import { EveryNodeCalls } from './every-node.js';
import { addForwarded } from './forwarded-services.js';
import { type CallParts, GatewayCalls } from './gateway-calls.js';

const CATALOGUE = '/tessera.catalogue.v1.CatalogueService';
const ADAPTERS = '/tessera.adapter.v1.AdapterService';
const CONNECTION: Connection = { isTls: false, files: {} as Connection['files'], token: '' };
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
const identity = (bytes: Buffer) => bytes;
const EMPTY = Buffer.alloc(0);

const closings: (() => void)[] = [];
afterEach(() => {
  for (const close of closings.splice(0)) close();
});

async function listening(server: grpc.Server): Promise<string> {
  closings.push(() => server.forceShutdown());
  const credentials = grpc.ServerCredentials.createInsecure();
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', credentials, (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  return `127.0.0.1:${port}`;
}

const method = (path: string, requestStream: boolean, responseStream: boolean) => ({
  path,
  requestStream,
  responseStream,
  requestSerialize: identity,
  requestDeserialize: identity,
  responseSerialize: identity,
  responseDeserialize: identity,
});

interface FakeNode {
  readonly name: string;
  readonly address: string;
  /** What it took, in order. */
  readonly taken: string[];
}

async function nodeOf(name: string): Promise<FakeNode> {
  const taken: string[] = [];
  const server = new grpc.Server();
  server.addService(
    {
      Apply: method(`${CATALOGUE}/Apply`, false, false),
      ListItems: method(`${CATALOGUE}/ListItems`, false, true),
    },
    {
      Apply: ({ request }: { request: Buffer }, done: grpc.sendUnaryData<Buffer>) => {
        taken.push(request.toString());
        done(null, EMPTY);
      },
      ListItems: (call: grpc.ServerWritableStream<Buffer, Buffer>) => {
        call.write(Buffer.from('first'));
        const details = 'catalogue: expected one that is served';
        const metadata = new grpc.Metadata();
        metadata.set('tessera-code', 'REQUEST_INVALID');
        call.emit('error', { code: grpc.status.NOT_FOUND, details, metadata });
      },
    },
  );
  server.addService(
    { Push: method(`${ADAPTERS}/Push`, true, false) },
    {
      Push: (call: grpc.ServerReadableStream<Buffer, Buffer>, done: grpc.sendUnaryData<Buffer>) => {
        const parts: Buffer[] = [];
        call.on('data', (part: Buffer) => parts.push(part));
        call.on('end', () => {
          taken.push(Buffer.concat(parts).toString());
          done(null, Buffer.from('pushed'));
        });
      },
    },
  );
  return { name, address: await listening(server), taken };
}

/** A gateway before two nodes. */
async function started() {
  const nodes = await Promise.all(['a', 'b'].map(nodeOf));
  const cluster = new Cluster(CONNECTION, quiet);
  cluster.setMembers(
    nodes.map(({ name, address }) => ({ name, grpc: address, http: '127.0.0.1:1', weight: 1 })),
  );
  for (const link of cluster.links()) {
    cluster.saw(link, { state: 'up', versions: { node: link.member.name } });
  }
  closings.push(() => cluster.close());
  const parts = {
    asking: new Asking(cluster, new ForwardCounts()),
    every: new EveryNodeCalls(cluster, CONNECTION),
    connection: CONNECTION,
    behaviours: undefined,
  };
  const server = new grpc.Server();
  addForwarded(server, new GatewayCalls(parts as unknown as CallParts), quiet);
  const client = new grpc.Client(await listening(server), grpc.credentials.createInsecure());
  closings.push(() => client.close());
  return { nodes, cluster, client };
}

function apply(client: grpc.Client, change: string, deadlineMs = 60_000): Promise<number> {
  return new Promise((resolve) => {
    const deadline = Date.now() + deadlineMs;
    const body = Buffer.from(change);
    const metadata = new grpc.Metadata();
    const path = `${CATALOGUE}/Apply`;
    client.makeUnaryRequest(path, identity, identity, body, metadata, { deadline }, (error) =>
      resolve(error?.code ?? 0),
    );
  });
}

function push(client: grpc.Client, deadlineMs = 60_000) {
  let settle: (code: number) => void = () => undefined;
  const code = new Promise<number>((resolve) => {
    settle = resolve;
  });
  const options = { deadline: Date.now() + deadlineMs };
  const stream = client.makeClientStreamRequest(
    `${ADAPTERS}/Push`,
    identity,
    identity,
    new grpc.Metadata(),
    options,
    (error) => settle(error?.code ?? 0),
  );
  stream.on('error', () => undefined);
  return { stream, code };
}

describe('changes through a gateway', () => {
  it('do not wait for an upload that has stalled, and are in one order with its end', async () => {
    const { nodes, cluster, client } = await started();
    const stalled = push(client);
    stalled.stream.write(Buffer.from('part 1, '));
    stalled.stream.write(Buffer.from('part 2'));
    await until('the upload has begun', () => cluster.links().every((one) => one.inFlight === 1));
    for (const change of ['one', 'two']) expect(await apply(client, change)).toBe(0);
    expect(nodes.map(({ taken }) => taken)).toEqual([
      ['one', 'two'],
      ['one', 'two'],
    ]);
    stalled.stream.end();
    expect(await stalled.code).toBe(0);
    for (const { taken } of nodes) expect(taken).toEqual(['one', 'two', 'part 1, part 2']);
    expect(cluster.links().map(({ inFlight }) => inFlight)).toEqual([0, 0]);
  });

  it('whose caller no longer waits when their turn comes are not begun', async () => {
    const { nodes, cluster, client } = await started();
    const before = push(client);
    before.stream.write(Buffer.from('before'));
    await until('the upload has begun', () => cluster.links().every((one) => one.inFlight === 1));
    const late = push(client, 50);
    late.stream.end(Buffer.from('late'));
    expect(await late.code).toBe(grpc.status.DEADLINE_EXCEEDED);
    before.stream.end();
    expect(await before.code).toBe(0);
    const behind = push(client);
    behind.stream.end(Buffer.from('behind'));
    expect(await behind.code).toBe(0);
    for (const { taken } of nodes) expect(taken).toEqual(['before', 'behind']);
  });

  it('keep the connection to a node that is a member no more until it has answered', async () => {
    const { nodes, cluster, client } = await started();
    const upload = push(client);
    upload.stream.write(Buffer.from('all of it'));
    await until('the upload has begun', () => cluster.links().every((one) => one.inFlight === 1));
    const [a] = cluster.links();
    cluster.setMembers(a === undefined ? [] : [a.member]);
    upload.stream.end();
    expect(await upload.code).toBe(0);
    for (const { taken } of nodes) expect(taken).toEqual(['all of it']);
  });
});

describe('a stream of answers through a gateway', () => {
  it('ends with the refusal of the node, what came before it included', async () => {
    const { cluster, client } = await started();
    const options = { deadline: Date.now() + 60_000 };
    const stream = client.makeServerStreamRequest(
      `${CATALOGUE}/ListItems`,
      identity,
      identity,
      EMPTY,
      new grpc.Metadata(),
      options,
    );
    const parts: string[] = [];
    stream.on('data', (part: Buffer) => parts.push(part.toString()));
    const error = await new Promise<grpc.ServiceError>((resolve) => stream.on('error', resolve));
    expect(error).toMatchObject({
      code: grpc.status.NOT_FOUND,
      details: 'catalogue: expected one that is served',
    });
    expect(error.metadata.get('tessera-code')).toEqual(['REQUEST_INVALID']);
    expect(parts).toEqual(['first']);
    expect(cluster.links().map(({ inFlight }) => inFlight)).toEqual([0, 0]);
  });
});
