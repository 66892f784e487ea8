import { once } from 'node:events';
import { createConnection } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { withinMs } from './within-ms.js';

/** A server in a thread of its own, which answers each byte at once. */
const SERVER = `
  const { parentPort } = require('node:worker_threads');
  const server = require('node:net').createServer((socket) => socket.pipe(socket));
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

let server: Worker;
let port: number;

beforeAll(async () => {
  server = new Worker(SERVER, { eval: true });
  [port] = (await once(server, 'message')) as [number];
});

afterAll(() => server.terminate());

/** Keeps this thread from reading anything. */
function stall(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

it('takes an answer that came in time while this thread was busy', async () => {
  const socket = createConnection(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write('?');
  // Behind this turn's sockets: what is next is the timers.
  await turn();
  const answer = withinMs(
    50,
    once(socket, 'data').then(([bytes]) => String(bytes)),
  );
  stall(200);
  expect(await answer).toBe('?');
  socket.destroy();
});

it('rejects where no answer comes', async () => {
  const never = new Promise<void>(() => undefined);
  await expect(withinMs(20, never)).rejects.toThrow('no answer within 20 ms');
});

it('rejects as the work does', async () => {
  const failed = Promise.reject(new Error('the store is full'));
  await expect(withinMs(20, failed)).rejects.toThrow('the store is full');
});
