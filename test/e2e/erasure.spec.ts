/**
 * Erasures that race with recalls, in the built service: after an acknowledged one nothing of the
 * user's history is left on any tier or in any record, also after kill -9.
 * `LONG_ERASURES` says how many (npm run test:long).
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TesseraClient } from '../../libs/edge/client/src/index.js';
import { temporaryFolder } from '../../libs/testing/src/index.js';
import { SMALL, writeRandomModel } from './random-model.js';
import { type Program, Service } from './service.js';

const ERASURES = Number(process.env.LONG_ERASURES ?? '100');
const SEED = 20_261_122;
/** Of the whole test, with a race in each: a busy machine is slow, not wrong. */
const TEST_MS = 120_000 + ERASURES * 300;
const BUDGET_MS = 60_000;
/** Users whose races run at the same time. */
const TOGETHER = 10;
/** Turns of the event loop between a recall and the erasure at most. */
const TURNS_MAX = 40;

const SERVING: Program = {
  main: 'dist/apps/standalone/src/main.js',
  printed: /OpenAPI\s+http/,
};

const folder = temporaryFolder({});
const variables = {
  TESSERA_MODEL_PATH: join(folder.path, 'model'),
  TESSERA_CATALOGUE_CACHE_PATH: join(folder.path, 'cache'),
  TESSERA_BEHAVIOURS_STORE: 'embedded',
  TESSERA_BEHAVIOURS_PATH: join(folder.path, 'behaviours'),
  TESSERA_KV_DISK_BYTES: String(2 ** 28),
  TESSERA_KV_PATH: join(folder.path, 'kv'),
  TESSERA_INSPECTION_PATH: join(folder.path, 'inspection'),
  TESSERA_INSPECTION_PERCENT: '100',
};

const users = Array.from({ length: ERASURES }, (_, user) => `user ${user}`);
let service: Service;
let client: TesseraClient;
let state = SEED;

function below(count: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return state % count;
}

beforeAll(async () => {
  const model = writeRandomModel(join(folder.path, 'model'), SMALL);
  const behaviours = (user: number) =>
    Array.from({ length: 20 }, (_, time) => ({
      item_id: String((user * 31 + time * 7) % 200),
      time,
    }));
  const known = Object.fromEntries(
    users.map((userId, user) => [userId, { behaviours: behaviours(user) }]),
  );
  writeFileSync(join(model, 'users.json'), JSON.stringify(known));
  service = await Service.start(variables);
  client = new TesseraClient(service.grpcAddress);
});

afterAll(async () => {
  client?.close();
  await service?.stop();
  folder.remove();
});

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
}

async function left(userId: string): Promise<object> {
  const { json } = await service.post({ userId }, undefined, '/v1/kv/inspect');
  const query = new URLSearchParams({ userId, code: 'OK' });
  const reply = await fetch(`${service.httpUrl}/console/api/recalls?${query}`);
  const { recalls } = (await reply.json()) as { recalls: readonly unknown[] };
  return { chains: json.chains, records: recalls.length };
}

const NOTHING = { chains: [], records: 0 };

it(
  `leaves nothing of ${ERASURES} users behind, seed ${SEED}`,
  async () => {
    const outcomes: Record<string, number> = {};
    const race = async (userId: string) => {
      const recalls = Array.from({ length: 1 + below(3) }, async () => {
        await turns(below(TURNS_MAX));
        // One that begins after the erasure would be answered, and recorded, as a new user's.
        return service.post({ userId, resultCount: 5, requireHistory: true });
      });
      await turns(below(TURNS_MAX));
      expect(await client.erase(userId, BUDGET_MS)).toMatchObject({ known: true });
      // Acknowledged: whatever began before, and is still under way, keeps nothing.
      for (const { status, json } of await Promise.all(recalls)) {
        const code = status === 200 ? 'OK' : (json.error as { code: string }).code;
        outcomes[code] = (outcomes[code] ?? 0) + 1;
      }
      expect(await left(userId), userId).toEqual(NOTHING);
    };
    for (let first = 0; first < users.length; first += TOGETHER) {
      await Promise.all(users.slice(first, first + TOGETHER).map(race));
    }
    // How the recalls ended depends on the machine; some were answered before the erasure.
    expect(outcomes.OK, JSON.stringify(outcomes)).toBeGreaterThan(0);
    service.child.kill('SIGKILL');
    await service.ended;
    // No user is left whose recall it could print.
    service = await Service.start(variables, [], SERVING);
    for (const userId of users) expect(await left(userId), userId).toEqual(NOTHING);
  },
  TEST_MS,
);
