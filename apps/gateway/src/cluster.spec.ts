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

const lines: { readonly level: string; readonly text: string }[] = [];
const logged = (level: string) => (_: object, text: string) => void lines.push({ level, text });
let cluster: Cluster;
const link = (name: string) => cluster.link(name) as NodeLink;
const see = (name: string, model: string) =>
  cluster.saw(link(name), { state: 'up', versions: { node: name, model } });
const states = () => cluster.links().map(({ state }) => state);

beforeEach(() => {
  cluster = new Cluster(PLAIN, { info: logged('info'), warn: logged('warn') } as never);
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

it('gives a node that is behind the log no requests, until it has caught up', () => {
  cluster.setMembers([member('a', 1, 1), member('b', 11, 1)]);
  const at = (name: string, offset: number, more = {}) => {
    const log = {
      identity: 'l',
      offset,
      digest: `d${offset}`,
      fault: '',
      isStopped: false,
      ...more,
    };
    cluster.saw(link(name), { state: 'up', versions: { node: name, model: 'm' }, log });
  };
  for (const name of ['a', 'b']) at(name, 7);
  cluster.noteProgress(0);
  at('a', 9);
  cluster.noteProgress(10_000);
  expect(states()).toEqual(['up', 'up']);
  cluster.noteProgress(15_000);
  expect(states()).toEqual(['up', 'different']);
  expect(link('b').reason).toBe('log: expected entry 9, got entry 7');
  at('b', 8);
  cluster.noteProgress(15_500);
  expect(states()).toEqual(['up', 'different']);
  at('b', 9);
  cluster.noteProgress(16_000);
  expect(states()).toEqual(['up', 'up']);
  at('b', 9, { identity: 'other' });
  cluster.noteProgress(16_500);
  expect(link('b').reason).toBe('log: expected l, got other');
  at('b', 9, { fault: 'another digest' });
  cluster.noteProgress(17_000);
  expect(link('b').reason).toBe('log: expected the state that it says, got another digest');
});

it('is not ready where no node is, and routes on for the requests that nodes still take', () => {
  const readiness = new Readiness();
  const membership = { reading: () => ({ state: 'ok' as const, reason: '' }) };
  addConditions(readiness, cluster, membership as never);
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

it('says once that no node of a role takes requests, and sends its calls to the others', () => {
  const [a, b] = [member('a', 1, 3), member('b', 11, 1)];
  const roles = [Object.assign(a, { role: 'append' }), Object.assign(b, { role: 'answer' })];
  cluster.setMembers(roles as never);
  const chosen = (role: 'append' | 'answer') => cluster.choose(7, role)?.link.member.name;
  see('b', 'old');
  expect([chosen('append'), chosen('answer')]).toEqual(['a', 'b']);
  expect(link('a').member.role).toBe('append');
  const readiness = new Readiness();
  addConditions(readiness, cluster, { reading: () => ({ state: 'ok', reason: '' }) } as never);
  const reading = () => readiness.conditions.all().find(({ name }) => name === 'roles');
  expect(reading()).toMatchObject({ state: 'ok', reason: '' });
  lines.length = 0;
  cluster.lost(link('a'), 'refused');
  for (let round = 0; round < 3; round += 1) cluster.saw(link('a'), { state: 'down', reason: '' });
  expect([chosen('append'), chosen('answer')]).toEqual(['b', 'b']);
  expect(cluster.choose(7, 'append')?.reason).toBe('role-missing');
  const missing = 'no append node takes requests: others take their calls';
  expect(reading()).toMatchObject({ state: 'degraded', reason: missing });
  see('a', 'old');
  see('a', 'old');
  expect([chosen('append'), chosen('answer')]).toEqual(['a', 'b']);
  const ofRoles = lines.filter(({ text }) => text.includes('append'));
  expect(ofRoles.map(({ level, text }) => `${level}: ${text}`)).toEqual([
    `warn: ${missing}`,
    'info: append nodes take calls again',
  ]);
});

it('waits for a node that it has not asked yet before it says that a role has none', () => {
  const fresh = new Cluster(PLAIN, { info: logged('info'), warn: logged('warn') } as never);
  const [a, b] = [member('a', 1, 1), member('b', 11, 1)];
  const roles = [Object.assign(a, { role: 'append' }), Object.assign(b, { role: 'answer' })];
  fresh.setMembers(roles as never);
  const [first, second] = fresh.links() as [NodeLink, NodeLink];
  fresh.saw(second, { state: 'up', versions: { node: 'b', model: 'm' } });
  expect(fresh.missingRoles).toEqual([]);
  fresh.saw(first, { state: 'down', reason: 'silence' });
  expect(fresh.missingRoles).toEqual(['append']);
  fresh.close();
});

it('sends users of a busy owner to any node, once all say that they share a store', () => {
  const named = (name: string, kvStore: string) =>
    cluster.saw(link(name), { state: 'up', versions: { node: name, model: 'old' }, kvStore });
  const chosen = () => cluster.choose(7, 'answer');
  for (const name of ['a', 'b', 'c']) named(name, 'one');
  const owner = chosen()?.link as NodeLink;
  expect(chosen()?.reason).toBe('owner');
  // Predicted before anything is learned: 10 ms each.
  for (let n = 0; n < 4; n += 1) cluster.begin(owner, 'k');
  expect(chosen()?.reason).toBe('owner-loaded');
  const other = ['a', 'b', 'c'].find((name) => name !== owner.member.name) as string;
  named(other, '');
  expect(chosen()?.link).toBe(owner);
});

it('asks slow nodes on where most miss their answers, and none that refuses connections', () => {
  const readiness = new Readiness();
  addConditions(readiness, cluster, { reading: () => ({ state: 'ok', reason: '' }) } as never);
  const health = () => readiness.conditions.all().find(({ name }) => name === 'node-health');
  const silent = (name: string) =>
    cluster.saw(link(name), { state: 'down', reason: 'no answer', isSilent: true });
  for (const name of ['a', 'b', 'c']) see(name, 'old');
  silent('a');
  expect([states(), health()?.state]).toEqual([['down', 'up', 'up'], 'ok']);
  silent('b');
  expect(states()).toEqual(['up', 'up', 'up']);
  expect(health()).toMatchObject({
    state: 'degraded',
    reason: expect.stringContaining('a, b are'),
  });
  cluster.saw(link('c'), { state: 'down', reason: 'ECONNREFUSED' });
  for (const name of ['a', 'b', 'a']) silent(name);
  expect(states()).toEqual(['up', 'up', 'down']);
  expect(cluster.choose(undefined, 'answer')).toBeDefined();
  // Two of three answer again: the third's silence is a verdict.
  see('c', 'old');
  see('b', 'old');
  expect([states(), health()?.state]).toEqual([['down', 'up', 'up'], 'ok']);
  see('a', 'old');
  expect(states()).toEqual(['up', 'up', 'up']);
});
