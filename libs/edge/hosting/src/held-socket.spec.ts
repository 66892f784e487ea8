import { Agent, createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Caller } from '@tessera/admission';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { HeldSocket } from './held-socket.js';

const closings: (() => void)[] = [];
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
  for (const close of closings.splice(0)) close();
});

async function served() {
  const callers = new Set<HeldSocket>();
  const gone: Caller[] = [];
  const asked: string[] = [];
  const server = createServer((request, answer) => {
    asked.push(request.url ?? '');
    const caller = HeldSocket.of(answer, (one) => gone.push(one));
    callers.add(caller);
    answer.once('finish', () => caller.answered());
    answer.end();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  closings.push(() => agent.destroy());
  closings.push(() => server.closeAllConnections());
  closings.push(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const ask = (path: string, by = agent) =>
    new Promise<void>((resolve, reject) => {
      get({ host: '127.0.0.1', port, path, agent: by }, (reply) => {
        reply.resume();
        reply.once('end', resolve);
      }).once('error', reject);
    });
  return { callers, gone, asked, agent, ask };
}

it('is one for all requests of a connection', async () => {
  const { callers, ask } = await served();
  await ask('/1');
  await ask('/2');
  expect(callers.size).toBe(1);
});

it('reads nothing of a held connection until it is released, and says that it closed', async () => {
  const { callers, asked, gone, agent, ask } = await served();
  await ask('/1');
  const [caller] = callers as Set<HeldSocket>;
  caller?.hold();
  const second = ask('/2');
  // Bytes of another connection are read meanwhile: by then those of the first would be.
  await ask('/other', new Agent());
  await ask('/another', new Agent());
  expect(asked).not.toContain('/2');
  caller?.release();
  await second;
  expect(asked).toContain('/2');
  agent.destroy();
  await new Promise<void>((resolve) => {
    const look = () => (gone.includes(caller as Caller) ? resolve() : setImmediate(look));
    look();
  });
  expect(gone).toContain(caller);
});

it('holds no connection for long, also where it is not released', async () => {
  const { callers, asked, gone, ask } = await served();
  await ask('/1');
  const [caller] = callers as Set<HeldSocket>;
  caller?.hold();
  const second = ask('/2');
  vi.advanceTimersByTime(100);
  await second;
  expect(asked).toEqual(['/1', '/2']);
  expect(gone).toEqual([caller]);
});
