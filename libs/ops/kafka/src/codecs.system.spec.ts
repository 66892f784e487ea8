/** Batches as other teams' producers write them, through a real broker. */

import {
  ensureTopics,
  kafkaClient,
  loadKafka,
  type RecordBatch,
  RecordProducer,
  readTopic,
  revived,
  serveTopics,
} from '@tessera/kafka';
import { createLog } from '@tessera/telemetry';
import { type KafkaBroker, startKafkaBroker } from '@tessera/testing';
import type { Kafka } from 'kafkajs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DECOMPRESSED_BYTES_MAX } from './codecs.js';

const log = createLog('silent');
const CODECS = ['gzip', 'snappy', 'lz4', 'zstd'];
let broker: KafkaBroker;
let kafka: Kafka;

beforeAll(async () => {
  broker = await startKafkaBroker();
  kafka = await kafkaClient({ clientId: 'test-codecs', brokers: [broker.address] }, log);
  const admin = kafka.admin();
  await admin.connect();
  // The broker compresses what it is given by the topic's setting, whatever the producer wrote.
  const topics = ['news.gzip', 'news.snappy', 'news.lz4', 'news.zstd'].map((topic, index) => ({
    topic,
    numPartitions: 1,
    configEntries: [{ name: 'compression.type', value: CODECS[index] as string }],
  }));
  await admin.createTopics({ topics, waitForLeaders: true });
  await admin.disconnect();
});
afterAll(() => broker.stop());

const values = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => `${from + i} ${'tea '.repeat(1 + (i % 300))}`);

/** Serves a topic until `count` records have come. */
async function served(topic: string, count: number): Promise<RecordBatch['records'][number][]> {
  const settings = {
    brokers: broker.address,
    groupId: 'codecs',
    node: 'one',
    createPartitions: 1,
    batchRecordsMax: 100,
  };
  const wanted = { topics: { [topic]: topic }, outputTopics: [], onServing: () => undefined };
  const topics = await serveTopics(settings, wanted, log);
  const seen: RecordBatch['records'][number][] = [];
  topics?.server.addHandler(
    topic,
    async ({ records }: RecordBatch) => {
      seen.push(...records);
    },
    true,
  );
  topics?.server.listen(() => undefined);
  await expect.poll(() => seen.length, { timeout: 60_000 }).toBe(count);
  await topics?.server.close();
  await topics?.producer.close();
  return seen;
}

describe('a batch that is compressed', () => {
  it.each(CODECS)('with %s is served, and by a command that reads the topic', async (codec) => {
    const topic = `news.${codec}`;
    const sender = new RecordProducer(kafka);
    const all = values(0, 500);
    await sender.send(
      topic,
      all.map((value) => ({ value })),
    );
    await sender.close();
    const seen = await served(topic, all.length);
    expect(seen.map(({ value }) => String(value))).toEqual(all);
    const read: string[] = [];
    await readTopic(kafka, topic, 'reader', async ({ value }) => {
      read.push(String(value));
    });
    expect(read).toEqual(all);
  });

  it('to more than a batch may come to is buried by offset, and the next is served', async () => {
    const topic = 'bombs';
    await ensureTopics(kafka, [topic, `${topic}.dead`], { createPartitions: 1 });
    const { CompressionCodecs, CompressionTypes } = await loadKafka();
    const { gzipSync } = await import('node:zlib');
    const reading = CompressionCodecs[CompressionTypes.GZIP];
    CompressionCodecs[CompressionTypes.GZIP] = () => ({
      compress: async ({ buffer }: { buffer: Buffer }) => gzipSync(buffer),
    });
    const producer = kafka.producer({ allowAutoTopicCreation: false });
    await producer.connect();
    const bomb = Buffer.alloc(DECOMPRESSED_BYTES_MAX / 2 + 1);
    await producer.send({
      topic,
      messages: [{ value: 'first' }, { value: bomb }, { value: bomb }],
      compression: CompressionTypes.GZIP,
    });
    await producer.disconnect();
    CompressionCodecs[CompressionTypes.GZIP] = reading;
    const sender = new RecordProducer(kafka);
    await sender.send(topic, [{ value: 'next' }]);
    await sender.close();
    expect((await served(topic, 1)).map(({ value }) => String(value))).toEqual(['next']);
    const letters: string[] = [];
    await readTopic(kafka, `${topic}.dead`, 'graves', async (letter) => {
      const {
        'tessera-offset': offset,
        'tessera-reason': reason,
        'tessera-code': code,
      } = letter.headers;
      expect(String(code)).toBe('REQUEST_INVALID');
      expect(String(reason)).toContain(
        'batch: expected records that can be decompressed, got gzip',
      );
      expect(revived(letter)).toBeNull();
      letters.push(String(offset));
    });
    expect(letters).toEqual(['0', '1', '2']);
  });
});
