/** A broker and a Redis that are away: at the start, for a while, and back again. */
import { type RedisServer, startRedisServer } from '@tessera/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Program, Service } from './service.js';

const SERVING: Program = {
  main: 'dist/apps/standalone/src/main.js',
  printed: /OpenAPI\s+http/,
};

describe('a service whose broker and Redis are away at its start', () => {
  let redis: RedisServer;
  let service: Service;

  beforeAll(async () => {
    redis = await startRedisServer();
    await redis.kill();
    service = await Service.start(
      {
        TESSERA_BEHAVIOURS_STORE: 'redis',
        TESSERA_BEHAVIOURS_REDIS: redis.address,
        // Nothing listens on this port.
        TESSERA_KAFKA_BROKERS: '127.0.0.1:1',
        TESSERA_RECALL_WITHOUT_FEATURES: 'answer',
        TESSERA_LOG_LEVEL: 'silent',
      },
      [],
      SERVING,
    );
  });

  afterAll(async () => {
    await service.stop();
    await redis.stop();
  });

  it('is ready, names what is away, and answers recalls that need neither', async () => {
    expect((await fetch(`${service.httpUrl}/health`)).status).toBe(200);
    expect(await service.stateOf('kafka')).toBe('down');
    const { status, json } = await service.post({ history: ['1', '2', '3'] });
    expect([status, json.fallback]).toEqual([200, '']);
  });

  it('answers recalls by user without features where that is configured, and says so', async () => {
    for (let call = 0; call < 5; call++) {
      const { status, json } = await service.post({
        userId: 'ada',
        profile: { interest: 'games' },
      });
      expect([status, json.fallback, json.historyItems]).toEqual([200, 'no-features', 0]);
    }
    expect(await service.stateOf('redis')).toBe('down');
  });

  it('serves from Redis again once it is back', async () => {
    await redis.start();
    await expect
      .poll(async () => (await service.post({ userId: 'ada' })).json.fallback, { timeout: 60_000 })
      .toBe('no-history');
    expect(await service.stateOf('redis')).toBe('ok');
  });
});
