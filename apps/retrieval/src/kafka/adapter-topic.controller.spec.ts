import 'reflect-metadata';
import { join } from 'node:path';
import { TesseraError } from '@tessera/errors';
import type { DeadRecord, RecordProducer, TopicRecord } from '@tessera/kafka';
import protobuf from 'protobufjs';
import { beforeEach, expect, it } from 'vitest';
import type { AdapterEdge } from '../adapter-edge.js';
import { AdapterTopicController, FetchSource } from './adapter-topic.controller.js';

const root = new protobuf.Root();
root.resolvePath = (_origin, target) => join('proto', target);
root.loadSync('tessera/adapter/events/v1/adapter_event.proto');
const ANNOUNCED = root.lookupType('tessera.adapter.events.v1.AdapterAnnounced');

function record(name: string): TopicRecord {
  const message = { name, baseModel: 'fake-model', location: 's3://adapters/one/', share: 0 };
  const value = Buffer.from(ANNOUNCED.encode(ANNOUNCED.fromObject(message)).finish());
  return {
    topic: 'adapter.announcements',
    partition: 0,
    offset: '7',
    key: null,
    value,
    headers: {},
    timestampMs: 0,
  };
}

/** Pushes under way that fail where their name is in the list, the rest succeed. */
const failures = new Map<string, (attempt: number) => void>();
const attempts = new Map<string, number>();
const buried: string[] = [];
beforeEach(() => {
  for (const each of [failures, attempts]) each.clear();
  buried.length = 0;
});

const edge = {
  pushNamed: async (_actor: string, name: string, parts: () => unknown) => {
    expect(parts()).toEqual({ announced: name });
    const attempt = (attempts.get(name) ?? 0) + 1;
    attempts.set(name, attempt);
    failures.get(name)?.(attempt);
    return { version: { state: 'validated' }, isKnown: false };
  },
} as unknown as AdapterEdge;
const producer = {
  bury: async (dead: readonly DeadRecord[]) => {
    buried.push(...dead.map(({ error }) => error.code));
  },
} as unknown as RecordProducer;
const versions = {
  parts: (announced: { name: string }) => ({ announced: announced.name }) as never,
};
const controllerOf = (attemptsMax: number) =>
  new AdapterTopicController(edge, new FetchSource(versions, attemptsMax), producer);
const never = new AbortController().signal;
const away = () => {
  throw new TesseraError('ADAPTER_SOURCE_UNAVAILABLE', 'away');
};

it('buries an announcement whose store stays away, and goes on with the next', async () => {
  failures.set('one', away);
  await controllerOf(3).fetch({ records: [record('one'), record('two')], signal: never });
  expect(Object.fromEntries(attempts)).toEqual({ one: 3, two: 1 });
  expect(buried).toEqual(['ADAPTER_SOURCE_UNAVAILABLE']);
});

it('takes an announcement whose store is back in time', async () => {
  failures.set('one', (attempt) => attempt < 3 && away());
  await controllerOf(3).fetch({ records: [record('one')], signal: never });
  expect(attempts.get('one')).toBe(3);
  expect(buried).toEqual([]);
});

it('asks no second time where the store does not let it in', async () => {
  failures.set('one', () => {
    throw new TesseraError('ADAPTER_SOURCE_DENIED', 'no');
  });
  await controllerOf(3).fetch({ records: [record('one')], signal: never });
  expect(attempts.get('one')).toBe(1);
  expect(buried).toEqual(['ADAPTER_SOURCE_DENIED']);
});

it('buries nothing when the server closes meanwhile', async () => {
  const end = new AbortController();
  failures.set('one', (attempt) => {
    if (attempt === 2) end.abort();
    away();
  });
  const served = controllerOf(100).fetch({ records: [record('one')], signal: end.signal });
  await expect(served).rejects.toThrow();
  expect(attempts.get('one')).toBe(2);
  expect(buried).toEqual([]);
});

it('leaves to the server what has nothing to do with the announcement', async () => {
  failures.set('one', () => {
    throw new TesseraError('STORE_FULL', 'the disk');
  });
  const served = controllerOf(3).fetch({ records: [record('one')], signal: never });
  await expect(served).rejects.toMatchObject({ code: 'STORE_FULL' });
  expect(buried).toEqual([]);
});
