import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { DEEP, writeRandomModel } from '../../../test/e2e/random-model.js';
import { Service } from '../../../test/e2e/service.js';
import { type Measurement, quantile } from '../../result.js';
import type { SuiteContext } from '../suite.js';

/** Statements that each take all that they may have: time, memory, memory again, disk. */
const HOSTILE = [
  'SELECT count(*) FROM range(10000000) a, range(10000000) b',
  "SELECT rpad('x', 1500000000, 'y') IS NULL",
  "SELECT length(repeat('ab', 2000000000))",
  "SELECT * FROM range(30000000) t(x) ORDER BY hash(x), repeat('x', 40)",
] as const;
const CHECKERS = 8;
/** Milliseconds before somebody who was refused asks again. */
const AGAIN_MS = 50;
const USERS = 400;
const BEHAVIOURS = 40;
const ROUNDS = 3;
const RATIO_BAR = 1.2;

/** The effect of analysts and operators on recalls: none that is felt. */
export async function hostileQueries(
  { quick, say }: SuiteContext,
  folder: string,
): Promise<Measurement[]> {
  const service = await started(folder);
  try {
    const windowMs = quick ? 8000 : 30_000;
    say(
      `recalls by user without and with ${HOSTILE.length} hostile queries and ${CHECKERS} checks`,
    );
    for (let user = 0; user < USERS; user++) await recalled(service, user);
    const without: number[] = [];
    const beside: number[] = [];
    const counts = { queries: 0, checks: 0 };
    // In turns: what else the machine does falls on both.
    for (let round = 0; round < ROUNDS; round++) {
      without.push(...(await timesOf(service, windowMs)));
      const end = new AbortController();
      const others = disturb(service, end.signal, counts);
      beside.push(...(await timesOf(service, windowMs)));
      end.abort();
      await others;
    }
    const [alone, disturbed] = [quantile(without, 0.99), quantile(beside, 0.99)];
    const ratio = { value: disturbed / alone, to: 'without' };
    const name = 'recall by user, beside hostile queries and integrity checks, p99';
    return [
      { name: 'recall by user, p99', value: alone, unit: 'ms', bar: null },
      { name, value: disturbed, unit: 'ms', ratio, bar: RATIO_BAR, bound: 'at-most' },
      {
        name: 'the same, median',
        value: quantile(beside, 0.5),
        unit: 'ms',
        ratio: { value: quantile(beside, 0.5) / quantile(without, 0.5), to: 'without' },
        bar: null,
      },
      { name: 'queries that ended meanwhile', value: counts.queries, unit: '', bar: null },
      { name: 'integrity checks meanwhile', value: counts.checks, unit: '', bar: null },
    ];
  } finally {
    await service.stop();
  }
}

async function started(folder: string): Promise<Service> {
  mkdirSync(folder, { recursive: true });
  const modelPath = writeRandomModel(join(folder, 'model'), DEEP);
  const behaviours = (user: number) =>
    Array.from({ length: BEHAVIOURS }, (_, time) => ({
      item_id: String((user * 31 + time * 7) % 200),
      time,
    }));
  const users = Array.from({ length: USERS }, (_, user) => [
    `user ${user}`,
    { behaviours: behaviours(user) },
  ]);
  const usersPath = join(folder, 'users.json');
  writeFileSync(usersPath, JSON.stringify(Object.fromEntries(users)));
  return Service.start({
    TESSERA_MODEL_PATH: modelPath,
    TESSERA_CATALOGUE_PATH: join(modelPath, 'catalogue.jsonl'),
    TESSERA_CATALOGUE_TITLES_PATH: '',
    TESSERA_CATALOGUE_CACHE_PATH: join(folder, 'cache'),
    TESSERA_USERS_PATH: usersPath,
    TESSERA_BEHAVIOURS_STORE: 'embedded',
    TESSERA_BEHAVIOURS_PATH: join(folder, 'behaviours'),
    TESSERA_KV_PATH: join(folder, 'kv'),
    TESSERA_KV_DISK_BYTES: String(2 ** 28),
    TESSERA_INSPECTION_PATH: join(folder, 'inspection'),
  });
}

async function recalled(service: Service, user: number): Promise<void> {
  const { status, json } = await service.post({ userId: `user ${user}`, resultCount: 10 });
  if (status !== 200) throw new Error(`expected a recall, got ${JSON.stringify(json)}`);
}

/** Milliseconds of recalls by one caller, one after the other. */
async function timesOf(service: Service, windowMs: number): Promise<number[]> {
  const end = performance.now() + windowMs;
  const times: number[] = [];
  for (let i = 0; performance.now() < end; i++) {
    const began = performance.now();
    await recalled(service, (i * 7) % USERS);
    times.push(performance.now() - began);
  }
  return times;
}

/** Until the signal is aborted: each asks again as soon as it is answered. */
async function disturb(
  service: Service,
  signal: AbortSignal,
  counts: { queries: number; checks: number },
): Promise<void> {
  const again = async (body: object, path: string, count: () => void) => {
    while (!signal.aborted) {
      const reply = await posted(service, path, body, signal);
      if (reply === 429) await pause(AGAIN_MS);
      else if (reply !== 0) count();
    }
  };
  const queries = HOSTILE.map((sql) =>
    again({ sql }, '/console/api/sql', () => {
      counts.queries += 1;
    }),
  );
  const checks = Array.from({ length: CHECKERS }, () =>
    again({}, '/v1/kv/check-integrity', () => {
      counts.checks += 1;
    }),
  );
  await Promise.all([...queries, ...checks]);
}

/** Its status; 0 where the caller has gone. */
async function posted(
  { httpUrl }: Service,
  path: string,
  body: object,
  signal: AbortSignal,
): Promise<number> {
  try {
    const headers = { 'content-type': 'application/json', 'x-tessera-console': '1' };
    const text = JSON.stringify(body);
    const reply = await fetch(httpUrl + path, { method: 'POST', headers, body: text, signal });
    await reply.arrayBuffer();
    return reply.status;
  } catch (thrown) {
    if (signal.aborted) return 0;
    throw thrown;
  }
}
