import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KvPoolOptions } from '@tessera/engine';
import { LEVELS, type ModelShape } from '../../models/model-shape.js';
import { type Measurement, quantile } from '../../result.js';
import { BenchEngine, withEngine } from '../engine/bench-engine.js';
import {
  floorSeconds,
  headWork,
  kvNumbersPerPosition,
  type NumberFormat,
  prefillWork,
  stateNumbers,
  stepWork,
  type Work,
} from '../engine/floor.js';
import type { Machine } from '../engine/machine.js';

const COMPUTE_TYPE = 'bf16';
const WIDTH = 32;
/** Behaviours since the last visit, and what is different at every visit. */
const NEW_TOKENS = 8;
const SCENE_TOKENS = 8;
/** Tokens of a visit that no pool has. */
export const FRESH_TOKENS = NEW_TOKENS + SCENE_TOKENS;
const BLOCK_TOKENS = 32;
/** Beams with which blocks of 8 bits are judged, and how many of the best items are compared. */
const LOSS_WIDTH = 64;
const BEST = 50;
/** Of the speed-up that bytes and operations allow. */
const DEVICE_BAR = 0.8;
/** Of the time that a load takes when nothing hides it. */
const EXPOSED_BAR = 0.05;
const DECODE_PASSES = LEVELS - 1;
/** Users who fill the device between two visits. */
const STRANGERS = [0, 1, 2];

/** Where the history of a user who comes back lies. */
const PLACES = ['nowhere', 'device', 'host', 'disk', 'disk in int8'] as const;
type Place = (typeof PLACES)[number];

/** Users of one place, and the engine that they come back to. */
export interface PlaceOptions {
  readonly shape: ModelShape;
  readonly histories: readonly number[];
  readonly users: number;
  readonly open: (kv: KvPoolOptions) => Promise<BenchEngine>;
}

export interface ReturningOptions {
  readonly shape: ModelShape;
  readonly machine: Machine;
  readonly histories: readonly number[];
  readonly users: number;
  readonly say: (line: string) => void;
}

export interface Visit {
  readonly milliseconds: number;
  readonly computedTokens: number;
  readonly waitMs: number;
}

/** Users who come back with a little more history, by where what they left lies. */
export async function returningUsers(options: ReturningOptions): Promise<Measurement[]> {
  const visits = new Map<string, readonly Visit[]>();
  let format: NumberFormat | undefined;
  const exposed: Measurement[] = [];
  // A state is kept exactly.
  const places = PLACES.filter((place) => !(options.shape.delta && place === 'disk in int8'));
  const { shape, machine, say } = options;
  const open = (kv: KvPoolOptions) =>
    BenchEngine.open(shape, COMPUTE_TYPE, { threadCount: machine.threads, kv }, say);
  for (const place of places) {
    await inPlace(place, { ...options, open }, async (engine) => {
      format = engine.format;
      for (const history of options.histories) {
        options.say(`${options.shape.name}: ${history} tokens of history, ${place}`);
        visits.set(`${place} ${history}`, await comeBack(engine, place, history, options.users));
      }
      if (place === 'disk') exposed.push(...(await exposedWait(engine, options)));
      if (place === 'disk in int8') exposed.push(...(await lossOf(engine, options)));
    });
  }
  return [
    ...options.histories.flatMap((history) =>
      places.flatMap((place) => rows(options, place, history, visits, format as NumberFormat)),
    ),
    ...exposed,
  ];
}

/** An engine whose tiers put what it keeps where it is wanted. */
export async function inPlace(
  place: Place,
  { shape, histories, users, open }: PlaceOptions,
  measure: (engine: BenchEngine) => Promise<void>,
): Promise<void> {
  const path = mkdtempSync(join(tmpdir(), 'tessera-bench-kv-'));
  const blockBytes = BLOCK_TOKENS * kvNumbersPerPosition(shape) * 2;
  const longest = Math.max(...histories) + NEW_TOKENS + SCENE_TOKENS;
  const promptBytes = (Math.ceil(longest / BLOCK_TOKENS) + 2) * blockBytes + stateBytes(shape);
  const allBytes = (users + 2 + STRANGERS.length) * histories.length * promptBytes;
  const isOnDisk = place.startsWith('disk');
  const isBelow = place === 'host' || isOnDisk;
  const kv: KvPoolOptions = {
    pool: 'on',
    deviceBytes: isBelow ? 2 * promptBytes : allBytes,
    hostBytes: place === 'host' ? allBytes : 0,
    diskBytes: isOnDisk ? allBytes : 0,
    path,
    blockCodec: place === 'disk in int8' ? 'int8' : 'exact',
    versionsBackMax: 0,
    readThreads: 2,
    storeQueueMax: 1024,
    prefetchQueueMax: 256,
  };
  try {
    await withEngine(open(kv), measure);
  } finally {
    rmSync(path, { recursive: true });
  }
}

/** Room for a kept state: the matrices, and the last tokens and inputs beside them. */
function stateBytes(shape: ModelShape): number {
  return 1.5 * stateNumbers(shape) * Float32Array.BYTES_PER_ELEMENT;
}

function promptOf(engine: BenchEngine, history: number, user: number): Int32Array {
  return engine.prompt(history + NEW_TOKENS + SCENE_TOKENS, 9000 + history + 100_000 * user);
}

const useOf = (userId: string, keepTokens: number) => ({ userId, prefixTokens: 0, keepTokens });

/** Leaves the users' histories, then measures their next visits, the oldest first. */
export async function comeBack(
  engine: BenchEngine,
  place: Place,
  history: number,
  users: number,
  width = WIDTH,
): Promise<readonly Visit[]> {
  const names = Array.from({ length: users }, (_, user) => `${place} ${history} ${user}`);
  await engine.recall({ tokens: engine.prompt(64, 1), width });
  if (place !== 'nowhere') {
    for (const [user, name] of names.entries()) {
      const tokens = promptOf(engine, history, user).subarray(0, history + 1);
      await engine.append(tokens, useOf(name, history));
      if (place !== 'device') await stored(engine, name);
    }
  }
  if (place !== 'device' && place !== 'nowhere') await displaced(engine, history);
  const visits: Visit[] = [];
  for (const [user, name] of names.entries()) {
    const prefetch = engine.prefetch(name);
    const kv = { ...useOf(name, history + NEW_TOKENS), prefetch };
    const tokens = promptOf(engine, history, user);
    const begun = performance.now();
    const answer = await engine.recall({ tokens, width, kv });
    const milliseconds = performance.now() - begun;
    const { deviceTokens, hostTokens, diskTokens, waitUs } = answer.kv;
    const computedTokens = tokens.length - deviceTokens - hostTokens - diskTokens;
    visits.push({ milliseconds, computedTokens, waitMs: waitUs / 1000 });
  }
  return visits;
}

/** The savings of blocks of 8 bits, and the distance of their answers from exact ones. */
async function lossOf(
  engine: BenchEngine,
  { shape, histories, users }: ReturningOptions,
): Promise<Measurement[]> {
  const { blockBytes, storedBlockBytes } = engine.kvPool.metrics();
  const measurements: Measurement[] = [
    {
      name: `${shape.name} bf16, on disk in int8: stored per token`,
      value: storedBlockBytes / BLOCK_TOKENS,
      unit: 'bytes',
      ratio: { value: storedBlockBytes / blockBytes, to: 'exact' },
      bar: null,
    },
  ];
  for (const history of histories) {
    const shared: number[] = [];
    const moved: number[] = [];
    for (let user = 0; user < users; user += 1) {
      const name = `disk in int8 ${history} ${user}`;
      const ask = { tokens: promptOf(engine, history, user), width: LOSS_WIDTH };
      const prefetch = engine.prefetch(name);
      await broughtUp(engine, name);
      const kv = { ...useOf(name, history), prefetch };
      const lossy = await engine.recall({ ...ask, kv });
      if (!lossy.kv.lossy) throw new Error(`${name}: expected an answer that is lossy`);
      const exact = await engine.recall(ask);
      const scores = new Map(exact.items.slice(0, BEST).map((item) => [item.itemId, item.score]));
      const both = lossy.items.slice(0, BEST).filter((item) => scores.has(item.itemId));
      shared.push(both.length / scores.size);
      moved.push(...both.map(({ itemId, score }) => Math.abs(score - Number(scores.get(itemId)))));
    }
    const name = `${shape.name} bf16, ${history} tokens on disk in int8`;
    const mean = shared.reduce((sum, share) => sum + share, 0) / shared.length;
    measurements.push(
      { name: `${name}: of the best ${BEST} also exact`, value: mean, unit: 'share', bar: null },
      { name: `${name}: largest change`, value: Math.max(...moved), unit: 'nats', bar: null },
    );
  }
  return measurements;
}

/** Until the device has all of the user. */
async function broughtUp(engine: BenchEngine, userId: string): Promise<void> {
  for (;;) {
    const [chain] = engine.kvPool.inspect(userId);
    if (chain === undefined) throw new Error(`${userId}: expected to be kept, got nothing`);
    if (chain.deviceTokens === chain.tokens) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Until a lower tier has all of the user: the next one would push out what only the device has. */
async function stored(engine: BenchEngine, userId: string): Promise<void> {
  for (;;) {
    const chains = engine.kvPool.inspect(userId);
    if (chains.length === 0) throw new Error(`${userId}: expected to be kept, got nothing`);
    const isStored = chains.every(
      (chain) => Math.max(chain.hostTokens, chain.durableTokens) === chain.tokens,
    );
    if (isStored) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Strangers who fill the device. */
async function displaced(engine: BenchEngine, history: number): Promise<void> {
  for (const stranger of STRANGERS) {
    const tokens = engine.prompt(history + 1, 77_000 + history + stranger);
    const name = `stranger ${history} ${stranger}`;
    await engine.append(tokens, useOf(name, history));
    await stored(engine, name);
  }
}

/** The part of a load that a request waits for when its features take longer than the load. */
async function exposedWait(
  engine: BenchEngine,
  { shape, histories, users }: ReturningOptions,
): Promise<Measurement[]> {
  const history = histories[Math.min(1, histories.length - 1)] as number;
  const alone = await comeBack(engine, 'disk', history, users);
  const loadMs = quantile(
    alone.map((visit) => visit.waitMs),
    0.5,
  );
  await displaced(engine, history);
  const waits: number[] = [];
  for (let user = 0; user < users; user += 1) {
    const name = `disk ${history} ${user}`;
    const prefetch = engine.prefetch(name);
    await new Promise((resolve) => setTimeout(resolve, 3 * loadMs + 5));
    const kv = { ...useOf(name, history + NEW_TOKENS), prefetch };
    const answer = await engine.recall({
      tokens: promptOf(engine, history, user),
      width: WIDTH,
      kv,
    });
    waits.push(answer.kv.waitUs / 1000);
  }
  const exposedMs = quantile(waits, 0.5);
  const name = `${shape.name}, ${history} tokens on disk`;
  const wait = { name: `${name}: wait for a load that nothing hides`, value: loadMs, unit: 'ms' };
  return [
    { ...wait, bar: null },
    {
      name: `${name}, features slower than the load: wait`,
      value: exposedMs,
      unit: 'ms',
      ...(loadMs > 0 ? { ratio: { value: exposedMs / loadMs, to: 'load' } } : {}),
      bar: loadMs > 0 ? EXPOSED_BAR : null,
      bound: 'at-most',
    },
  ];
}

function rows(
  { shape, machine }: ReturningOptions,
  place: Place,
  history: number,
  visits: ReadonlyMap<string, readonly Visit[]>,
  format: NumberFormat,
): Measurement[] {
  const own = visits.get(`${place} ${history}`) ?? [];
  const nowhere = visits.get(`nowhere ${history}`) ?? [];
  const median = (of: readonly Visit[], name: keyof Visit) =>
    quantile(
      of.map((visit) => visit[name]),
      0.5,
    );
  const name = `${shape.name} bf16, ${history} tokens of history ${place}, ${NEW_TOKENS} new`;
  const time = median(own, 'milliseconds');
  const rowsOfPlace: Measurement[] = [
    { name: `${name}: recall`, value: time, unit: 'ms', bar: null },
    { name: `${name}: computed`, value: median(own, 'computedTokens'), unit: 'tokens', bar: null },
  ];
  if (place === 'nowhere') return rowsOfPlace;
  const speedUp = median(nowhere, 'milliseconds') / time;
  const peaks = machine.peaks(COMPUTE_TYPE);
  const floor = (from: number) => floorOf(shape, history, from, format, peaks);
  const allowed = floor(0) / floor(history);
  rowsOfPlace.push({
    name: `${name}: speed-up over computing`,
    value: speedUp,
    unit: 'x',
    ratio: { value: speedUp / allowed, to: 'allowed' },
    bar: place === 'device' ? DEVICE_BAR : null,
  });
  return rowsOfPlace;
}

/** Seconds of a recall whose first `from` tokens are there. */
function floorOf(
  shape: ModelShape,
  history: number,
  from: number,
  format: NumberFormat,
  peaks: ReturnType<Machine['peaks']>,
): number {
  const promptTokens = history + NEW_TOKENS + SCENE_TOKENS;
  const all = prefillWork(shape, promptTokens, format);
  const done = prefillWork(shape, from, format);
  const prefill: Work = {
    operations: all.operations - done.operations,
    attentionOperations: all.attentionOperations - done.attentionOperations,
    bytes: all.bytes,
  };
  const step = stepWork(shape, { users: 1, width: WIDTH, promptTokens }, format);
  const heads = [1, ...Array<number>(DECODE_PASSES).fill(WIDTH)].map((count) =>
    floorSeconds(headWork(shape, { rows: count, isFull: true }, format), peaks),
  );
  return (
    floorSeconds(prefill, peaks) +
    DECODE_PASSES * floorSeconds(step, peaks) +
    heads.reduce((sum, seconds) => sum + seconds, 0)
  );
}
