/** A cluster on topics, with nodes that share Redis and no feature process. */

import { randomUUID } from 'node:crypto';
import {
  type KafkaBroker,
  type RedisServer,
  startKafkaBroker,
  startRedisServer,
  until,
} from '@tessera/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEADLINE_MS, RunningCluster } from './running-cluster.js';
import { type Answered, encodeBehaviour, encodeRequest, TopicClient } from './topic-client.js';

const NODES = 2;
const TOPIC_DEADLINE_MS = 240_000;
const TOPIC_RECALLS = 500;
const KILLED_RECALLS = 200;
/** Maximum rounds of asking again. */
const ROUNDS_MAX = 8;
const USERS = Array.from({ length: 24 }, (_, n) => String(n + 1));

let cluster: RunningCluster;
let broker: KafkaBroker;
let redis: RedisServer;
let topics: TopicClient;

/** Recalls over the topic, of all users in turn; gives their correlation IDs. */
async function askOverTopic(count: number): Promise<readonly string[]> {
  const ids = Array.from({ length: count }, () => randomUUID());
  const messages = ids.map((id, n) => {
    const userId = USERS[n % USERS.length] as string;
    const deadlineTimeMs = Date.now() + TOPIC_DEADLINE_MS;
    const value = encodeRequest({ request: { userId, resultCount: 3 }, deadlineTimeMs });
    return { key: userId, value, headers: { 'tessera-correlation-id': id } };
  });
  await topics.sendAll('recall.requests', messages);
  return ids;
}

const answersTo = (id: string) => topics.answers.get(id) ?? [];

async function topicsServed(at: string): Promise<boolean> {
  const { conditions } = (await (await fetch(`${at}/health`)).json()) as {
    readonly conditions: readonly { readonly name: string; readonly state: string }[];
  };
  return conditions.find(({ name }) => name === 'kafka')?.state === 'ok';
}

/** Behaviours that a node has taken, by what became of them. */
async function taken(name: string, outcome: 'added' | 'duplicate'): Promise<number> {
  const { http = '' } = (await cluster.node(name)) ?? {};
  const text = await (await fetch(`http://${http}/metrics`)).text();
  const samples = text.matchAll(/^tessera_behaviours_total\{(.*)\} (\d+)$/gm);
  return [...samples]
    .filter(([, labels = '']) => labels.includes(`outcome="${outcome}"`))
    .reduce((sum, [, , count]) => sum + Number(count), 0);
}

beforeAll(async () => {
  [broker, redis] = await Promise.all([startKafkaBroker(), startRedisServer()]);
  cluster = await RunningCluster.start(NODES, { kafka: broker.address, redis: redis.address });
  await until('its topics are served', () => topicsServed(cluster.httpUrl));
  topics = new TopicClient(broker.address);
  await topics.open();
});

afterAll(async () => {
  await topics?.close();
  await cluster?.end();
  await broker?.stop();
  await redis?.stop();
});

describe('a cluster on topics', () => {
  it('takes behaviours to the owner of their user, and counts each once', async () => {
    const users = Array.from({ length: 6 }, (_, n) => `new-${n}`);
    const owners = await cluster.owners(users);
    const eventsOf = (userId: string) =>
      ['5', '9', '12'].map((itemId, n) => ({
        userId,
        itemId,
        eventId: `${userId} ${n}`,
        action: 'click',
        timeMs: Date.now() - 1000 + n,
      }));
    const counts = async (outcome: 'added' | 'duplicate') => {
      const [first, second] = [await taken('node-1', outcome), await taken('node-2', outcome)];
      return { 'node-1': first, 'node-2': second };
    };
    const expected = { 'node-1': 0, 'node-2': 0 };
    for (const [turn, userId] of users.entries()) {
      const events = eventsOf(userId);
      const messages = [...events, ...events].map((event) => ({
        key: userId,
        value: encodeBehaviour(event),
      }));
      await topics.sendAll('behaviours', messages);
      expected[owners.get(userId) as keyof typeof expected] += events.length;
      // One user after the other: an owner that has nothing to do passes nobody on.
      await until(`those of ${userId} are taken`, async () => {
        const [added, again] = [await counts('added'), await counts('duplicate')];
        const sum = (of: typeof expected) => of['node-1'] + of['node-2'];
        const isIdle = (await cluster.state()).every(({ inFlight }) => inFlight === 0);
        return isIdle && sum(added) + sum(again) === 6 * (turn + 1);
      });
      expect(await counts('added'), userId).toEqual(expected);
      expect(await counts('duplicate'), userId).toEqual(expected);
    }
    const { client } = cluster;
    for (const userId of users) {
      const held = await client.history(userId, 10, DEADLINE_MS);
      expect(held.behaviours.map(({ itemId }) => itemId).sort()).toEqual(['12', '5', '9']);
    }
  });

  it('has nothing left of a user who is erased in the console of any node', async () => {
    const userId = 'new-0';
    const https = await Promise.all(
      ['node-1', 'node-2'].map(async (name) => (await cluster.node(name))?.http ?? ''),
    );
    const post = async (address: string, path: string, body: object) => {
      const headers = { 'content-type': 'application/json' };
      const sent = { method: 'POST', headers, body: JSON.stringify(body) };
      return (await fetch(`http://${address}${path}`, sent)).json();
    };
    // Every node keeps something of a user that it answered for.
    const left = async () => {
      const chains = await Promise.all(
        https.map((http) => post(http, '/v1/kv/inspect', { userId })),
      );
      const path = `/console/api/recalls?userId=${userId}`;
      const { recalls } = (await (await fetch(`http://${https[0]}${path}`)).json()) as {
        readonly recalls: readonly { readonly node: string }[];
      };
      const kept = (chains as { readonly chains?: readonly object[] }[]).map(
        ({ chains: of = [] }) => of.length,
      );
      return { chains: kept, recalls: recalls.map(({ node }) => node).sort() };
    };
    for (const http of https) await post(http, '/v1/recall', { userId, inspect: true });
    await until('both nodes keep the user', async () => (await left()).chains.join() === '1,1');
    expect((await left()).recalls).toEqual(['node-1', 'node-2']);
    const owner = await cluster.ownerOf(userId);
    const other = https[owner === 'node-1' ? 1 : 0];
    const headers = { 'x-tessera-console': '1' };
    const url = `http://${other}/console/api/users/${userId}`;
    const reply = await fetch(url, { method: 'DELETE', headers });
    expect([reply.status, await reply.json()]).toEqual([200, { known: true, recalls: 1 }]);
    expect(await left()).toEqual({ chains: [0, 0], recalls: [] });
  });

  it('answers hundreds of recalls over their topic once each, at their owners', async () => {
    const ask = async (count: number) => {
      const ids = await askOverTopic(count);
      await until('all are answered', () => ids.every((id) => answersTo(id).length > 0));
      const answers = ids.flatMap(answersTo);
      expect(answers).toHaveLength(count);
      return answers;
    };
    // Redis that does not answer within its limit makes recalls fail: they are asked again, as
    // their refusals say.
    const answers: Answered[] = [];
    for (let round = 1; answers.length < TOPIC_RECALLS; round += 1) {
      const found = await ask(TOPIC_RECALLS - answers.length);
      const refusals = found.flatMap(({ refusal }) => refusal ?? []);
      expect(refusals.filter(({ retryable }) => !retryable)).toEqual([]);
      answers.push(...found.filter(({ refusal }) => refusal === undefined));
      if (round === ROUNDS_MAX) expect(refusals).toEqual([]);
    }
    const nodes = answers.map(({ key, response }) => {
      const { node } = (response?.versions ?? {}) as { node?: string };
      return [key, node];
    });
    const owners = await cluster.owners(USERS);
    const atOwner = nodes.filter(([key = '', node]) => owners.get(key) === node);
    // Bursts leave an owner that is loaded.
    expect(atOwner.length).toBeGreaterThan(TOPIC_RECALLS / 2);
  });

  it('answers every recall over the topic where a gateway and a node are killed', async () => {
    const { running, httpUrl: second } = await cluster.secondGateway();
    await until('its topics are served', () => topicsServed(second));
    const ids = await askOverTopic(KILLED_RECALLS);
    const answered = () => ids.filter((id) => answersTo(id).length > 0).length;
    await until('some are answered', () => answered() > KILLED_RECALLS / 10);
    const { pid = 0 } = running.child;
    process.kill(pid, 'SIGKILL');
    process.kill(cluster.pidOf('node-1'), 'SIGKILL');
    await until('all are answered', () => answered() === KILLED_RECALLS);
    for (const id of ids) {
      // An answer that is given again bears the same ID.
      for (const { response } of answersTo(id)) expect(response?.requestId).toBe(id);
    }
  });
});
