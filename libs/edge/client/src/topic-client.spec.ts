import { beforeEach, expect, it, vi } from 'vitest';
import { DEFAULT_TOPICS, TopicClient } from './topic-client.js';

/** A broker whose group is joined at once and whose first fetch is done when a test says so. */
const broker = vi.hoisted(() => ({ fetched: () => {}, isRunning: false }));

vi.mock('kafkajs', () => {
  const consumer = () => ({
    events: { FETCH: 'consumer.fetch' },
    connect: async () => undefined,
    subscribe: async () => undefined,
    on: (_event: string, act: () => void) => {
      broker.fetched = act;
    },
    run: async () => {
      broker.isRunning = true;
    },
  });
  const producer = () => ({ connect: async () => undefined });
  class Kafka {
    readonly consumer = consumer;
    readonly producer = producer;
  }
  return { default: { Kafka, logLevel: {}, CompressionCodecs: {}, CompressionTypes: {} } };
});

beforeEach(() => {
  broker.isRunning = false;
});

it('is open only when its first fetch has found where the newest response lies', async () => {
  let isOpen = false;
  const opening = TopicClient.open({ brokers: ['127.0.0.1:1'], ...DEFAULT_TOPICS }).then(() => {
    isOpen = true;
  });
  await vi.waitUntil(() => broker.isRunning);
  // More turns than the rest of open() takes where it does not wait for the fetch.
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
  expect(isOpen).toBe(false);
  broker.fetched();
  await opening;
  expect(isOpen).toBe(true);
});
