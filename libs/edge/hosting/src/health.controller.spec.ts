import { Readiness } from '@tessera/lifecycle';
import type { FastifyReply } from 'fastify';
import { expect, it } from 'vitest';
import { HealthController, OwnState } from './health.controller.js';

it('is current until the node is stale, and takes requests on', () => {
  const readiness = new Readiness();
  readiness.set('ready');
  let isStale = false;
  const own = new OwnState({ clusterLog: () => ({ isStale }) });
  const health = new HealthController(readiness, { versions: [] } as never, own);
  const statuses = () =>
    [health.ready, health.current].map((ask) => {
      const all: number[] = [];
      const reply = { status: (status: number) => all.push(status) };
      expect(ask.call(health, reply as unknown as FastifyReply).clusterLog).toEqual({ isStale });
      return all[0];
    });
  expect(statuses()).toEqual([200, 200]);
  isStale = true;
  expect(statuses()).toEqual([200, 503]);
});
