import { PLAIN } from '@tessera/client';
import { Readiness } from '@tessera/lifecycle';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Cluster } from './cluster.js';
import type { NodeLink } from './node-link.js';
import { addConditions } from './observed.js';

const member = (name: string, port: number, weight: number) => {
  const [grpc, http] = [`127.0.0.1:${port}`, `127.0.0.1:${port + 1}`];
  return { name, grpc, http, weight };
};

let cluster: Cluster;
const link = (name: string) => cluster.link(name) as NodeLink;
const see = (name: string, model: string) =>
  cluster.saw(link(name), { state: 'up', versions: { node: name, model } });
const states = () => cluster.links().map(({ state }) => state);

beforeEach(() => {
  cluster = new Cluster(PLAIN, { info: () => undefined, warn: () => undefined });
  cluster.setMembers([member('a', 1, 3), member('b', 11, 1), member('c', 21, 1)]);
  see('a', 'old');
  see('b', 'new');
  see('c', 'new');
});
afterEach(() => cluster.close());

it('serves what the greatest weight of its nodes serves', () => {
  expect(cluster.versions).toEqual({ model: 'old' });
  expect(states()).toEqual(['up', 'different', 'different']);
  see('b', 'old');
  expect(states()).toEqual(['up', 'up', 'different']);
  see('b', 'old');
  expect(states()).toEqual(['up', 'up', 'different']);
});

it.each([
  ['a request finds it away', () => cluster.lost(link('a'), 'refused')],
  ['it does not answer', () => cluster.saw(link('a'), { state: 'down', reason: 'silence' })],
  [
    'it drains',
    () => cluster.saw(link('a'), { state: 'draining', versions: { node: 'a', model: 'old' } }),
  ],
])('decides anew where the node that decided goes: %s', (_how, go) => {
  go();
  expect(cluster.versions).toEqual({ model: 'new' });
  expect(states().slice(1)).toEqual(['up', 'up']);
  see('a', 'old');
  expect(states()).toEqual(['up', 'different', 'different']);
});

it('gives a node that is behind the others no requests, until it has caught up', () => {
  cluster.setMembers([member('a', 1, 1), member('b', 11, 1), member('c', 21, 1)]);
  const at = (name: string, sequence: number) => {
    const versions = { node: name, model: 'm', changes: String(sequence) };
    cluster.saw(link(name), { state: 'up', versions });
  };
  for (const name of ['a', 'b', 'c']) at(name, 7);
  expect(states()).toEqual(['up', 'up', 'up']);
  at('a', 9);
  at('b', 9);
  cluster.noteProgress(10_000);
  expect(states()).toEqual(['up', 'up', 'up']);
  cluster.noteProgress(13_000);
  expect(states()).toEqual(['up', 'up', 'different']);
  expect(link('c').reason).toBe('changes: expected 9, got 7');
  at('c', 8);
  cluster.noteProgress(13_500);
  expect(link('c').state).toBe('different');
  at('c', 9);
  cluster.noteProgress(14_000);
  expect(states()).toEqual(['up', 'up', 'up']);
});

it('is not ready where no node is, and routes on for the requests that nodes still take', () => {
  const readiness = new Readiness();
  const membership = { reading: () => ({ state: 'ok' as const, reason: '' }) };
  const erasures = { pendingCount: 0 };
  addConditions(readiness, cluster, membership as never, erasures as never);
  readiness.started();
  expect(readiness.ready).toBe(true);
  for (const name of ['a', 'b', 'c']) {
    const blocked = 'feature: no answer';
    cluster.saw(link(name), { state: 'up', versions: { node: name, model: 'old' }, blocked });
  }
  expect(states()).toEqual(['up', 'up', 'up']);
  expect(readiness.ready).toBe(false);
  expect(readiness.reason).toContain('feature: no answer');
  see('b', 'old');
  expect(readiness.ready).toBe(true);
});
