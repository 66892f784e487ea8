/** Versions that are announced on a topic, fetched from a folder or a store, and reported. */

import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Kafka, logLevel } from 'kafkajs';
import protobuf from 'protobufjs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type KafkaBroker,
  S3_CREDENTIALS,
  type S3Server,
  startKafkaBroker,
  startS3Server,
  temporaryFolder,
} from '../../libs/testing/src/index.js';
import { DEMO } from './random-adapter.js';
import { Service } from './service.js';

const POLL = { timeout: 60_000 };
const ANNOUNCEMENTS = 'adapter.announcements';
const root = new protobuf.Root();
root.resolvePath = (_origin, target) => join('proto', target);
root.loadSync('tessera/adapter/events/v1/adapter_event.proto');
const ANNOUNCED = root.lookupType('tessera.adapter.events.v1.AdapterAnnounced');
const EVENT = root.lookupType('tessera.adapter.events.v1.AdapterEvent');

const folder = temporaryFolder({});
let broker: KafkaBroker;
let store: S3Server;
let service: Service;
let kafka: Kafka;
const ends: (() => Promise<unknown>)[] = [];
const events: Record<string, string>[] = [];
const dead: string[] = [];

beforeAll(async () => {
  broker = await startKafkaBroker();
  store = await startS3Server('trained');
  for (const file of ['adapter_config.json', 'adapter_model.safetensors']) {
    await store.put(`newest/${file}`, readFileSync(join('test/fixtures/finetuned', file)));
  }
  cpSync('test/fixtures/finetuned', join(folder.path, 'trained', 'newest'), { recursive: true });
  service = await Service.start(
    {
      TESSERA_MODEL_PATH: DEMO,
      TESSERA_CATALOGUE_CACHE_PATH: join(folder.path, 'cache'),
      TESSERA_ADAPTERS_PATH: join(folder.path, 'adapters'),
      TESSERA_ADAPTERS_FETCH_PATH: join(folder.path, 'trained'),
      TESSERA_ADAPTERS_S3_BUCKETS: 'trained',
      AWS_ENDPOINT_URL: store.url,
      TESSERA_ADAPTERS_S3_ADDRESSING: 'path',
      ...S3_CREDENTIALS,
    },
    ['--kafka', broker.address],
  );
  await service.topicsServed();
  kafka = new Kafka({ brokers: [broker.address], logLevel: logLevel.NOTHING });
  const consumer = kafka.consumer({ groupId: 'test', maxWaitTimeInMs: 20 });
  await consumer.connect();
  const topics = ['adapter.events', `${ANNOUNCEMENTS}.dead`];
  await consumer.subscribe({ topics, fromBeginning: true });
  await consumer.run({
    eachMessage: async ({ topic, message: { value, headers = {} } }) => {
      if (topic === 'adapter.events') {
        events.push(EVENT.toObject(EVENT.decode(value as Buffer), { longs: Number }) as never);
      } else dead.push(`${headers['tessera-code']} ${headers['tessera-reason']}`);
    },
  });
  ends.push(() => consumer.disconnect());
});
afterAll(async () => {
  for (const end of ends) await end();
  await service?.stop();
  await store?.stop();
  await broker?.stop();
  folder.remove();
});

it('are fetched and activated, bad ones are buried, and both are reported', async () => {
  const { versions } = (await (await fetch(`${service.httpUrl}/health`)).json()) as {
    versions: { model: string };
  };
  const good = { name: 'main', baseModel: versions.model, location: 'newest', share: 1 };
  const encoded = (message: object) =>
    Buffer.from(ANNOUNCED.encode(ANNOUNCED.fromObject(message)).finish());
  const producer = kafka.producer();
  await producer.connect();
  ends.push(() => producer.disconnect());
  const messages = [
    Buffer.from('no announcement'),
    encoded({ ...good, location: '../adapters' }),
    encoded({ ...good, baseModel: 'another' }),
    encoded({ ...good, sha256: { 'adapter_config.json': 'f'.repeat(64) } }),
    encoded({ ...good, location: 's3://another/newest/' }),
    encoded({ ...good, location: 's3://trained/gone/' }),
    encoded(good),
    // Delivered twice: nothing more is done.
    encoded(good),
    encoded({ ...good, name: 'stored', location: 's3://trained/newest/', share: 0 }),
  ].map((value) => ({ key: 'main', value }));
  await producer.send({ topic: ANNOUNCEMENTS, messages });

  const done = () => events.map(({ action, actor, outcome }) => `${action} ${actor} ${outcome}`);
  await expect.poll(done, POLL).toContain('activate announcement OK');
  await expect
    .poll(() => done().filter((one) => one === 'push announcement OK'), POLL)
    .toHaveLength(3);
  const pushed = events.filter((one) => one.action === 'push' && one.outcome === 'OK');
  // The same content, wherever it came from.
  expect(new Set(pushed.map(({ digest }) => digest)).size).toBe(1);
  expect(pushed.map(({ name }) => name)).toEqual(['main', 'main', 'stored']);
  const { json } = await service.post({ userId: '1' });
  const { adapter } = (json as { versions: { adapter: string } }).versions;
  expect(events.find(({ action }) => action === 'activate')?.digest).toBe(adapter);
  expect(done().filter((one) => one.startsWith('activate'))).toHaveLength(1);
  await expect.poll(() => dead.length, POLL).toBe(6);
  expect(dead.map((one) => one.split(' ')[0])).toEqual([
    'REQUEST_INVALID',
    'ADAPTER_INVALID',
    'ADAPTER_INVALID',
    'ADAPTER_CORRUPT',
    'ADAPTER_INVALID',
    'ADAPTER_NOT_FOUND',
  ]);
  expect(dead[2]).toContain('baseModel');
  // Refusals of readable versions are told to listeners, too.
  const refused = events.filter(({ action, outcome }) => action === 'push' && outcome !== 'OK');
  expect(refused.map(({ name, outcome }) => `${name} ${outcome}`)).toEqual(
    dead.slice(1).map((one) => `main ${one.split(' ')[0]}`),
  );
});
