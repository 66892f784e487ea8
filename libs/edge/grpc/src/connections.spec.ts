/** How a server's connections end, seen by clients that stay connected, over real sockets. */

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer, type Server as NetServer, type Socket } from 'node:net';
import { Client, credentials, Metadata, type Server, type ServerUnaryCall } from '@grpc/grpc-js';
import { HeldCallers } from '@tessera/admission';
import { WatchedTls } from '@tessera/config';
import { protoSchema } from '@tessera/contracts';
import { Readiness } from '@tessera/lifecycle';
import { until } from '@tessera/testing';
import { afterEach, expect, it } from 'vitest';
import { CallGate } from './call-gate.js';
import { GrpcHealth } from './health.js';
import { grpcServer } from './server.js';

const SAY = '/test.Test/Say';
const asIs = (bytes: Buffer) => bytes;
const TLS = {
  certificatePath: 'test/fixtures/tls/server.pem',
  keyPath: 'test/fixtures/tls/server.key',
};
const closings: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0)) await close();
});

type Answer = (call: ServerUnaryCall<Buffer, Buffer>) => Buffer | Promise<Buffer>;

const GATE = { defaultDeadlineMs: 1000, deadlineMsMax: 10_000, admissions: {} };

async function started(answer: Answer, tls?: WatchedTls) {
  const definition = {
    path: SAY,
    requestStream: false,
    responseStream: false,
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs,
    responseDeserialize: asIs,
  } as const;
  const server = grpcServer({
    host: '127.0.0.1',
    port: 0,
    messageBytesMax: 1000,
    certificatePath: '',
    keyPath: '',
    clientCaPath: '',
    packages: [],
    schema: protoSchema,
    descriptors: {},
    health: new GrpcHealth([], new Readiness()),
    gate: new CallGate({ ...GATE, held: new HeldCallers() }),
    interceptor: (_method, inner) => inner as never,
    connectionsMax: 100,
    connectionAgeMs: 0,
    tls,
    methods: { handlers: new Map(), limits: {} as never, admissions: {}, log: {} as never },
    addServices: (grpc: Server) =>
      grpc.addService(
        { Say: definition },
        {
          Say: (call: ServerUnaryCall<Buffer, Buffer>, done: (e: null, b: Buffer) => void) =>
            void Promise.resolve(answer(call)).then((bytes) => done(null, bytes)),
        },
      ),
  });
  await new Promise<void>((resolve, reject) => {
    server.listen((error?: unknown) => (error ? reject(error) : resolve()));
  });
  closings.push(() => server.close());
  const { port } = server;
  return { port, server };
}

const named = (name: string) => () => Buffer.from(name);

const trusting = () =>
  credentials.createSsl(readFileSync('test/fixtures/tls/authority.pem'), null, null, {
    checkServerIdentity: () => undefined,
  });

function clientOf(ports: readonly number[], secured = credentials.createInsecure()) {
  const address = `ipv4:${ports.map((port) => `127.0.0.1:${port}`).join()}`;
  const client = new Client(address, secured, {
    'grpc.service_config': JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
    'grpc.use_local_subchannel_pool': 1,
  });
  closings.unshift(() => client.close());
  return client;
}

const ask = (client: Client, fields: Readonly<Record<string, string>> = {}) =>
  new Promise<string>((resolve) => {
    const metadata = Metadata.fromHttp2Headers(fields);
    client.makeUnaryRequest(SAY, asIs, asIs, Buffer.from('?'), metadata, (error, bytes) =>
      resolve(error === null ? String(bytes) : error.details),
    );
  });

/** Between a client and a server: its answers can be held up, and it can end as a process does. */
class Wire {
  /** Chunks of bytes that the client has sent. */
  asked = 0;
  readonly held: (() => unknown)[] = [];
  private isHeld = false;
  private near: Socket | undefined;
  private readonly server: NetServer;

  constructor(target: number) {
    this.server = createServer({ allowHalfOpen: true }, (near) => {
      const far = connect({ host: '127.0.0.1', port: target, allowHalfOpen: true });
      this.near = near;
      near.on('data', (bytes) => {
        this.asked += 1;
        far.write(bytes);
      });
      near.on('end', () => far.end());
      far.on('data', (bytes) => this.back(() => near.write(bytes)));
      far.on('end', () => this.back(() => near.end()));
      for (const socket of [near, far]) socket.on('error', () => undefined);
      closings.unshift(() => far.destroy());
    });
    closings.push(() => this.server.close());
  }

  async listen(): Promise<number> {
    await once(this.server.listen(0, '127.0.0.1'), 'listening');
    return (this.server.address() as { port: number }).port;
  }

  private back(act: () => unknown): void {
    if (this.isHeld) this.held.push(act);
    else act();
  }

  hold(): void {
    this.isHeld = true;
  }

  release(): void {
    this.isHeld = false;
    for (const act of this.held.splice(0)) act();
  }

  reset(): void {
    this.near?.resetAndDestroy();
  }
}

it('loses no call that crosses the end of its connection on the wire', async () => {
  const going = await started(named('going'));
  const staying = await started(named('staying'));
  const wire = new Wire(going.port);
  const client = clientOf([await wire.listen(), staying.port]);
  const seen = new Set<string>();
  await until('both answer', async () => seen.add(await ask(client)).size === 2);
  wire.hold();
  // The process ends once its edges are closed: the kernel resets what is connected then.
  const ended = going.server.close().then(() => wire.reset());
  await until('the server has said that it goes', () => wire.held.length > 0);
  const { asked } = wire;
  const crossing = [ask(client), ask(client)];
  await until('a call has crossed', () => wire.asked > asked);
  wire.release();
  expect(await Promise.all(crossing)).toEqual(['staying', 'staying']);
  await ended;
});

it.each([
  ['plain', undefined],
  ['TLS', TLS],
])('answers what is under way before it has closed: %s', async (_name, files) => {
  let release: (bytes: Buffer) => void = () => undefined;
  const answered = new Promise<Buffer>((resolve) => {
    release = resolve;
  });
  let isAsked = false;
  const fields = { certificate: 'certificate', key: 'key', ca: 'ca' };
  const tls = files && new WatchedTls(fields, { ...files, caPath: '' });
  const { port, server } = await started(() => {
    isAsked = true;
    return answered;
  }, tls);
  const client = clientOf([port], tls === undefined ? undefined : trusting());
  const answer = ask(client);
  await until('it is asked', () => isAsked);
  let isClosed = false;
  const closed = server.close().then(() => {
    isClosed = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(isClosed).toBe(false);
  release(Buffer.from('late'));
  expect(await answer).toBe('late');
  await closed;
  client.close();
});

it.each(['2147484S', '2592000S', '99999999S', '99999999H'])(
  'gives a call as long as timers go whose client names %s',
  async (timeout) => {
    const { port } = await started((call) => Buffer.from(String(call.getDeadline())));
    const leftMs = Number(await ask(clientOf([port]), { 'grpc-timeout': timeout })) - Date.now();
    expect(leftMs).toBeGreaterThan(2_000_000_000);
    expect(leftMs).toBeLessThan(2 ** 31);
  },
);

it('takes as many pairs of metadata as their bytes allow', async () => {
  const { port } = await started(({ metadata }) => Buffer.from(String(metadata.get('p999')[0])));
  const pairs = Array.from({ length: 1000 }, (_, i) => [`p${i}`, String(i)] as const);
  expect(await ask(clientOf([port]), Object.fromEntries(pairs))).toBe('999');
});

it('waits two seconds at most for a client that does not let go', async () => {
  const { port, server } = await started(named('a'));
  const wire = new Wire(port);
  const client = clientOf([await wire.listen()]);
  expect(await ask(client)).toBe('a');
  wire.hold();
  await server.close();
});
