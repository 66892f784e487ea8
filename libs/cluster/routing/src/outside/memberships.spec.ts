import { until } from '@tessera/testing';
import { afterEach, expect, it } from 'vitest';
import type { Member } from '../domain/members.js';
import { dnsMembership } from './dns-members.js';
import { StaticMembership } from './membership.js';
import { PolledMembership } from './polled-membership.js';

const node = (name: string): Member => ({ name, grpc: `${name}:1`, http: `${name}:2`, weight: 1 });
const names = (seen: readonly (readonly Member[])[]) =>
  seen.map((members) => members.map(({ name }) => name).join());
const open: { close(): void }[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});

it('has the nodes that the configuration names', async () => {
  const seen: (readonly Member[])[] = [];
  const membership = new StaticMembership([node('a')]);
  await membership.start(async (members) => void seen.push(members));
  expect(names(seen)).toEqual(['a']);
  expect(membership.reading().state).toBe('ok');
});

it('says each change once, and keeps the last members while the source is away', async () => {
  const answers: (readonly Member[] | Error)[] = [
    [node('b'), node('a')],
    [node('a'), node('b')],
    new Error('away'),
    [node('a'), node('a')],
    [node('a')],
    [Object.assign(node('a'), { role: 'append' as const })],
  ];
  let asked = 0;
  const membership = new PolledMembership(
    'source',
    async () => {
      const answer = answers[Math.min(asked, answers.length - 1)];
      asked += 1;
      if (answer instanceof Error) throw answer;
      return answer ?? [];
    },
    1,
  );
  open.push(membership);
  const seen: (readonly Member[])[] = [];
  const readings = new Set<string>();
  await membership.start(async (members) => void seen.push(members));
  await until('all answers', () => {
    readings.add(membership.reading().reason);
    return asked > answers.length;
  });
  expect(names(seen)).toEqual(['', 'a,b', 'a', 'a']);
  expect(membership.reading()).toEqual({ state: 'ok', reason: '' });
});

it('says why the last members stand', async () => {
  const membership = new PolledMembership('source', async () => [node('a'), node('a')], 1e6);
  open.push(membership);
  await membership.start(async () => undefined);
  expect(membership.reading()).toMatchObject({ state: 'degraded' });
  expect(membership.reading().reason).toContain('expected each name and address once');
});

it('finds the pods of a headless service under their own names', async () => {
  const pods = ['tessera-0.nodes.ns.svc', 'tessera-1.nodes.ns.svc'];
  const membership = dnsMembership('nodes.ns.svc', async (name) => {
    const port = name.startsWith('_grpc._tcp.') ? 50_051 : 8080;
    // The second pod became ready between the two questions.
    return pods.slice(0, port === 8080 ? 1 : 2).map((target) => ({ name: target, port }));
  });
  open.push(membership);
  const seen: (readonly Member[])[] = [];
  await membership.start(async (members) => void seen.push(members));
  expect(seen.at(-1)).toEqual([
    { name: 'tessera-0', grpc: `${pods[0]}:50051`, http: `${pods[0]}:8080`, weight: 1 },
  ]);
});

it('keeps a pod that DNS lists no more for the time of a roll, and no longer', async () => {
  let [nowMs, asked, pods] = [0, 0, ['t-0.n.svc', 't-1.n.svc', 't-2.n.svc']];
  const resolve = async (name: string) => {
    if (name.startsWith('_http')) asked += 1;
    return pods.map((target) => ({ name: target, port: 1 + Number(name.startsWith('_http')) }));
  };
  const membership = dnsMembership('n.svc', resolve, () => nowMs, 1);
  open.push(membership);
  const seen: (readonly Member[])[] = [];
  await membership.start(async (members) => void seen.push(members));
  const looked = async () => {
    asked = 0;
    await until('it has looked', () => asked > 1);
  };
  pods = ['t-0.n.svc', 't-1.n.svc'];
  nowMs = 59_000;
  await looked();
  pods = ['t-0.n.svc', 't-1.n.svc', 't-2.n.svc'];
  await looked();
  expect(names(seen)).toEqual(['', 't-0,t-1,t-2']);
  pods = ['t-0.n.svc', 't-1.n.svc'];
  nowMs = 120_000;
  await looked();
  expect(names(seen)).toEqual(['', 't-0,t-1,t-2', 't-0,t-1']);
});

it('offers members again that could not be taken, and says so meanwhile', async () => {
  const membership = new PolledMembership('source', async () => [node('a')], 1);
  open.push(membership);
  const taken: string[] = [];
  let isFull = true;
  await membership.start(async (members) => {
    if (isFull && members.length > 0) throw new Error('no room');
    taken.push(...members.map(({ name }) => name));
  });
  expect(membership.reading().reason).toBe('source: no room; the last table serves on');
  isFull = false;
  await until('they are taken', () => membership.reading().state === 'ok');
  expect(taken).toEqual(['a']);
});

it('does not believe at once that most nodes are gone, and never that all are', async () => {
  let answer = ['a', 'b', 'c', 'd'].map(node);
  let asked = 0;
  const ask = async () => {
    asked += 1;
    return answer;
  };
  const membership = new PolledMembership('source', ask, 1);
  open.push(membership);
  const seen: (readonly Member[])[] = [];
  await membership.start(async (members) => void seen.push(members));
  answer = [];
  await until('a doubt', () => membership.reading().state === 'degraded');
  expect(membership.reading().reason).toContain('expected most of 4 nodes, got 0');
  answer = ['a', 'b', 'c'].map(node);
  await until('a belief', () => membership.reading().state === 'ok');
  answer = [node('b')];
  asked = 0;
  await until('it is believed', () => seen.length === 4);
  expect(asked).toBeGreaterThan(4);
  expect(membership.reading().state).toBe('ok');
  expect(names(seen)).toEqual(['', 'a,b,c,d', 'a,b,c', 'b']);
});
