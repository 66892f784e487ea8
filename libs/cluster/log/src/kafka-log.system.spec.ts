/** Cases of a log in Kafka alone: records of others, topics of others, a race to begin. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { kafkaClient } from '@tessera/kafka';
import { createLog } from '@tessera/telemetry';
import { type KafkaBroker, type KafkaRight, missingFor, startKafkaBroker } from '@tessera/testing';
import type { Admin, Kafka, Producer } from 'kafkajs';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { KafkaLog, type LogEntry } from './index.js';

const missing = missingFor(['kafka']);
if (missing.length > 0) console.log(`Kafka is not tested here: ${missing.join()} is missing`);

const bytes = (text: string) => new TextEncoder().encode(text);
const AFTER = { offset: 0, chain: '' };
const textOf = (entry: LogEntry) => new TextDecoder().decode(entry.bytes);
const REFUSED = { code: 'CONFIG_INVALID', field: 'kafka.brokers' };

async function takenToEnd(log: KafkaLog, from: number): Promise<LogEntry[]> {
  const all: LogEntry[] = [];
  for await (const entries of log.read(from, new AbortController().signal)) {
    if (entries.length === 0) break;
    all.push(...entries);
  }
  return all;
}

describe.skipIf(missing.length > 0)('a log in Kafka', () => {
  let broker: KafkaBroker;
  let kafka: Kafka;
  let admin: Admin;
  let producer: Producer;
  beforeAll(async () => {
    broker = await startKafkaBroker();
    kafka = await kafkaClient({ clientId: 't', brokers: [broker.address] }, createLog('silent'));
    admin = kafka.admin();
    producer = kafka.producer({ allowAutoTopicCreation: false });
    await Promise.all([admin.connect(), producer.connect()]);
  });
  afterAll(async () => {
    await Promise.all([admin?.disconnect(), producer?.disconnect()]);
    await broker?.stop();
  });

  const open = (name: string) => KafkaLog.open({ brokers: broker.address, name });
  /** As one who lost the race to begin the log does, and goes on as if not. */
  const sendForeign = (name: string, value: string) =>
    producer.send({
      topic: `${name}.log`,
      messages: [{ value, headers: { log: 'a foreign one' }, partition: 0 }],
    });

  it('leaves out what belongs to another log, and trimmed keeps its identity', async () => {
    const log = await open('foreign');
    await expect(log.append(bytes('too early'), AFTER)).rejects.toMatchObject({
      code: 'LOG_DIFFERENT',
    });
    expect(await log.begin('ours')).toBe('ours');
    await sendForeign('foreign', '');
    const a = await log.append(bytes('a'), AFTER);
    await sendForeign('foreign', 'theirs');
    const b = await log.append(bytes('b'), AFTER);
    await sendForeign('foreign', 'theirs, too');
    const later = await open('foreign');
    expect((await takenToEnd(later, 1)).map(textOf)).toEqual(['a', 'b']);
    // The oldest record would be a foreign one.
    await log.trim(a + 1);
    expect(await later.bounds()).toMatchObject({ identity: 'ours', first: b, end: b + 1 });
    await log.trim(b + 2);
    const latest = await open('foreign');
    expect(await latest.bounds()).toMatchObject({ identity: 'ours', first: b, end: b + 1 });
    expect((await takenToEnd(latest, b)).map(textOf)).toEqual(['b']);
    await Promise.all([log.close(), later.close(), latest.close()]);
  });

  it('makes topics that lose nothing, and leaves no group of consumers', async () => {
    const log = await open('made');
    await log.begin('ours');
    await log.say({
      node: 'n',
      process: 'p',
      offset: 1,
      digest: 'd',
      chain: '',
      erased: 0,
      needsSnapshot: false,
    });
    expect(await log.positions()).toHaveLength(1);
    await log.close();
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: ['made.log', 'made.nodes'].map((name) => ({ type: 2, name })),
    });
    const [kept, said] = resources.map(({ configEntries }) =>
      Object.fromEntries(
        configEntries.map(({ configName, configValue }) => [configName, configValue]),
      ),
    );
    expect(kept).toMatchObject({
      'cleanup.policy': 'delete',
      'retention.ms': '-1',
      'retention.bytes': '-1',
      'message.timestamp.type': 'LogAppendTime',
    });
    expect(said).toMatchObject({ 'cleanup.policy': 'compact' });
    const left = async () => {
      const { groups } = await admin.listGroups();
      return groups.filter(({ groupId }) => groupId.startsWith('made.')).length;
    };
    await expect.poll(left, { timeout: 60_000 }).toBe(0);
  });

  it('tells a topic that was made anew from the one before', async () => {
    const log = await open('again');
    await log.begin('first');
    for (const text of ['a', 'b', 'c']) await log.append(bytes(text), AFTER);
    expect((await log.bounds()).identity).toBe('first');
    await admin.deleteTopics({ topics: ['again.log'] });
    const other = await open('again');
    const begun = () => other.begin('second').catch(() => '');
    await expect.poll(begun, { timeout: 30_000 }).toBe('second');
    const identity = async () => (await log.bounds().catch(() => undefined))?.identity;
    await expect.poll(identity, { timeout: 30_000 }).toBe('second');
    await Promise.all([log.close(), other.close()]);
  });

  it('reads on behind a record of another program where nodes say how far they are', async () => {
    const log = await open('poisoned');
    await log.begin('ours');
    const word = { digest: 'd', chain: '', erased: 0, needsSnapshot: false };
    await log.say({ node: 'a', process: 'p', offset: 1, ...word });
    await producer.send({
      topic: 'poisoned.nodes',
      messages: [{ key: 'ours/node/b', value: 'no JSON', partition: 0 }],
    });
    await log.say({ node: 'c', process: 'q', offset: 2, ...word });
    expect((await log.positions()).map(({ node }) => node)).toEqual(['a', 'c']);
    const second = log.say({ node: 'c', process: 'another', offset: 2, ...word });
    await second.catch(() => undefined);
    const other = await open('poisoned');
    await expect(other.say({ node: 'c', process: 'r', offset: 2, ...word })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      field: 'node.name',
    });
    await Promise.all([log.close(), other.close()]);
  });

  it('refuses a topic of several partitions', async () => {
    await admin.createTopics({
      waitForLeaders: true,
      topics: [{ topic: 'wide.log', numPartitions: 2 }],
    });
    const log = await open('wide');
    await expect(log.bounds()).rejects.toMatchObject(REFUSED);
    await log.close();
  });

  it.each(['nowhere', 'a:b', ''])('refuses the address %j', async (brokers) => {
    await expect(KafkaLog.open({ brokers, name: 'x' })).rejects.toMatchObject(REFUSED);
  });
});

/** As docs/operate/security.md says. */
const RIGHTS: readonly KafkaRight[] = [
  { resource: 'topic', prefix: 'x.', operations: ['Read', 'Write', 'Create', 'Delete'] },
  { resource: 'group', prefix: 'x.', operations: ['Read', 'Delete'] },
];

describe.skipIf(missing.length > 0)('a broker that asks for a password', () => {
  it('refuses a wrong one, and serves a user with the documented rights', async () => {
    const tls = (name: string) => readFileSync(join('test', 'fixtures', 'tls', name));
    const broker = await startKafkaBroker({
      key: String(tls('server.key')),
      certificate: String(tls('server.pem')),
      user: 'tessera',
      password: 'a-password',
      rights: RIGHTS,
    });
    onTestFinished(() => broker.stop());
    const openWith = (password: string, name = 'x') => {
      const sasl = { mechanism: 'scram-sha-256', username: 'tessera', password } as const;
      const ca = { ca: tls('authority.pem'), cert: undefined, key: undefined };
      return KafkaLog.open({ brokers: broker.address, name, security: { sasl, tls: ca } });
    };
    const stranger = await openWith('guessed');
    await expect(stranger.bounds()).rejects.toMatchObject(REFUSED);
    const log = await openWith('a-password');
    expect(await log.begin('ours')).toBe('ours');
    const a = await log.append(bytes('a'), AFTER);
    const b = await log.append(bytes('b'), AFTER);
    expect((await takenToEnd(log, a)).map(textOf)).toEqual(['a', 'b']);
    await log.say({
      node: 'n',
      process: 'p',
      offset: b,
      digest: 'd',
      chain: '',
      erased: 0,
      needsSnapshot: false,
    });
    expect(await log.positions()).toHaveLength(1);
    await log.trim(b);
    expect(await log.bounds()).toMatchObject({ first: b });
    const other = await openWith('a-password', 'y');
    await expect(other.begin('ours')).rejects.toMatchObject(REFUSED);
    await Promise.all([stranger.close(), log.close(), other.close()]);
  });
});
