import { Metadata } from '@grpc/grpc-js';
import {
  behaviourEventsPackage,
  protoSchema,
  recallEventsPackage,
  recallPackage,
} from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';
import { RECORD_HEADERS, RecallRequests, type TopicRecord } from '@tessera/kafka';
import { partitionOf } from '@tessera/routing';
import fc from 'fast-check';
import protobuf from 'protobufjs';
import { expect, it } from 'vitest';
import type { Cluster } from '../cluster.js';
import type { Counted } from '../counted.js';
import type { OneNodeCalls } from '../grpc/one-node.js';
import type { UnaryHop } from '../grpc/unary-hop.js';
import { NodeRefusal } from '../node-failure.js';
import { ForwardedBehaviours } from './forwarded-behaviours.js';
import { forwardedRecall } from './forwarded-recalls.js';

const root = protobuf.Root.fromJSON(protoSchema as protobuf.INamespace);
const Requested = root.lookupType(`${recallEventsPackage}.RecallRequested`);
const Answered = root.lookupType(`${recallEventsPackage}.RecallAnswered`);
const Request = root.lookupType(`${recallPackage}.RecallRequest`);
const Response = root.lookupType(`${recallPackage}.RecallResponse`);
const Event = root.lookupType(`${behaviourEventsPackage}.BehaviourEvent`);
const Appended = root.lookupType('tessera.behaviour.v1.AppendRequest');
const Outcomes = root.lookupType('tessera.behaviour.v1.AppendResponse');

const bytesOf = (type: protobuf.Type, message: object) =>
  Buffer.from(type.encode(type.fromObject(message)).finish());
const objectOf = (type: protobuf.Type, bytes: Uint8Array) =>
  type.toObject(type.decode(bytes), { longs: Number }) as Record<string, never>;

function record(key: string, value: Buffer, id: string | Buffer = 'id-1'): TopicRecord {
  const headers = { [RECORD_HEADERS.correlationId]: Buffer.from(id) };
  return {
    topic: 't',
    partition: 0,
    offset: '1',
    key: Buffer.from(key),
    value,
    headers,
    timestampMs: 1e12,
  };
}

/** A producer that keeps what it is given. */
function produced() {
  const answers: { id: string; key: string; answered: Record<string, never> }[] = [];
  const dead: { offset: string; code: string; message: string }[] = [];
  const producer = {
    send: async (
      _topic: string,
      messages: readonly { key?: unknown; value: unknown; headers?: object }[],
    ) => {
      for (const { key, value, headers = {} } of messages) {
        const id = String((headers as Record<string, unknown>)[RECORD_HEADERS.correlationId]);
        const answered = objectOf(Answered, value as Buffer);
        answers.push({ id, key: String(key), answered });
      }
    },
    bury: async (all: readonly { record: TopicRecord; error: TesseraError }[]) => {
      for (const { record: one, error } of all) {
        dead.push({ offset: one.offset, code: error.code, message: error.message });
      }
    },
  };
  return { answers, dead, producer };
}

function recalls(answer: (path: string, call: UnaryHop) => Promise<Buffer>) {
  const { answers, dead, producer } = produced();
  const asked: UnaryHop[] = [];
  const one = {
    unary: (path: string, call: UnaryHop) => {
      asked.push(call);
      return answer(path, call);
    },
  } as unknown as OneNodeCalls;
  const requests = new RecallRequests({
    producer: producer as never,
    responsesTopic: 'r',
    defaultDeadlineMs: 500,
    answer: (recall) => forwardedRecall(one, recall),
  });
  return { answers, dead, asked, requests };
}

it('asks the owner byte for byte and passes its answer on, once for each record', async () => {
  const response = bytesOf(Response, { requestId: 'r', items: [{ itemId: 'i' }] });
  const { answers, asked, requests } = recalls(async (path) => {
    expect(path).toBe('/tessera.recall.v1.RecallService/Recall');
    return response;
  });
  const request = bytesOf(Request, { requestId: 'mine', userId: 'u', resultCount: 3 });
  // A field that this version does not know, behind it.
  const later = Buffer.concat([request, Buffer.from([0xfa, 0x3f, 1, 9])]);
  const value = Buffer.concat([Buffer.from([10, later.length]), later]);
  const timed = bytesOf(Requested, { request: { userId: 'v' }, deadlineTimeMs: 123 });
  await requests.serve({ records: [record('u', value), record('v', timed, 'id-2')] });
  expect(asked[0]?.request.equals(later)).toBe(true);
  expect(asked.map(({ deadlineMs }) => deadlineMs)).toEqual([1e12 + 498, 121]);
  // A request without an ID gets its correlation ID, so that a second answer bears the same.
  expect(objectOf(Request, asked[1]?.request as Buffer)).toEqual({
    userId: 'v',
    requestId: 'id-2',
  });
  expect(answers.map(({ id, key }) => [id, key])).toEqual([
    ['id-1', 'u'],
    ['id-2', 'v'],
  ]);
  for (const { answered } of answers) {
    expect(answered.response).toMatchObject({ requestId: 'r', items: [{ itemId: 'i' }] });
  }
});

function metadataOf(fields: Readonly<Record<string, string>>): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(fields)) metadata.set(name, value);
  return metadata;
}

it('refuses in the words of the node, and by itself what is no request', async () => {
  const trailers = metadataOf({
    'tessera-code': 'ENGINE_OVERLOADED',
    'tessera-retry-after-ms': '25',
  });
  const { answers, dead, requests } = recalls(async () => {
    throw new NodeRefusal(8, 'the queue is full', trailers);
  });
  const of = (request: object) => bytesOf(Requested, { request });
  await requests.serve({
    records: [
      record('u', of({ userId: 'u' }), 'full'),
      record('other', of({ userId: 'u' }), 'key'),
      record('', bytesOf(Requested, { deadlineTimeMs: 5 }), 'none'),
      record('u', Buffer.from('no protobuf'), 'bytes'),
      record('u', of({ userId: 'u' }), ''),
    ],
  });
  const refusals = new Map(answers.map(({ id, answered }) => [id, answered.refusal]));
  expect(refusals.get('full')).toEqual({
    code: 'ENGINE_OVERLOADED',
    message: 'the queue is full',
    field: '',
    retryable: true,
    retryAfterMs: 25,
  });
  expect(refusals.get('key')).toMatchObject({ code: 'REQUEST_INVALID', field: 'key' });
  expect(refusals.get('none')).toMatchObject({ code: 'REQUEST_INVALID', field: 'request' });
  expect(refusals.get('bytes')).toMatchObject({ code: 'REQUEST_INVALID', field: 'value' });
  expect(refusals.size).toBe(4);
  expect(dead.map(({ message }) => message.split(':')[0]).sort()).toEqual([
    'tessera-correlation-id',
    'value',
  ]);
});

it('asks for a few passes at once, over all batches, and leaves none behind', async () => {
  let [now, most] = [0, 0];
  const { answers, requests } = recalls(async () => {
    now += 1;
    most = Math.max(most, now);
    await new Promise(setImmediate);
    now -= 1;
    return Buffer.alloc(0);
  });
  const until = (userId: string) =>
    record(userId, bytesOf(Requested, { request: { userId } }), userId);
  const all = Array.from({ length: 300 }, (_, at) => until(`${at}`));
  const batches = [all.slice(0, 150), all.slice(150)];
  await Promise.all(batches.map((records) => requests.serve({ records })));
  expect([most, answers.length]).toEqual([64, 300]);
});

it('has asked for all of a batch before it is served again', async () => {
  let [asked, written] = [0, 0];
  const requests = new RecallRequests({
    producer: {
      send: async () => {
        written += 1;
        if (written === 1) throw new TesseraError('BROKER_UNAVAILABLE', 'away');
      },
      bury: async () => undefined,
    },
    responsesTopic: 'r',
    defaultDeadlineMs: 500,
    answer: async () => {
      asked += 1;
      return Buffer.alloc(0);
    },
  });
  const value = bytesOf(Requested, { request: { userId: 'u' } });
  const records = Array.from({ length: 200 }, (_, at) => record('u', value, `${at}`));
  await expect(requests.serve({ records })).rejects.toMatchObject({ code: 'BROKER_UNAVAILABLE' });
  expect([asked, written]).toEqual([200, 200]);
});

it('leaves a correlation ID that is no request ID where it is', async () => {
  const { asked, answers, requests } = recalls(async () => Buffer.alloc(0));
  const value = bytesOf(Requested, { request: { userId: 'u' } });
  const ids = [Buffer.from([0xff, 0xfe]), 'x'.repeat(129)];
  await requests.serve({ records: ids.map((id) => record('u', value, id)) });
  for (const { request } of asked) expect(objectOf(Request, request)).toEqual({ userId: 'u' });
  expect(answers).toHaveLength(2);
});

const NODES = 3;
const ownerOf = (partition: number) => `node-${partition % NODES}`;

/** Nodes that refuse whole what has a behaviour without an item. */
function appending(isAway = () => false) {
  const stored = new Map<string, string[]>();
  const { dead, producer } = produced();
  const take = async (bytes: Buffer, partition: number) => {
    if (isAway()) throw new TesseraError('NODE_UNAVAILABLE', 'away');
    const { behaviours } = objectOf(Appended, bytes) as unknown as {
      behaviours: { eventId: string; itemId?: string }[];
    };
    if (behaviours.some(({ itemId = '' }) => itemId === '')) {
      const trailers = metadataOf({ 'tessera-code': 'REQUEST_INVALID' });
      throw new NodeRefusal(3, 'itemId: expected text', trailers);
    }
    const node = ownerOf(partition);
    const events = behaviours.map(({ eventId }) => eventId);
    stored.set(node, [...(stored.get(node) ?? []), ...events]);
    return bytesOf(Outcomes, { outcomes: behaviours.map(() => 1) });
  };
  const one = {
    ask: (_path: string, bytes: Buffer, _call: unknown, partition: number) =>
      take(bytes, partition),
  } as unknown as OneNodeCalls;
  const cluster = {
    choose: (partition: number) => ({ link: { member: { name: ownerOf(partition) } } }),
  } as unknown as Cluster;
  const count: Counted = (_path, _call, act) => act();
  const topic = new ForwardedBehaviours({ one, cluster, count, producer: producer as never });
  return { stored, dead, topic };
}

const eventOf = (userId: string, eventId: string, itemId = 'i') =>
  bytesOf(Event, { behaviour: { userId, eventId, itemId, timeMs: 5 } });

it('appends each behaviour at its owner, and buries those that are at fault', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ user: fc.nat(9), isBad: fc.boolean(), hasOtherKey: fc.boolean() }), {
        maxLength: 24,
      }),
      async (all) => {
        const { stored, dead, topic } = appending();
        const records = all.map(({ user, isBad, hasOtherKey }, n) => {
          const value = eventOf(`u${user}`, `e${n}`, isBad ? '' : 'i');
          const key = hasOtherKey ? 'other' : `u${user}`;
          return Object.assign(record(key, value), { offset: String(n) });
        });
        await topic.store(records);
        const isAtFault = (n: number) => all[n]?.isBad === true || all[n]?.hasOtherKey === true;
        const expected = new Map<string, Set<string>>();
        for (const [n, { user }] of all.entries()) {
          if (isAtFault(n)) continue;
          const node = ownerOf(partitionOf(`u${user}`));
          expected.set(node, (expected.get(node) ?? new Set()).add(`e${n}`));
        }
        expect(new Map([...stored].map(([node, events]) => [node, new Set(events)]))).toEqual(
          expected,
        );
        const buried = dead.map(({ offset }) => Number(offset)).sort((a, b) => a - b);
        expect(buried).toEqual([...all.keys()].filter(isAtFault));
      },
    ),
  );
});

it('buries nothing while a node is away, so that the batch is served again', async () => {
  const { dead, topic } = appending(() => true);
  const stored = topic.store([record('u', eventOf('u', 'e'))]);
  await expect(stored).rejects.toMatchObject({ code: 'NODE_UNAVAILABLE' });
  expect(dead).toEqual([]);
});
