import { connect } from 'node:net';
import { until } from '@tessera/testing';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { fastifyAdapter } from './fastify-adapter.js';

const BODY_MS = 50;
const SETTINGS = {
  trustedProxies: '',
  connectionsMax: 10,
  bodyMs: BODY_MS,
  connectionAgeMs: 0,
  keepAliveMs: 5000,
  certificatePath: '',
  keyPath: '',
  clientCaPath: '',
};

let instance: FastifyInstance;
let port: number;
beforeEach(async () => {
  instance = fastifyAdapter(SETTINGS, 1000).getInstance();
  instance.post('/echo', async ({ body }) => body);
  const url = await instance.listen({ port: 0, host: '127.0.0.1' });
  port = Number(new URL(url).port);
});
afterEach(() => instance.close());

/** Everything that the server sends until it closes the connection. */
const answerTo = (bytes: string) =>
  new Promise<string>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes, 'latin1'));
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
  });

const POST = 'POST /echo HTTP/1.1\r\ncontent-type: application/json\r\n';
const CLOSING = 'host: a\r\nconnection: close\r\n';

it.each([
  ['headers that do not end', `${POST}host: a\r\n`, 408, 'DEADLINE_EXCEEDED', true],
  [
    'a body that does not end',
    `${POST}host: a\r\ncontent-length: 9\r\n\r\n{`,
    408,
    'DEADLINE_EXCEEDED',
    true,
  ],
  ['bytes of no protocol', 'nonsense\r\n\r\n', 400, 'REQUEST_INVALID', false],
  [
    'two lengths of one body',
    `${POST}host: a\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n`,
    400,
    'REQUEST_INVALID',
    false,
  ],
  ['large headers', `${POST}x: ${'y'.repeat(20_000)}\r\n\r\n`, 431, 'REQUEST_INVALID', false],
  [
    'large extensions of a chunk',
    `${POST}host: a\r\ntransfer-encoding: chunked\r\n\r\n2;${'y'.repeat(20_000)}\r\n{}\r\n`,
    413,
    'BODY_TOO_LARGE',
    false,
  ],
  [
    'an expectation that nobody meets',
    `${POST}${CLOSING}expect: 200-ok\r\ncontent-length: 2\r\n\r\n{}`,
    417,
    'REQUEST_INVALID',
    false,
  ],
  [
    'no host',
    `${POST}connection: close\r\ncontent-length: 2\r\n\r\n{}`,
    400,
    'REQUEST_INVALID',
    false,
  ],
])('refuses %s with a status of its own and a typed body', async (_, bytes, status, code, may) => {
  const [head = '', body = ''] = (await answerTo(bytes)).split('\r\n\r\n');
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} .*content-type: application/json`, 'is'));
  expect(JSON.parse(body)).toMatchObject({ error: { code, retryable: may } });
});

it('leaves no connection open of a client that does not close its own half', async () => {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, () =>
    socket.write(`${POST}host: a\r\n`),
  );
  const { server } = instance;
  const count = () =>
    new Promise<number>((resolve) => server.getConnections((_, found) => resolve(found)));
  socket.resume();
  await new Promise((ended) => socket.once('end', ended));
  await until('it is gone', async () => (await count()) === 0);
  socket.destroy();
});
