import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Connection } from '@tessera/client';
import { describe, expect, it } from 'vitest';
import { Asking, ForwardCounts } from './asking.js';
import { Cluster } from './cluster.js';
import { NodeAway } from './node-failure.js';

const CONNECTION: Connection = { isTls: false, files: {} as Connection['files'], token: '' };
const quiet = { info: () => undefined, warn: () => undefined };

/** Three members at one HTTP edge, which says nothing, or breaks each connection. */
async function asking(timeoutMs: number, breaks: boolean) {
  let asked = 0;
  const server = createServer((_request, reply) => {
    if (breaks) reply.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const http = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const cluster = new Cluster(CONNECTION, quiet);
  const names = ['a', 'b', 'c'];
  cluster.setMembers(names.map((name) => ({ name, grpc: '127.0.0.1:1', http, weight: 1 })));
  for (const link of cluster.links()) {
    cluster.saw(link, { state: 'up', versions: { node: link.member.name } });
  }
  const wanted = {
    partition: 7,
    role: 'answer',
    kind: 'k',
    edge: 'http',
    deadlineMs: Number.POSITIVE_INFINITY,
    isOver: () => false,
  } as const;
  const body = Buffer.from('{}');
  const hop = { method: 'POST', path: '/v1/recall', headers: {}, body };
  const answer = new Asking(cluster, new ForwardCounts()).ask(wanted, (link) => {
    asked += 1;
    return link.http({ ...hop, deadlineMs: Date.now() + timeoutMs });
  });
  const thrown: unknown = await answer.catch((error: unknown) => error);
  const states = cluster.links().map(({ state }) => state);
  cluster.close();
  server.closeAllConnections();
  server.close();
  return { thrown, asked, states };
}

describe('a request over HTTP', () => {
  it('that takes longer than it may leaves the node up, and asks no other one', async () => {
    const { thrown, asked, states } = await asking(50, false);
    expect(thrown).toMatchObject({
      code: 'DEADLINE_EXCEEDED',
      message: expect.stringContaining('got none'),
    });
    expect(asked).toBe(1);
    expect(states).toEqual(['up', 'up', 'up']);
  });

  it('whose connection breaks is asked of others, and the node is down', async () => {
    const { thrown, asked, states } = await asking(60_000, true);
    expect(thrown).toMatchObject({ code: 'NODE_UNAVAILABLE' });
    expect(thrown).not.toBeInstanceOf(NodeAway);
    expect(asked).toBe(3);
    expect(states).toEqual(['down', 'down', 'down']);
  });
});
