/** Channels of both clients in TypeScript over servers that hold streams back or refuse them. */

import { once } from 'node:events';
import { constants, createServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import * as grpc from '@grpc/grpc-js';
import { CHANNEL_OPTIONS as OWN_OPTIONS } from '@tessera/client';
import { afterEach, describe, expect, it } from 'vitest';
import { CHANNEL_OPTIONS } from '../../clients/node/src/connection.js';
import { errorOf } from '../../clients/node/src/errors.js';
import { Retries } from '../../clients/node/src/generated/retries.js';

const METHOD = '/tessera.recall.v1.RecallService/Recall';
const STREAMS_MAX = 4;
const LONG_MS = 60_000;
/** A message without bytes, in its frame. */
const EMPTY = Buffer.alloc(5);

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** A server whose `answer` gets the number of each stream, from 0. */
async function serve(answer: (stream: ServerHttp2Stream, at: number) => void) {
  const server = createServer({ settings: { maxConcurrentStreams: STREAMS_MAX } });
  let streams = 0;
  server.on('stream', (stream) => {
    stream.on('error', () => undefined);
    answer(stream, streams);
    streams += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function succeed(stream: ServerHttp2Stream): void {
  stream.respond({ 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.end(EMPTY);
}

function clientOf(address: string, options: grpc.ChannelOptions) {
  const client = new grpc.Client(address, grpc.credentials.createInsecure(), options);
  ends.push(() => client.close());
  const asIs = (bytes: Buffer) => bytes;
  return (leftMs: number) =>
    new Promise<Buffer | undefined>((resolve, reject) => {
      const deadline = { deadline: Date.now() + leftMs };
      client.makeUnaryRequest(METHOD, asIs, asIs, Buffer.alloc(0), deadline, (error, answer) =>
        error === null ? resolve(answer) : reject(error),
      );
    });
}

describe.each([
  ['clients/node', CHANNEL_OPTIONS],
  ['libs/edge/client', OWN_OPTIONS],
])('a channel of %s', (_name, options) => {
  it('holds calls beyond the streams of its connection back until their deadline', async () => {
    const held: ServerHttp2Stream[] = [];
    const address = await serve((stream) => held.push(stream));
    const ask = clientOf(address, options);
    const first = Array.from({ length: STREAMS_MAX }, () => ask(LONG_MS));
    await expect.poll(() => held.length).toBe(STREAMS_MAX);
    const retries = new Retries();
    const beyond = retries.within(50, ask, (thrown) => errorOf(thrown as object));
    await expect(beyond).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED', retryable: false });
    const waiting = ask(LONG_MS);
    for (const stream of held.splice(0)) succeed(stream);
    await Promise.all(first);
    await expect.poll(() => held.length).toBe(1);
    for (const stream of held) succeed(stream);
    await waiting;
  });

  it('has a refused stream for one that may be asked again', async () => {
    let streams = 0;
    const address = await serve((stream, at) => {
      streams = at + 1;
      if (at < 2) stream.close(constants.NGHTTP2_REFUSED_STREAM);
      else succeed(stream);
    });
    const retries = new Retries();
    const ask = clientOf(address, options);
    await retries.within(LONG_MS, ask, (thrown) => errorOf(thrown as object));
    expect(streams).toBe(3);
  });
});
