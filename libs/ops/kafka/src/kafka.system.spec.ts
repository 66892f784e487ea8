import { protoSchema } from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';
import {
  BatchServer,
  type BatchServerOptions,
  ensureTopics,
  kafkaClient,
  MessageCodec,
  PENDING_RECORDS_MAX,
  type RecordBatch,
  RecordProducer,
  readTopic,
  revived,
} from '@tessera/kafka';
import { createLog } from '@tessera/telemetry';
import { type KafkaBroker, startKafkaBroker } from '@tessera/testing';
import type { ConsumerConfig } from 'kafkajs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

const log = createLog('silent');
let broker: KafkaBroker;
beforeAll(async () => {
  broker = await startKafkaBroker();
  const kafka = await kafkaClient({ clientId: 'test-topics', brokers: [broker.address] }, log);
  await ensureTopics(kafka, ['a', 'b', 'c', 'd', 'e', 'f', 'f.dead', 'news'], {
    createPartitions: 2,
  });
});
afterAll(() => broker.stop());

interface Served {
  readonly server: BatchServer;
  /** Values in the order in which handlers were given them, batch by batch. */
  readonly seen: string[][];
  until(count: number): Promise<void>;
  /** With what the consumer was made. */
  readonly consumer: () => ConsumerConfig | undefined;
}

let served = 0;

/** Serves a topic of its own; `act` is the effect. */
async function serve(
  topic: string,
  groupId: string,
  act: (batch: RecordBatch) => Promise<void>,
  change: Partial<BatchServerOptions> = {},
): Promise<Served> {
  served += 1;
  const kafka = await kafkaClient({ clientId: `test-${served}`, brokers: [broker.address] }, log);
  const made = vi.spyOn(kafka, 'consumer');
  const seen: string[][] = [];
  let waiting: { count: number; done: () => void } | undefined;
  const server = new BatchServer(
    kafka,
    new RecordProducer(kafka),
    {
      groupId,
      node: 'one',
      topics: { [topic]: topic },
      batchRecordsMax: 4,
      partitionsAtOnce: 2,
      createPartitions: 2,
      outputTopics: [],
      onServing: () => undefined,
      ...change,
    },
    log,
  );
  server.addHandler(
    topic,
    async (batch: RecordBatch) => {
      await act(batch);
      seen.push(batch.records.map((record) => String(record.value)));
      if (waiting !== undefined && seen.flat().length >= waiting.count) waiting.done();
    },
    true,
  );
  server.listen(() => undefined);
  const until = (count: number) =>
    new Promise<void>((done) => {
      waiting = { count, done };
      if (seen.flat().length >= count) done();
    });
  return { server, seen, until, consumer: () => made.mock.calls[0]?.[0] };
}

async function producer(): Promise<RecordProducer> {
  return new RecordProducer(
    await kafkaClient({ clientId: 'test-producer', brokers: [broker.address] }, log),
  );
}

const messages = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => ({
    key: `k${(from + i) % 5}`,
    value: `${from + i}`,
  }));

describe('a topic that is served', () => {
  it('hands over every record, those of a key in order, and none again', async () => {
    const first = await serve('a', 'ga', async () => undefined);
    const sender = await producer();
    await sender.send('a', messages(0, 40));
    await first.until(40);
    await first.server.close();
    expect(first.seen.every((batch) => batch.length <= 4)).toBe(true);
    // New partitions are found so.
    expect(first.consumer()?.metadataMaxAge).toBeLessThanOrEqual(30_000);
    for (let key = 0; key < 5; key += 1) {
      const ofKey = first.seen
        .flat()
        .map(Number)
        .filter((value) => value % 5 === key);
      expect(ofKey).toEqual([...ofKey].sort((a, b) => a - b));
    }
    await sender.send('a', messages(40, 50));
    const second = await serve('a', 'ga', async () => undefined);
    await second.until(10);
    await second.server.close();
    expect(
      second.seen
        .flat()
        .map(Number)
        .sort((a, b) => a - b),
    ).toEqual(Array.from({ length: 10 }, (_, i) => 40 + i));
    await sender.close();
  });

  it('gives each record to one server, once and in order, as one joins and leaves', async () => {
    const order: number[] = [];
    const act = async ({ records }: RecordBatch) => {
      for (const { value } of records) order.push(Number(String(value)));
    };
    const first = await serve('e', 'ge', act);
    const sender = await producer();
    let sent = 0;
    const send = async () => {
      await sender.send('e', messages(sent, sent + 5));
      sent += 5;
    };
    while (first.seen.length === 0) await send();
    const second = await serve('e', 'ge', act);
    while (second.seen.length === 0) await send();
    await second.server.close();
    for (let more = 0; more < 10; more += 1) await send();
    await expect.poll(() => new Set(order).size, { timeout: 60_000 }).toBe(sent);
    await first.server.close();
    await sender.close();
    expect(order).toHaveLength(sent);
    for (let key = 0; key < 5; key += 1) {
      const ofKey = order.filter((value) => value % 5 === key);
      expect(ofKey).toEqual([...ofKey].sort((a, b) => a - b));
    }
  });

  it('gives every record to every store that is in no cluster', async () => {
    const all = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
    const seenBy = ({ seen }: Served) =>
      seen
        .flat()
        .map(Number)
        .sort((a, b) => a - b);
    const nothing = async () => undefined;
    const sender = await producer();
    await sender.send('news', messages(0, 20));
    const of = (node: string, folder: string) =>
      serve('news', 'gn', nothing, { node, folders: { news: folder } });
    const kept = await of('one', '/data/a');
    const fresh = await of('one', '/data/b');
    const elsewhere = await of('two', '/data/a');
    await Promise.all([kept.until(20), fresh.until(20), elsewhere.until(20)]);
    await kept.server.close();
    await sender.send('news', messages(20, 30));
    const again = await of('one', '/data/a');
    await Promise.all([again.until(10), fresh.until(30), elsewhere.until(30)]);
    for (const { server } of [again, fresh, elsewhere]) await server.close();
    await sender.close();
    expect(seenBy(kept)).toEqual(all(0, 20));
    expect(seenBy(again)).toEqual(all(20, 30));
    expect(seenBy(fresh)).toEqual(all(0, 30));
    expect(seenBy(elsewhere)).toEqual(all(0, 30));
  });

  it('calls a handler that rejects again with the same batch, and then goes on', async () => {
    let failures = 3;
    const topic = await serve('b', 'gb', async () => {
      if (failures > 0) {
        failures -= 1;
        throw new TesseraError('STORE_UNAVAILABLE', 'not now');
      }
    });
    const sender = await producer();
    await sender.send('b', messages(0, 8));
    await topic.until(8);
    expect(failures).toBe(0);
    expect(
      topic.seen
        .flat()
        .map(Number)
        .sort((a, b) => a - b),
    ).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    await topic.server.close();
    await sender.close();
  });

  it('says how many records are left, those of the batch under way among them', async () => {
    let open: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    let begin: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const sender = await producer();
    const one = { createPartitions: 1 };
    const kafka = await kafkaClient({ clientId: 'test-lag', brokers: [broker.address] }, log);
    await ensureTopics(kafka, ['lag'], one);
    await sender.send('lag', messages(0, 10));
    const hold = async () => {
      begin();
      await opened;
    };
    const topic = await serve('lag', 'glag', hold, one);
    expect(topic.server.lag()).toEqual([{ topic: 'lag', records: 0 }]);
    await begun;
    expect(topic.server.lag()).toEqual([{ topic: 'lag', records: 10 }]);
    open();
    await topic.until(10);
    await topic.server.close();
    expect(topic.server.lag()).toEqual([{ topic: 'lag', records: 0 }]);
    await sender.close();
  });

  it('loses nothing and goes on when the broker is killed and comes back', async () => {
    const topic = await serve('c', 'gc', async () => undefined);
    const sender = await producer();
    await sender.send('c', messages(0, 8));
    await topic.until(8);
    await broker.kill();
    await expect(sender.send('c', messages(8, 9))).rejects.toMatchObject({
      code: 'BROKER_UNAVAILABLE',
    });
    await broker.start();
    const again = await producer();
    await again.send('c', messages(100, 108));
    await expect
      .poll(() => new Set(topic.seen.flat().filter((value) => Number(value) >= 100)).size, {
        timeout: 60_000,
      })
      .toBe(8);
    await topic.server.close();
    await sender.close();
    await again.close();
  });

  it('buries a record with its reason, from where it can be brought back as it was', async () => {
    const sender = await producer();
    const topic = await serve('d', 'gd', async ({ records }) => {
      const dead = records.map((record) => ({
        record,
        error: new TesseraError('REQUEST_INVALID', 'value: expected tea, got coffee'),
      }));
      await sender.bury(dead);
    });
    const headers = { own: 'kept' };
    await sender.send('d', [{ key: 'k', value: 'coffee', headers }]);
    await topic.until(1);
    const letters: RecordBatch[] = [];
    const dead = await serve('d.dead', 'gdd', async (batch) => {
      letters.push(batch);
    });
    await dead.until(1);
    const letter = letters[0]?.records[0];
    expect(String(letter?.headers['tessera-reason'])).toBe('value: expected tea, got coffee');
    expect(String(letter?.headers['tessera-offset'])).toBe('0');
    expect(letter && revived(letter)).toEqual({
      topic: 'd',
      message: {
        key: Buffer.from('k'),
        value: Buffer.from('coffee'),
        headers: { own: Buffer.from('kept') },
      },
    });
    const read: string[] = [];
    const kafka = await kafkaClient({ clientId: 'test-reader', brokers: [broker.address] }, log);
    const readAll = () =>
      readTopic(kafka, 'd.dead', 'reader', async ({ value }) => {
        read.push(String(value));
      });
    expect(await readAll()).toBe(1);
    expect(await readAll()).toBe(0);
    expect(read).toEqual(['coffee']);
    await topic.server.close();
    await dead.server.close();
    await sender.close();
  });
});

describe('records on their way to a broker', () => {
  const KIBIBYTE = 1024;

  it('go in parts where they are too many at once', async () => {
    const sender = await producer();
    const value = Buffer.alloc(300 * KIBIBYTE, 'v');
    await sender.send(
      'f',
      Array.from({ length: 10 }, (_, i) => ({ key: 'k', value, headers: { i: String(i) } })),
    );
    const order: string[] = [];
    const kafka = await kafkaClient({ clientId: 'test-parts', brokers: [broker.address] }, log);
    await readTopic(kafka, 'f', 'parts', async ({ headers }) => {
      order.push(String(headers.i));
    });
    expect(order).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
    await sender.close();
  });

  it('are refused where one is larger than its topic takes', async () => {
    const sender = await producer();
    const value = Buffer.alloc(10 * KIBIBYTE * KIBIBYTE);
    await expect(sender.send('f', [{ value }])).rejects.toMatchObject({
      code: 'BODY_TOO_LARGE',
      retryable: false,
    });
    await sender.close();
  });

  it('are buried without what their grave has no room for', async () => {
    const sender = await producer();
    const value = Buffer.alloc(1024 * KIBIBYTE - 200);
    const record = { topic: 'f', partition: 1, offset: '7', key: Buffer.from('k'), value };
    const error = new TesseraError('REQUEST_INVALID', `value: ${'no '.repeat(200)}`);
    const small = { ...record, key: Buffer.from('s'), value: Buffer.from('small') };
    const rest = { headers: {}, timestampMs: 0 };
    await sender.bury([
      { record: { ...record, ...rest }, error },
      { record: { ...small, ...rest }, error },
    ]);
    const letters = new Map<string, RecordBatch['records'][number]>();
    const kafka = await kafkaClient({ clientId: 'test-graves', brokers: [broker.address] }, log);
    await readTopic(kafka, 'f.dead', 'graves', async (letter) => {
      letters.set(String(letter.key), letter);
    });
    const large = letters.get('k');
    expect(large?.value).toBeNull();
    expect(String(large?.headers['tessera-value-bytes'])).toBe(String(value.length));
    expect(String(large?.headers['tessera-offset'])).toBe('7');
    expect(large && revived(large)).toBeNull();
    expect(String(letters.get('s')?.value)).toBe('small');
    await sender.close();
  });

  it('are bounded while it is away: more are refused at once', async () => {
    const sender = await producer();
    await sender.send('f', messages(0, 1));
    await broker.kill();
    const half = messages(0, PENDING_RECORDS_MAX / 2);
    const waiting = [sender.send('f', half), sender.send('f', half)];
    await expect(sender.send('f', messages(0, 1))).rejects.toMatchObject({
      code: 'BROKER_UNAVAILABLE',
      message: expect.stringContaining(`expected at most ${PENDING_RECORDS_MAX}`),
    });
    for (const sent of waiting) {
      await expect(sent).rejects.toMatchObject({ code: 'BROKER_UNAVAILABLE', retryable: true });
    }
    await broker.start();
    await expect
      .poll(
        () =>
          sender.send('f', messages(0, 1)).then(
            () => true,
            () => false,
          ),
        {
          timeout: 60_000,
        },
      )
      .toBe(true);
    await sender.close();
  });
});

describe('a payload', () => {
  const codec = new MessageCodec<{ behaviour?: object }>(
    protoSchema,
    'tessera.behaviour.events.v1.BehaviourEvent',
  );
  const behaviour = {
    userId: 'u',
    eventId: 'e',
    itemId: 'ü',
    action: '',
    timeMs: 1_790_000_000_123,
    scene: { a: 'b' },
  };

  it('is read back as it was written, whole milliseconds and all', () => {
    expect(codec.decode(codec.encode({ behaviour }))).toEqual({ behaviour });
  });

  it.each([
    null,
    Buffer.alloc(0),
    Buffer.from('not protobuf'),
    codec.encode({ behaviour }).subarray(0, 9),
  ])('of other bytes (%#) is refused', (bytes) => {
    expect(() => codec.decode(bytes)).toThrow(
      expect.objectContaining({ code: 'REQUEST_INVALID', field: 'value' }),
    );
  });

  it('has nothing where a message is not there', () => {
    expect('behaviour' in codec.decode(Buffer.from('7801', 'hex'))).toBe(false);
  });

  it.each([
    [Buffer.concat([Buffer.from([0, 0, 0, 0, 42, 0]), codec.encode({ behaviour })]), 'schema 42)'],
    [Buffer.from([0, 0, 0, 0, 8, 2, 2, 4, 0x12, 0]), 'schema 8)'],
    [Buffer.concat([codec.encode({ behaviour }), Buffer.from([0, 1])]), 'field of number 0'],
    [Buffer.from([0x0a, 4, 0x0a, 0, 0, 0]), 'field of number 0'],
  ])('that begins with another format, or has field 0 (%#), is refused by name', (bytes, name) => {
    expect(() => codec.decode(bytes)).toThrow(
      expect.objectContaining({
        code: 'REQUEST_INVALID',
        field: 'value',
        message: expect.stringContaining(name),
      }),
    );
  });
});
