/** Calls over frames, against the server of grpc-js, which knows nothing of this client. */

import { createHash } from 'node:crypto';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import * as grpc from '@grpc/grpc-js';
import { until } from '@tessera/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CallChannel } from './call-channel.js';
import type { CallEnd } from './call-frames.js';
import { timeoutText } from './call-frames.js';

const identity = (bytes: Buffer) => bytes;
const method = (name: string) => ({
  path: `/test.Test/${name}`,
  requestStream: false,
  responseStream: false,
  requestSerialize: identity,
  requestDeserialize: identity,
  responseSerialize: identity,
  responseDeserialize: identity,
});

let server: grpc.Server;
let address: string;
const seen: { metadata: Record<string, unknown>; leftMs: number }[] = [];
const cancelled: string[] = [];
const channels: CallChannel[] = [];

type Unary = grpc.handleUnaryCall<Buffer, Buffer>;

const HANDLERS: Record<string, Unary> = {
  Echo: (call, done) => {
    const leftMs = Number(call.getDeadline()) - Date.now();
    seen.push({ metadata: call.metadata.getMap(), leftMs });
    done(null, call.request);
  },
  Sized: (call, done) => done(null, Buffer.alloc(Number(call.request.toString()), 7)),
  Refuse: (_call, done) => {
    const metadata = new grpc.Metadata();
    metadata.set('tessera-code', 'ENGINE_OVERLOADED');
    metadata.set('tessera-retry-after-ms', '25');
    metadata.set('grpc-status-details-bin', Buffer.from([0, 255, 8]));
    done({ code: 8, details: 'zu viel % \\ "ü" 用', metadata });
  },
  Hang: (call) => {
    call.once('cancelled', () => cancelled.push(call.request.toString()));
  },
};

beforeAll(async () => {
  server = new grpc.Server({ 'grpc.max_concurrent_streams': 10 });
  const names = Object.keys(HANDLERS);
  server.addService(
    Object.fromEntries(names.map((name) => [name, method(name)])),
    HANDLERS as never,
  );
  const port = await new Promise<number>((resolve, reject) => {
    const credentials = grpc.ServerCredentials.createInsecure();
    server.bindAsync('127.0.0.1:0', credentials, (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  address = `127.0.0.1:${port}`;
});
afterEach(() => {
  for (const channel of channels.splice(0)) channel.close();
});
afterAll(() => server.forceShutdown());

function channelTo(to = address): CallChannel {
  const channel = new CallChannel({ address: to, tls: undefined });
  channels.push(channel);
  return channel;
}

interface Ended {
  readonly end: CallEnd;
  readonly message: Buffer | undefined;
}

function ask(
  channel: CallChannel,
  name: string,
  message: Buffer | string,
  { timeoutMs = 60_000, fields = {} } = {},
) {
  let cancel: () => void = () => undefined;
  const ended = new Promise<Ended>((resolve) => {
    const asked = { path: `/test.Test/${name}`, message: Buffer.from(message), fields, timeoutMs };
    cancel = channel.unary(asked, (end, answer) => resolve({ end, message: answer }));
  });
  return { ended, cancel };
}

describe('a channel', () => {
  it('answers with the message, having sent its fields and its deadline', async () => {
    const fields = { authorization: 'Bearer x', traceparent: '00-1-2-01' };
    const { end, message } = await ask(channelTo(), 'Echo', 'hällo', { fields }).ended;
    expect([end.status, message?.toString()]).toEqual([0, 'hällo']);
    expect(seen.at(-1)?.metadata).toMatchObject(fields);
    expect(seen.at(-1)?.leftMs).toBeGreaterThan(20_000);
    expect(seen.at(-1)?.leftMs).toBeLessThanOrEqual(60_001);
    const silent = { timeoutMs: Number.POSITIVE_INFINITY };
    await ask(channelTo(), 'Echo', '', silent).ended;
    expect(seen.at(-1)?.leftMs).toBe(Number.POSITIVE_INFINITY);
  });

  it('takes messages of any size, in both directions, many at once', async () => {
    const channel = channelTo();
    // Around a frame, a window, and several of both.
    const sizes = [0, 1, 16_379, 16_380, 16_384, 65_530, 65_535, 70_000, 3_000_000];
    const digest = (bytes: Buffer | undefined) =>
      createHash('sha256')
        .update(bytes ?? 'none')
        .digest('hex');
    await Promise.all(
      sizes.map(async (size, n) => {
        const message = Buffer.alloc(size, n + 1);
        const echoed = await ask(channel, 'Echo', message).ended;
        expect(digest(echoed.message), `${size} bytes`).toBe(digest(message));
        const sized = await ask(channel, 'Sized', String(size)).ended;
        expect(sized.message?.length).toBe(size);
      }),
    );
  });

  it('holds calls back that the server would refuse, and makes them in turn', async () => {
    const channel = channelTo();
    await ask(channel, 'Echo', 'first').ended;
    const all = Array.from({ length: 64 }, (_, n) => ask(channel, 'Echo', `${n}`).ended);
    const answers = await Promise.all(all);
    expect(answers.map(({ message }) => message?.toString())).toEqual(all.map((_, n) => String(n)));
  });

  it('ends with the status, the words and the trailers of a refusal', async () => {
    const { end, message } = await ask(channelTo(), 'Refuse', '').ended;
    expect(message).toBeUndefined();
    expect(end).toEqual({
      status: 8,
      details: 'zu viel % \\ "ü" 用',
      trailers: {
        'tessera-code': 'ENGINE_OVERLOADED',
        'tessera-retry-after-ms': '25',
        'grpc-status-details-bin': Buffer.from([0, 255, 8]).toString('base64'),
      },
    });
    const unknown = await ask(channelTo(), 'Nothing', '').ended;
    expect(unknown.end.status).toBe(grpc.status.UNIMPLEMENTED);
  });

  it('cancels calls, also those that are held back', async () => {
    const channel = channelTo();
    const hung = Array.from({ length: 12 }, (_, n) => ask(channel, 'Hang', `c${n}`));
    const behind = ask(channel, 'Echo', 'behind');
    for (const { cancel } of hung) cancel();
    expect((await behind.ended).message?.toString()).toBe('behind');
    await until('the server ends them', () => cancelled.includes('c0'));
  });

  it('ends with DEADLINE_EXCEEDED, and the server with it', async () => {
    const { end } = await ask(channelTo(), 'Hang', 'late', { timeoutMs: 50 }).ended;
    expect(end).toMatchObject({ status: grpc.status.DEADLINE_EXCEEDED });
    await until('the server ends it', () => cancelled.includes('late'));
  });
});

describe('a connection', () => {
  /** Between a channel and the server; keeps what passes through it. */
  async function relay() {
    const sockets: Socket[] = [];
    const listener = createServer((socket) => {
      const [host, port] = address.split(':');
      const onward = connect(Number(port), host);
      socket.pipe(onward).pipe(socket);
      for (const one of [socket, onward]) one.on('error', () => undefined);
      sockets.push(socket, onward);
    });
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const { port } = listener.address() as AddressInfo;
    const cut = () => {
      for (const socket of sockets.splice(0)) socket.destroy();
    };
    const close = () => {
      cut();
      listener.close();
    };
    return { address: `127.0.0.1:${port}`, cut, close, sockets };
  }

  it('that is cut ends its calls with UNAVAILABLE, and the next call makes another', async () => {
    const between = await relay();
    const channel = channelTo(between.address);
    expect((await ask(channel, 'Echo', 'a').ended).end.status).toBe(0);
    const hung = ask(channel, 'Hang', 'cut').ended;
    await ask(channel, 'Echo', 'b').ended;
    between.cut();
    expect((await hung).end).toMatchObject({ status: grpc.status.UNAVAILABLE });
    expect((await ask(channel, 'Echo', 'c').ended).message?.toString()).toBe('c');
    expect(between.sockets).toHaveLength(2);
    between.close();
    const refused = await ask(channel, 'Echo', 'd').ended;
    expect(refused.end.status).toBe(grpc.status.UNAVAILABLE);
  });

  it('is one for many calls at once', async () => {
    const between = await relay();
    const channel = channelTo(between.address);
    await Promise.all(Array.from({ length: 20 }, () => ask(channel, 'Echo', 'x').ended));
    expect(between.sockets).toHaveLength(2);
    between.close();
  });

  it('answers pings while it holds, and fails them where it goes or is silent', async () => {
    const between = await relay();
    const channel = channelTo(between.address);
    await channel.ping(10_000);
    await ask(channel, 'Echo', 'x').ended;
    expect(between.sockets).toHaveLength(2);
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    await expect(channelTo(`127.0.0.1:${port}`).ping(50)).rejects.toThrow('no answer to a ping');
    silent.close();
    between.close();
    await expect(channel.ping(10_000)).rejects.toThrow(/ECONN|closed/);
  });

  it('to what speaks no HTTP/2 ends its calls', async () => {
    const listener = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    });
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const { port } = listener.address() as AddressInfo;
    const { end } = await ask(channelTo(`127.0.0.1:${port}`), 'Echo', 'x').ended;
    expect(end.status).toBe(grpc.status.UNAVAILABLE);
    listener.close();
  });

  it('that the server leaves finishes its calls, while new ones take another', async () => {
    const own = new grpc.Server();
    let answerHeld: (() => void) | undefined;
    const held: Unary = (call, done) => {
      answerHeld = () => done(null, call.request);
    };
    own.addService({ Held: method('Held') }, { Held: held } as never);
    const port = await new Promise<number>((resolve, reject) => {
      const credentials = grpc.ServerCredentials.createInsecure();
      own.bindAsync('127.0.0.1:0', credentials, (error, bound) =>
        error ? reject(error) : resolve(bound),
      );
    });
    const channel = channelTo(`127.0.0.1:${port}`);
    const first = ask(channel, 'Held', 'kept');
    await until('it is asked', () => answerHeld !== undefined);
    own.tryShutdown(() => undefined);
    answerHeld?.();
    expect((await first.ended).message?.toString()).toBe('kept');
    await until('the server takes no more', async () => {
      const { end } = await ask(channel, 'Held', 'new').ended;
      return end.status === grpc.status.UNAVAILABLE;
    });
    own.forceShutdown();
  });
});

it('writes timeouts of eight digits at most, never shorter than they are', () => {
  const unitMs = { u: 1e-3, m: 1, S: 1000 } as Record<string, number>;
  for (const ms of [0.0001, 0.5, 1, 1.2345, 99_999, 100_000, 12_345_678.9, 1e9, 1e12]) {
    const text = timeoutText(ms);
    expect(text).toMatch(/^\d{1,8}[umS]$/);
    const written = Number(text.slice(0, -1)) * (unitMs[text.at(-1) ?? ''] ?? 0);
    if (ms < 1e11) expect(written).toBeGreaterThanOrEqual(ms);
    if (ms >= 1 && ms < 1e11) expect(written).toBeLessThanOrEqual(ms * 1.001 + 1);
  }
});
