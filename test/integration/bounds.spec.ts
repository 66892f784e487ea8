/** Bounds of a caller: connections, time for a request, calls given up. */

import { once } from 'node:events';
import { type ClientHttp2Session, connect as connectHttp2, constants } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { loadConfig } from '@tessera/config';
import type { Serving } from '@tessera/hosting';
import { createLog } from '@tessera/telemetry';
import { afterEach, describe, expect, it } from 'vitest';
import { serve } from '../../apps/standalone/src/serve.js';
import { FakeRuntime } from './fake-runtime.js';

const CONNECTIONS_MAX = 4;
/** More than Node's HTTP/2 server lets a connection reset at once. */
/** Fewer than the burst of 1,000 that Node takes before it ends a connection. */
const RESETS = 900;
const WINDOW_BYTES = 2 ** 24;
const RECALL = '/tessera.recall.v1.RecallService/Recall';
const CATALOGUE = '/tessera.catalogue.v1.CatalogueService';
const EXPLAIN = '/tessera.explain.v1.ExplainService';
const HEALTH = '/grpc.health.v1.Health/Check';
const EMPTY_MESSAGE = Buffer.alloc(5);

const CHUNK_BYTES = 2 ** 20;
const JSON_TYPE = 'content-type: application/json\r\n';

const closings: (() => Promise<void>)[] = [];
const opened: Socket[] = [];

/** A service of its own for each test: the connections of another would count. */
async function started(environment: Readonly<Record<string, string>>): Promise<Serving> {
  const ports = { TESSERA_HTTP_PORT: '0', TESSERA_GRPC_PORT: '0' };
  const { config } = loadConfig({ environment: Object.assign(ports, environment) });
  const runtime = new FakeRuntime();
  const log = createLog('silent');
  const serving = await serve({ config, runtime, log, serviceVersion: '1.2.3' });
  closings.push(async () => {
    await serving.drain.run();
  });
  return serving;
}

afterEach(async () => {
  for (const socket of opened.splice(0)) socket.destroy();
  for (const close of closings.splice(0)) await close();
});

const portOf = (address: string) => Number(/:(\d+)$/.exec(address)?.[1]);

function socketTo(address: string): Socket {
  const socket = connect(portOf(address), '127.0.0.1');
  socket.on('error', () => undefined);
  opened.push(socket);
  return socket;
}

/** Everything that the service says until it closes the connection. */
async function saidUntilClosed(socket: Socket): Promise<string> {
  const parts: Buffer[] = [];
  socket.on('data', (part: Buffer) => parts.push(part));
  await once(socket, 'close');
  return Buffer.concat(parts).toString();
}

/** Waits for what has not been waited for yet: the status line of the next answer. */
function statusLines(socket: Socket): () => Promise<string> {
  let said = '';
  socket.on('data', (part: Buffer) => {
    said += part.toString();
  });
  return async () => {
    for (;;) {
      const found = /HTTP\/1\.1 .*\r\n/.exec(said);
      if (found !== null) {
        said = said.slice(found.index + found[0].length);
        return found[0];
      }
      if (socket.destroyed) return 'closed';
      await Promise.race([once(socket, 'data'), once(socket, 'close')]);
    }
  };
}

describe('a service', () => {
  it('ends a request over HTTP whose headers or body do not arrive in time', async () => {
    const serving = await started({ TESSERA_EDGE_BODY_MS: '500' });
    const begun = 'POST /v1/recall HTTP/1.1\r\nhost: 127.0.0.1\r\n';
    const unfinished = [begun, `${begun}content-length: 9\r\n\r\n{"user`];
    const said = await Promise.all(
      unfinished.map((text) => {
        const socket = socketTo(serving.httpUrl);
        socket.write(text);
        return saidUntilClosed(socket);
      }),
    );
    for (const answer of said) expect(answer).toMatch(/^HTTP\/1\.1 4\d\d .*connection: close/is);
  });

  it('refuses a body that is too large, and hears out a caller that still sends it', async () => {
    const serving = await started({ TESSERA_GRPC_MESSAGE_BYTES_MAX: String(1 << 18) });
    for (const length of [`content-length: ${8 * CHUNK_BYTES}`, 'transfer-encoding: chunked']) {
      const socket = socketTo(serving.httpUrl);
      const next = statusLines(socket);
      const isChunked = length.startsWith('transfer');
      socket.write(`POST /v1/recall HTTP/1.1\r\nhost: 127.0.0.1\r\n${JSON_TYPE}${length}\r\n\r\n`);
      const send = (count: number) => {
        for (let sent = 0; sent < count; sent++) {
          if (isChunked) socket.write(`${CHUNK_BYTES.toString(16)}\r\n`);
          socket.write(Buffer.alloc(CHUNK_BYTES, ' '));
          if (isChunked) socket.write('\r\n');
        }
      };
      send(4);
      expect(await next(), length).toContain('413');
      send(4);
      if (isChunked) socket.write('0\r\n\r\n');
      socket.write('GET /health/live HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n');
      expect(await next(), length).toContain('200');
    }
  });

  it('cuts a caller that goes on with a body that was refused', async () => {
    const serving = await started({ TESSERA_EDGE_BODY_MS: '500' });
    const socket = socketTo(serving.httpUrl);
    const begun = `POST /v1/recall HTTP/1.1\r\nhost: 127.0.0.1\r\n${JSON_TYPE}`;
    socket.write(`${begun}content-length: ${2 ** 40}\r\n\r\n`);
    const more = () => {
      if (!socket.destroyed) socket.write(Buffer.alloc(CHUNK_BYTES), () => setImmediate(more));
    };
    more();
    expect(await saidUntilClosed(socket)).toMatch(/^HTTP\/1\.1 413 /);
  });

  it('ends a call over gRPC whose messages do not come in time, and no conversation', async () => {
    const serving = await started({
      TESSERA_EDGE_BODY_MS: '300',
      TESSERA_RECALL_DEADLINE_MS_MAX: '300',
      TESSERA_RECALL_DEFAULT_DEADLINE_MS: '300',
    });
    const session = connectHttp2(`http://${serving.grpcAddress}`);
    await once(session, 'remoteSettings');
    session.setLocalWindowSize(WINDOW_BYTES);
    expect(await health(session)).toBe('0');
    const conversation = callOf(session, `${CATALOGUE}/ApplyStream`);
    const paths = [HEALTH, `${CATALOGUE}/ApplyBatch`, `${EXPLAIN}/Explain`, RECALL];
    const silent = paths.map((path) => callOf(session, path));
    // The second message of an upload as well.
    silent.push(callOf(session, `${CATALOGUE}/ApplyBatch`));
    silent.at(-1)?.write(EMPTY_MESSAGE);
    const statuses = silent.map(async (stream) => {
      const [headers] = (await once(stream, 'response')) as [Record<string, string>];
      return headers['grpc-status'];
    });
    expect(await Promise.all(statuses)).toEqual(silent.map(() => '4'));
    expect(conversation.closed).toBe(false);
    expect(await health(session)).toBe('0');
    session.destroy();
  });

  it('closes a connection of gRPC beyond its limit, and those before it go on', async () => {
    const serving = await started({ TESSERA_EDGE_CONNECTIONS_MAX: String(CONNECTIONS_MAX) });
    const address = `http://${serving.grpcAddress}`;
    const sessions = Array.from({ length: CONNECTIONS_MAX }, () => connectHttp2(address));
    await Promise.all(sessions.map((session) => once(session, 'remoteSettings')));
    const further = socketTo(serving.grpcAddress);
    await saidUntilClosed(further);
    for (const session of sessions) expect(await health(session)).toBe('0');
    for (const session of sessions) session.destroy();
  });

  it('closes a connection of HTTP beyond its limit', async () => {
    const serving = await started({ TESSERA_EDGE_CONNECTIONS_MAX: String(CONNECTIONS_MAX) });
    const sockets = Array.from({ length: CONNECTIONS_MAX }, () => socketTo(serving.httpUrl));
    // Each is the service's once it has answered on it.
    for (const socket of sockets) {
      socket.write('GET /health/live HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n');
      await once(socket, 'data');
    }
    expect(await saidUntilClosed(socketTo(serving.httpUrl))).toBe('');
  });

  it('ends calls whose message never comes, which hold up nobody', async () => {
    const serving = await started({ TESSERA_EDGE_BODY_MS: '300' });
    const session = connectHttp2(`http://${serving.grpcAddress}`);
    session.on('error', () => undefined);
    await once(session, 'remoteSettings');
    const silent = Array.from({ length: 200 }, () => callOf(session, RECALL));
    const ended = silent.map(async (stream) => (await once(stream, 'response'))[0]['grpc-status']);
    expect(await health(session)).toBe('0');
    expect(new Set(await Promise.all(ended))).toEqual(new Set(['4']));
    expect(await health(session)).toBe('0');
    session.destroy();
  });

  it(`keeps the connection of a caller that gives up ${RESETS} recalls`, async () => {
    const serving = await started({});
    const session = connectHttp2(`http://${serving.grpcAddress}`);
    session.on('error', () => undefined);
    await once(session, 'remoteSettings');
    expect(await health(session)).toBe('0');
    for (let left = RESETS; left > 0; left -= 100) {
      const calls = Array.from({ length: 100 }, () => callOf(session, RECALL));
      const ended = calls.map((stream) => once(stream, 'close'));
      for (const stream of calls) stream.close(constants.NGHTTP2_CANCEL);
      await Promise.all(ended);
    }
    expect(await health(session)).toBe('0');
    session.destroy();
  });
});

function callOf(session: ClientHttp2Session, path: string) {
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  stream.on('error', () => undefined);
  return stream;
}

/** The status of a call. */
async function health(session: ClientHttp2Session): Promise<string> {
  const stream = callOf(session, HEALTH);
  const ended = once(stream, 'trailers');
  stream.end(EMPTY_MESSAGE);
  stream.resume();
  const [trailers] = (await ended) as [Record<string, string>];
  return trailers['grpc-status'] ?? '';
}
