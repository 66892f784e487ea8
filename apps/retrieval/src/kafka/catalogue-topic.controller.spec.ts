import 'reflect-metadata';
import { join } from 'node:path';
import type { ChangeAudits } from '@tessera/access';
import type { CatalogueChange } from '@tessera/catalogue';
import { TesseraError } from '@tessera/errors';
import type { DeadRecord, RecordProducer, TopicRecord } from '@tessera/kafka';
import type { RecallOperations } from '@tessera/recall';
import type { Metrics } from '@tessera/telemetry';
import protobuf from 'protobufjs';
import { beforeEach, expect, it } from 'vitest';
import { CatalogueTopicController } from './catalogue-topic.controller.js';

const root = new protobuf.Root();
root.resolvePath = (_origin, target) => join('proto', target);
root.loadSync('tessera/catalogue/events/v1/catalogue_event.proto');
const CHANGED = root.lookupType('tessera.catalogue.events.v1.CatalogueChanged');
const TAKEN_MS = 1000;

/** Takes 1 from the budget of an item. */
function spent(itemId: string, offset: number, timestampMs = TAKEN_MS): TopicRecord {
  const patch = { itemId, delta: [{ attribute: 'budget', delta: -1 }] };
  return recordOf({ patchAttributes: patch }, offset, timestampMs);
}

function recordOf(change: object, offset: number, timestampMs = TAKEN_MS): TopicRecord {
  const message = CHANGED.fromObject({ changes: [change] });
  const value = Buffer.from(CHANGED.encode(message).finish());
  const place = { topic: 'catalogue.changes', partition: 0, offset: String(offset) };
  return { ...place, key: null, value, headers: {}, timestampMs };
}

/** Spending of each item; the store fails by the number of the call. */
const spends = new Map<string, number>();
let calls = 0;
let failsAt: (call: number) => boolean;
let brokerIsAway: boolean;
let buried: string[];
let controller: CatalogueTopicController;
let given: readonly CatalogueChange[];

const catalogue = {
  applyRecords: async (records: readonly { readonly changes: readonly CatalogueChange[] }[]) => {
    const changes = records.flatMap((record) => record.changes);
    calls += 1;
    if (failsAt(calls)) throw new TesseraError('STORE_FULL', 'full');
    if (changes.some(({ itemId }) => itemId === 'gone')) {
      throw new TesseraError('ITEM_NOT_FOUND', 'gone');
    }
    given = changes;
    for (const { itemId } of changes) spends.set(itemId, (spends.get(itemId) ?? 0) + 1);
    return { changeCount: changes.length, sequence: calls };
  },
};
const producer = {
  bury: async (dead: readonly DeadRecord[]) => {
    if (brokerIsAway) throw new Error('away');
    buried.push(...dead.map(({ record }) => record.offset));
  },
};

beforeEach(() => {
  spends.clear();
  calls = 0;
  failsAt = () => false;
  brokerIsAway = false;
  buried = [];
  controller = new CatalogueTopicController(
    { changesOf: () => catalogue } as unknown as RecallOperations,
    { countChangeMessages: () => undefined } as unknown as Metrics,
    { note: () => undefined } as unknown as ChangeAudits,
    producer as unknown as RecordProducer,
  );
});

const take = (...records: TopicRecord[]) =>
  controller.apply({ records, signal: new AbortController().signal });

it('adds a delta once where a later one of its batch could not be kept', async () => {
  const batch = [spent('a', 0), spent('b', 1), spent('a', 2)];
  failsAt = (call) => call === 2;
  await expect(take(...batch)).rejects.toThrow('full');
  await take(...batch);
  expect(Object.fromEntries(spends)).toEqual({ a: 2, b: 1 });
});

it('adds a delta once while nobody buries what was refused beside it', async () => {
  const batch = [spent('a', 0), spent('gone', 1), spent('a', 2)];
  brokerIsAway = true;
  for (let attempt = 0; attempt < 3; attempt += 1) {
    await expect(take(...batch)).rejects.toThrow('away');
  }
  brokerIsAway = false;
  await take(...batch);
  expect([Object.fromEntries(spends), buried]).toEqual([{ a: 2 }, ['1']]);
});

it('adds a delta once where its offset was not committed, however it comes again', async () => {
  await take(spent('a', 0), spent('a', 1), spent('a', 2));
  await take(spent('a', 0), spent('a', 1));
  await take(spent('a', 2), spent('a', 3));
  await take(spent('a', 4));
  expect(spends.get('a')).toBe(5);
});

it('takes the records of a topic that was made anew', async () => {
  await take(spent('a', 0), spent('a', 1));
  await take(spent('a', 0, TAKEN_MS + 1), spent('a', 1, TAKEN_MS + 1));
  expect(spends.get('a')).toBe(4);
});

it('hands items on that come with a text or a vector in place of a semantic ID', async () => {
  const texts = { itemId: 't', text: 'hand cream', codebooks: 'f00' };
  await take(
    recordOf({ upsert: texts }, 0),
    recordOf({ upsert: { itemId: 'v', vector: [1, 0.5] } }, 1),
  );
  expect(given).toMatchObject([
    Object.assign({ op: 'upsert', sid: [], vector: [] }, texts),
    { op: 'upsert', itemId: 'v', sid: [], vector: [1, 0.5], text: '' },
  ]);
});
