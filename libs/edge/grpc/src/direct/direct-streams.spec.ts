import * as http2 from 'node:http2';
import { type AddressInfo, createServer } from 'node:net';
import { TesseraError } from '@tessera/errors';
import { afterEach, describe, expect, it } from 'vitest';
import type { CallContext } from '../call-context.js';
import { grpcStatus } from '../error-filter.js';
import { ErrorCode, Flag, FrameType, literalHeaders, resetStream } from '../gate/frames.js';
import { GatedSocket } from '../gate/gated-socket.js';
import type { OpenCall } from '../gate/open-call.js';
import type { RequestHeaders } from '../gate/request-headers.js';
import type { DirectMethod, DirectServing } from './direct-method.js';
import { DirectStreams } from './direct-streams.js';

const DIRECT = '/tessera.test.v1.TestService/Direct';
const SERVED = '/tessera.test.v1.TestService/Served';
const MESSAGE_BYTES_MAX = 100_000;
const DEADLINE_MS_MAX = 60_000;
const closings: (() => void)[] = [];
afterEach(() => {
  for (const close of closings.splice(0)) close();
});

/** A place in admission that notes how it is given back. */
const slotOf = (ends: boolean[]) => ({
  noteRefused: () => undefined,
  end: (isAnswered: boolean) => void ends.push(isAnswered),
});

type Handle = (bytes: Buffer, context: CallContext) => Promise<Buffer>;

interface Wanted {
  readonly handle: Handle;
  readonly call?: OpenCall;
  readonly deadlineMsMax?: number;
  /** Of the client's connection; left out: as HTTP/2 begins. */
  readonly windowBytes?: number;
}

/** A server that answers with the body what the gate before it does not answer by `handle`. */
async function served({ handle, call, windowBytes, deadlineMsMax = DEADLINE_MS_MAX }: Wanted) {
  const paths: string[] = [];
  const server = http2.createServer();
  server.on('stream', (stream, headers) => {
    paths.push(String(headers[':path']));
    stream.on('error', () => undefined);
    const body: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => body.push(chunk));
    stream.on('end', () => {
      stream.respond({ ':status': 200 });
      stream.end(Buffer.concat(body));
    });
  });
  const direct: DirectServing = {
    methods: new Map([
      [
        DIRECT,
        {
          path: DIRECT,
          deserialize: (bytes) => ({ bytes: Buffer.from(bytes) }),
          serialize: (message) => (message as { bytes: Buffer }).bytes,
          handle: async (message, context) => ({
            bytes: await handle((message as { bytes: Buffer }).bytes, context),
          }),
        },
      ],
    ]),
    messageBytesMax: MESSAGE_BYTES_MAX,
    streamsMax: 1000,
    deadlineMsMax,
    enter: (_path, { authorization }) => {
      if (authorization === 'Bearer wrong') throw new TesseraError('UNAUTHENTICATED', 'who?');
      return { name: 'test' };
    },
    statusOf: (thrown) => grpcStatus(TesseraError.from(thrown)),
  };
  const decide = () => (call === undefined ? { isUncounted: true as const } : { call });
  const sockets: GatedSocket[] = [];
  const listener = createServer({ allowHalfOpen: true }, (socket) => {
    const gated = new GatedSocket(socket, { decide, streamsMax: 1000, direct });
    sockets.push(gated);
    server.emit('connection', gated);
  });
  await new Promise<void>((resolve) => {
    listener.listen(0, '127.0.0.1', resolve);
  });
  const client = http2.connect(`http://127.0.0.1:${(listener.address() as AddressInfo).port}`);
  closings.push(
    () => client.destroy(),
    () => listener.close(),
    () => server.close(),
  );
  await new Promise((resolve) => {
    client.once('remoteSettings', resolve);
  });
  if (windowBytes !== undefined) client.setLocalWindowSize(windowBytes);
  // The answer shows that the client has agreed to write headers that stand alone.
  await asked(client, SERVED, Buffer.alloc(1));
  return { client, paths, sockets, server };
}

function framed(message: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

interface Answered {
  readonly message: Buffer;
  readonly status: string | undefined;
  readonly details: string | undefined;
}

function begun(
  client: http2.ClientHttp2Session,
  path: string,
  /** Undefined: none is sent, and the request does not end. */
  body: Buffer | undefined,
  headers: http2.OutgoingHttpHeaders = {},
) {
  const stream = client.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    ...headers,
  });
  const parts: Buffer[] = [];
  let ends: http2.IncomingHttpHeaders = {};
  stream.on('response', (found) => {
    ends = { ...ends, ...found };
  });
  stream.on('trailers', (found) => {
    ends = { ...ends, ...found };
  });
  stream.on('data', (chunk: Buffer) => parts.push(chunk));
  const answer = new Promise<Answered>((resolve, reject) => {
    stream.on('error', reject);
    stream.on('close', () => {
      const message = Buffer.concat(parts);
      const [status, details] = [ends['grpc-status'], ends['grpc-message']].map(
        (value) => value && String(value),
      );
      resolve({ message, status, details });
    });
  });
  if (body !== undefined) stream.end(body);
  return { stream, answer };
}

const asked = (...args: Parameters<typeof begun>) => begun(...args).answer;

const WIDE = 1 << 20;
const echo: Handle = async (bytes) => bytes;

describe('calls that the gate answers', () => {
  it('are answered with message and status, and the server does not know of them', async () => {
    const { client, paths } = await served({ handle: echo, windowBytes: WIDE });
    const answer = await asked(client, DIRECT, framed(Buffer.from('hello')));
    expect(answer).toEqual({ message: framed(Buffer.from('hello')), status: '0', details: 'OK' });
    expect(paths).toEqual([SERVED]);
  });

  it('have answers of any size among those of the server in any window', async () => {
    for (const windowBytes of [undefined, 100_000, WIDE]) {
      const { client, paths } = await served({ handle: echo, ...(windowBytes && { windowBytes }) });
      const sizes = [1, 100, 5000, 16_379, 16_380, 40_000, 90_000];
      const bodies = Array.from({ length: 300 }, (_, i) =>
        framed(Buffer.alloc(sizes[i % sizes.length] as number, i)),
      );
      const inTurns = Array.from({ length: 6 }, async (_, lane) => {
        for (let i = lane; i < bodies.length; i += 6) {
          const path = i % 4 === 0 ? SERVED : DIRECT;
          const { message } = await asked(client, path, bodies[i] as Buffer);
          expect(message.equals(bodies[i] as Buffer)).toBe(true);
        }
      });
      await Promise.all(inTurns);
      expect(paths.filter((path) => path === DIRECT).length).toBeLessThan(225);
    }
  });

  it('are refused as the handler, the access and the message say', async () => {
    const handle: Handle = async () => {
      throw new TesseraError('USER_NOT_FOUND', 'nobody: ü', { field: 'userId' });
    };
    const { client, paths } = await served({ handle, windowBytes: WIDE });
    const refused = await asked(client, DIRECT, framed(Buffer.alloc(3)));
    expect(refused).toMatchObject({ status: '5', details: encodeURI('nobody: ü') });
    const wrong = { authorization: 'Bearer wrong' };
    expect(await asked(client, DIRECT, framed(Buffer.alloc(3)), wrong)).toMatchObject({
      status: '16',
    });
    expect(await asked(client, DIRECT, Buffer.alloc(0))).toMatchObject({ status: '12' });
    const large = framed(Buffer.alloc(MESSAGE_BYTES_MAX + 1));
    expect(await asked(client, DIRECT, large)).toMatchObject({ status: '8' });
    expect(paths).toEqual([SERVED]);
  });

  it('end with their deadline, and what they asked for is cancelled', async () => {
    let context: CallContext | undefined;
    const handle: Handle = (_, given) => {
      context = given;
      return new Promise(() => undefined);
    };
    const { client } = await served({ handle, windowBytes: WIDE });
    const late = await asked(client, DIRECT, framed(Buffer.alloc(1)), { 'grpc-timeout': '20m' });
    expect(late).toMatchObject({ status: '4', details: 'Deadline%20exceeded' });
    expect(context?.signal.aborted).toBe(true);
    expect(context?.budgetUs).toBeLessThanOrEqual(20_000);
  });

  it('are cancelled where the caller goes, and not where they were answered', async () => {
    const ends: boolean[] = [];
    const call = { begin: () => slotOf(ends) };
    const signals: CallContext['signal'][] = [];
    let begin: () => void = () => undefined;
    const begins = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const handle: Handle = async (bytes, { signal }) => {
      signals.push(signal);
      if (bytes.length === 1) return bytes;
      const aborted = new Promise<Buffer>((resolve) => {
        signal.addEventListener('abort', () => resolve(bytes));
      });
      begin();
      return aborted;
    };
    const { client } = await served({ handle, call, windowBytes: WIDE });
    ends.splice(0);
    await asked(client, DIRECT, framed(Buffer.alloc(1)));
    const { stream, answer } = begun(client, DIRECT, framed(Buffer.alloc(2)));
    await begins;
    stream.close(http2.constants.NGHTTP2_CANCEL);
    await answer;
    // The server answers behind the cancellation.
    await asked(client, SERVED, Buffer.alloc(1));
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, true]);
    expect(ends).toEqual([true, false]);
  });

  it('take no place until their request has come, and end by the greatest deadline', async () => {
    const ends: boolean[] = [];
    let begun = 0;
    const call = {
      begin: () => {
        begun += 1;
        return slotOf(ends);
      },
    };
    const { client } = await served({
      handle: echo,
      call,
      deadlineMsMax: 50,
      windowBytes: WIDE,
    });
    for (const timeout of [{}, { 'grpc-timeout': '99999999H' }]) {
      expect(await asked(client, DIRECT, undefined, timeout)).toMatchObject({ status: '4' });
    }
    expect([begun, ends]).toEqual([0, []]);
    await asked(client, DIRECT, framed(Buffer.alloc(1)));
    expect([begun, ends]).toEqual([1, [true]]);
  });

  it('end with the refusal of a request that has come too late', async () => {
    const refusal = literalHeaders({ ':status': '200', 'grpc-status': '8' });
    const call = { begin: () => ({ refusal }) };
    const { client } = await served({ handle: echo, call, windowBytes: WIDE });
    expect(await asked(client, DIRECT, framed(Buffer.alloc(1)))).toMatchObject({ status: '8' });
  });

  it('are answered to their end while the server leaves', async () => {
    let finish: (bytes: Buffer) => void = () => undefined;
    let begin: () => void = () => undefined;
    const begins = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const handle: Handle = () =>
      new Promise((resolve) => {
        finish = resolve;
        begin();
      });
    const { client, sockets, server } = await served({ handle, windowBytes: WIDE });
    const answer = asked(client, DIRECT, framed(Buffer.alloc(1)));
    await begins;
    const leaves = new Promise<unknown>((resolve) => {
      client.once('goaway', (...given: unknown[]) => resolve(given[1]));
    });
    const session = await new Promise<http2.ServerHttp2Session>((resolve) => {
      server.once('stream', (stream) => resolve(stream.session as http2.ServerHttp2Session));
      void asked(client, SERVED, Buffer.alloc(1));
    });
    session.close();
    expect(Number(await leaves)).toBeGreaterThan(0);
    const idle = sockets[0]?.answered();
    finish(Buffer.from('late, but whole'));
    expect(await answer).toMatchObject({ message: framed(Buffer.from('late, but whole')) });
    await idle;
  });

  it('are handled once, and reset, where the client goes on after its end', async () => {
    const ends: boolean[] = [];
    let handled = 0;
    const sent: Buffer[] = [];
    const method: DirectMethod = {
      path: DIRECT,
      deserialize: (bytes) => ({ bytes }),
      serialize: () => Buffer.alloc(0),
      handle: () => {
        handled++;
        return new Promise(() => undefined);
      },
    };
    const streams = new DirectStreams(
      {
        methods: new Map([[DIRECT, method]]),
        messageBytesMax: MESSAGE_BYTES_MAX,
        streamsMax: 1000,
        deadlineMsMax: DEADLINE_MS_MAX,
        enter: () => ({ name: 'test' }),
        statusOf: (thrown) => grpcStatus(TesseraError.from(thrown)),
      },
      {
        toClient: (bytes) => sent.push(bytes),
        onIdle: () => undefined,
        onFlood: () => undefined,
      },
    );
    streams.windows.granted(WIDE);
    const headers: RequestHeaders = {
      path: DIRECT,
      isPartial: false,
      timeoutMs: Number.POSITIVE_INFINITY,
      fields: { 'content-type': 'application/grpc' },
    };
    const stream = 1;
    const call = { begin: () => slotOf(ends) };
    streams.begins({ length: 0, type: FrameType.HEADERS, flags: 0, stream }, headers, call);
    const body = framed(Buffer.from('once'));
    const data = { length: body.length, type: FrameType.DATA, flags: Flag.END_STREAM, stream };
    for (let i = 0; i < 3; i++) streams.take(data, body);
    // Handlers that wait for their turn run behind the reading of sockets.
    for (let turn = 0; turn < 2; turn++) await new Promise(setImmediate);
    expect(handled).toBe(1);
    expect(sent).toEqual([resetStream(stream, ErrorCode.STREAM_CLOSED)]);
    expect(ends).toEqual([false]);
    expect(streams.size).toBe(0);
  });
});
