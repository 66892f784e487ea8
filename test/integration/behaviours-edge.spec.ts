/** Behaviours, histories, profiles and erasures over HTTP, at each process that takes them. */

import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BehaviourLog, EmbeddedBehaviourLog, parseRetention } from '@tessera/behaviour';
import { ServiceClient } from '@tessera/client';
import { loadConfig } from '@tessera/config';
import { invalid } from '@tessera/grpc';
import type { Serving } from '@tessera/hosting';
import { createLog } from '@tessera/telemetry';
import { temporaryFolder } from '@tessera/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { serve as serveFeature } from '../../apps/feature/src/serve.js';
import { serve as serveGateway } from '../../apps/gateway/src/serve.js';
import { serve } from '../../apps/standalone/src/serve.js';
import { FakeCluster } from './fake-cluster.js';
import { FakeRuntime } from './fake-runtime.js';

const PORTS = { TESSERA_HTTP_PORT: '0', TESSERA_GRPC_PORT: '0', TESSERA_INSPECTION_PATH: '' };
const log = createLog('silent');
const folder = temporaryFolder({});
const cluster = new FakeCluster(folder.path);
const auditPath = join(folder.path, 'audit.jsonl');
let store: EmbeddedBehaviourLog;
/** Where the same calls are answered. */
const edges: [name: string, serving: Serving][] = [];
const nodes: Serving[] = [];

class Runtime extends FakeRuntime {
  override readonly checkProfile = ({ gender }: Readonly<Record<string, string>>) => {
    if (gender === 'none') throw invalid('profile.gender', 'one of f', gender);
  };

  constructor(override readonly behaviourLog: BehaviourLog) {
    super();
  }
}

/** A store of several nodes, as Redis is: the first that applies an erasure answers for all. */
function shared(log: BehaviourLog): BehaviourLog {
  const erased = new Map<string, Promise<boolean>>();
  const erase: BehaviourLog['erase'] = (userId, untilMs, mark) => {
    const known = erased.get(mark ?? '') ?? log.erase(userId, untilMs, mark);
    if (mark !== undefined) erased.set(mark, known);
    return known;
  };
  return Object.assign(Object.create(log) as BehaviourLog, { erase });
}

const configOf = (variables: Readonly<Record<string, string>>) =>
  loadConfig({ environment: { ...PORTS, ...variables } }).config;

const hostOf = ({ grpcAddress, httpUrl }: Serving) => `${grpcAddress}/${new URL(httpUrl).host}`;

beforeAll(async () => {
  const path = join(folder.path, 'behaviours');
  store = await EmbeddedBehaviourLog.open({
    path,
    retention: parseRetention('*=1000'),
    nowMs: Date.now,
  });
  const lone = configOf({ TESSERA_ACCESS_AUDIT_PATH: auditPath });
  const runtime = new Runtime(store);
  const node = await serve({ config: lone, runtime, log, serviceVersion: '1' });
  const behaviours = shared(store);
  for (const name of ['a', 'b', 'c']) {
    nodes.push(await cluster.serve(name, { runtime: new Runtime(behaviours) }, PORTS));
  }
  const members = nodes.map((serving, at) => `${'abc'[at]}=${hostOf(serving)}`).join();
  const config = configOf({ TESSERA_CLUSTER_NODES: members });
  const gateway = await serveGateway({ config, log, serviceVersion: '1' });
  const feature = await serveFeature({
    config: configOf({
      TESSERA_BEHAVIOURS_STORE: 'embedded',
      TESSERA_BEHAVIOURS_PATH: join(folder.path, 'features'),
    }),
    log,
    serviceVersion: '1',
    onProgress: () => undefined,
  });
  const before = await serveGateway({
    config: configOf({
      TESSERA_CLUSTER_NODES: members,
      TESSERA_CLUSTER_BEHAVIOURS: hostOf(feature),
    }),
    log,
    serviceVersion: '1',
  });
  edges.push(['node', node], ['gateway', gateway]);
  edges.push(['feature process', feature], ['gateway before it', before]);
});

afterAll(async () => {
  for (const [, serving] of edges.reverse()) await serving.drain.run();
  for (const serving of nodes) await serving.drain.run();
  await store?.close();
  folder.remove();
});

interface Behaviour {
  readonly eventId: string;
}

async function post(serving: Serving, path: string, body: unknown) {
  const reply = await fetch(`${serving.httpUrl}/v1/behaviours/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const json = (await reply.json()) as Record<string, unknown>;
  return { status: reply.status, json };
}

const timeMs = Date.now() - 60_000;
const event = (userId: string | number, eventId: string, at = 0) => ({
  userId,
  eventId,
  itemId: 17,
  action: 'click',
  timeMs: timeMs + at,
  scene: { daypart: 'evening' },
});

it.each([0, 1, 2, 3])('edge %i stores, tells and forgets what users did', async (at) => {
  const [name, serving] = edges[at] as [string, Serving];
  const users = Array.from({ length: 9 }, (_, n) => `${name}-${n}`);
  const events = users.map((userId, n) => event(userId, `e${n}`));
  const appended = await post(serving, 'append', { behaviours: [...events, events[4]] });
  const outcomes = [...users.map(() => 'added'), 'duplicate'];
  expect(appended).toEqual({ status: 200, json: { outcomes } });
  const profile = { gender: 'f' };
  expect(await post(serving, 'put-profile', { userId: users[0], profile })).toEqual({
    status: 200,
    json: {},
  });
  const { json } = await post(serving, 'history', { userId: users[0] });
  const kept = { ...events[0], itemId: '17' };
  expect(json).toEqual({ behaviours: [kept], profile });
  const overGrpc = new ServiceClient('tessera.behaviour.v1.BehaviourService', serving.grpcAddress);
  const told = await overGrpc.call('History', { userId: users[0] as string });
  expect(told.behaviours).toMatchObject([{ ...kept, timeMs }]);
  expect(told.profile).toEqual(profile);
  overGrpc.close();
  const erased = { status: 200, json: { known: true } };
  expect(await post(serving, 'erase', { userId: users[0] })).toEqual(erased);
  expect(await post(serving, 'history', { userId: users[0] })).toMatchObject({
    status: 404,
    json: { error: { code: 'USER_NOT_FOUND', field: 'userId' } },
  });
});

it('a process with prompts stores no profile that they cannot show', async () => {
  const [, serving] = edges[0] as [string, Serving];
  const request = { userId: 'shown', profile: { gender: 'none' } };
  expect(await post(serving, 'put-profile', request)).toMatchObject({
    status: 400,
    json: { error: { code: 'REQUEST_INVALID', field: 'profile.gender' } },
  });
  const client = new ServiceClient('tessera.behaviour.v1.BehaviourService', serving.grpcAddress);
  const refused = { code: 3, details: 'profile.gender: expected one of f, got none' };
  await expect(client.call('PutProfile', request)).rejects.toMatchObject(refused);
  client.close();
  expect(await post(serving, 'history', { userId: 'shown' })).toMatchObject({ status: 404 });
});

it.each([0, 1, 2, 3])('edge %i takes every ID without a change, as text or integer', async (at) => {
  const [name, serving] = edges[at] as [string, Serving];
  const long = '9007199254740993';
  const ids = [long, '007', 'ü 😀', 42, Number.MAX_SAFE_INTEGER];
  const behaviours = ids.map((id, n) => event(id, `${name}-${n}`, n));
  const { json } = await post(serving, 'append', { behaviours });
  expect(json.outcomes).toEqual(ids.map(() => 'added'));
  for (const [n, userId] of ids.entries()) {
    const asked = await post(serving, 'history', { userId });
    const [last] = (asked.json.behaviours as Behaviour[]).slice(-1);
    expect(last).toMatchObject({ userId: String(userId), eventId: `${name}-${n}` });
  }
  // As text the integer is the same user.
  expect((await post(serving, 'history', { userId: '42' })).status).toBe(200);
  // A number beyond 2^53 is another one by the time that it was read.
  const body = `{"userId": ${long}}`;
  const reply = await fetch(`${serving.httpUrl}/v1/behaviours/history`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  expect([reply.status, await reply.json()]).toMatchObject([
    400,
    { error: { field: 'userId', message: expect.stringContaining('beyond 2^53') } },
  ]);
});

it.each([0, 1, 2, 3])(
  'edge %i names the field at fault, where it stands in the call',
  async (at) => {
    const [name, serving] = edges[at] as [string, Serving];
    const many = Array.from({ length: 9 }, (_, n) => event(`${name}-many-${n}`, `m${n}`));
    const wrong = { ...event(`${name}-many-8`, 'm'), timeMs: 5e15 };
    for (const [path, body, field] of [
      ['append', { behaviours: [...many, wrong] }, 'behaviours[9].timeMs'],
      ['append', { behaviours: [...many, { userId: 'u' }] }, 'behaviours[9].eventId'],
      ['append', { behaviours: {} }, 'behaviours'],
      ['append', { behaviours: many, more: 1 }, 'more'],
      ['history', {}, 'userId'],
      ['history', { userId: '' }, 'userId'],
      ['history', { userId: 'u', limit: 0 }, 'limit'],
      ['put-profile', { userId: 'u' }, 'profile'],
      ['erase', { userId: ['u'] }, 'userId'],
    ] as const) {
      const { status, json } = await post(serving, path, body);
      expect([path, status, json.error]).toMatchObject([path, 400, { field }]);
    }
  },
);

it('writes an audit line of a change that says where it was asked for', () => {
  const lines = readFileSync(auditPath, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const seen = lines.map(({ action, edge }) => `${action} ${edge}`);
  for (const action of ['put-profile', 'erase-user', 'append-behaviours']) {
    expect(seen).toContain(`${action} http`);
  }
});

it('a gateway that knows no HTTP of the feature process says so', async () => {
  const [, feature] = edges.find(([name]) => name === 'feature process') as [string, Serving];
  const config = configOf({
    TESSERA_CLUSTER_NODES: `a=${hostOf(nodes[0] as Serving)}`,
    TESSERA_CLUSTER_BEHAVIOURS: feature.grpcAddress,
  });
  const gateway = await serveGateway({ config, log, serviceVersion: '1' });
  const { status, json } = await post(gateway, 'history', { userId: 'u' });
  await gateway.drain.run();
  expect([status, json.error]).toMatchObject([503, { code: 'STORE_UNAVAILABLE' }]);
});
