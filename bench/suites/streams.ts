import {
  type BehaviourEvent,
  type BehaviourLog,
  EmbeddedBehaviourLog,
  parseRetention,
  RedisBehaviourLog,
} from '@tessera/behaviour';
import { missingFor, startRedisServer, temporaryFolder } from '@tessera/testing';
import type { Measurement } from '../result.js';
import type { SuiteContext } from './suite.js';

const STORES = ['embedded', 'redis'] as const;
const USERS = 1000;
const EVENTS_PER_CALL = 64;
/** As many as the service takes of six partitions at a time. */
const CALLS_AT_ONCE = 6;

/** Behaviours that each store takes, every one on its disk before it is acknowledged. */
export async function streamsSuite({ quick, say }: SuiteContext): Promise<Measurement[]> {
  const missing = missingFor(['redis']);
  if (missing.length > 0) {
    throw new Error(
      `expected what starts them, got no ${missing.join(', no ')}: ` +
        'npm run bootstrap -- --test gets it',
    );
  }
  const count = quick ? 10_000 : 200_000;
  const measurements: Measurement[] = [];
  for (const store of STORES) {
    const folder = temporaryFolder({});
    const redis = await startRedisServer();
    try {
      say(`${store}: ${count} behaviours by appends of ${EVENTS_PER_CALL}`);
      const log = await openLog(store, folder.path, redis.address);
      const value = await appended(log, count);
      await log.close();
      measurements.push({ name: `${store}, by append`, value, unit: 'behaviours/s', bar: null });
    } finally {
      await redis.stop();
      folder.remove();
    }
  }
  return measurements;
}

function openLog(
  store: (typeof STORES)[number],
  path: string,
  redis: string,
): Promise<BehaviourLog> {
  const retention = parseRetention('*=10000');
  return store === 'redis'
    ? RedisBehaviourLog.open({ address: redis, keyPrefix: 'd:', retention, nowMs: Date.now })
    : EmbeddedBehaviourLog.open({ path, retention, nowMs: Date.now });
}

function eventAt(at: number, startMs: number): BehaviourEvent {
  return {
    userId: `user ${(at * 7919) % USERS}`,
    eventId: `${startMs}/${at}`,
    itemId: String(at % 700),
    action: 'click',
    timeMs: startMs + at,
    scene: { page: 'home' },
  };
}

/** Times lie in the past: no clock is ahead. */
function batches(count: number): BehaviourEvent[][] {
  const startMs = Date.now() - 2 * count;
  return Array.from({ length: Math.ceil(count / EVENTS_PER_CALL) }, (_, batch) =>
    Array.from({ length: EVENTS_PER_CALL }, (_, i) =>
      eventAt(batch * EVENTS_PER_CALL + i, startMs),
    ),
  );
}

async function appended(log: BehaviourLog, count: number): Promise<number> {
  const left = batches(count);
  const events = left.length * EVENTS_PER_CALL;
  const started = performance.now();
  const work = async () => {
    for (let batch = left.pop(); batch !== undefined; batch = left.pop()) await log.append(batch);
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, work));
  return (1000 * events) / (performance.now() - started);
}
