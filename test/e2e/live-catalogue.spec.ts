/**
 * Recalls under way while items change by the terminal's command, by streams and by a batch of
 * several messages: every answer has exactly the items that are live and eligible in the version it
 * names, and an acknowledged change is in the answer of the next recall.
 */

import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ServiceClient, TesseraClient } from '@tessera/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { temporaryFolder } from '../../libs/testing/src/index.js';
import { CatalogueClient } from '../../tools/served/catalogue-client.js';
import { RecallClient } from '../integration/recall-client.js';
import { SMALL, writeRandomModel } from './random-model.js';
import { Service } from './service.js';

const CALL_MS = 60_000;
const READERS = 3;
const STREAM_BATCHES = 60;
const CODES_PER_LEVEL = 8;
/** As wide as the catalogue has paths: a search finds whatever may be found. */
const EVERYTHING = { resultCount: 1000, widths: [512], itemsPerSid: 1000 };
const SALE = { predicate: { in: { attribute: 'sale', values: ['yes'] } } };

interface Item {
  readonly sid: readonly number[];
  isPaused: boolean;
  readonly isOnSale: boolean;
}
type Change =
  | { readonly pauseItemId: string }
  | { readonly resumeItemId: string }
  | { readonly removeItemId: string }
  | { readonly upsert: { itemId: string; sid: number[]; attributes: string } };
interface Listed {
  readonly itemId: string;
}
interface Applied {
  readonly sequence: number;
  readonly changes: readonly Change[];
}
interface Answer {
  readonly sequence: number;
  readonly isOnSale: boolean;
  readonly items: readonly string[];
}

const folder = temporaryFolder({});
const applied: Applied[] = [];
let service: Service;
let recalls: RecallClient;
let catalogue: CatalogueClient;
let items: Map<string, Item>;

beforeAll(async () => {
  const model = writeRandomModel(join(folder.path, 'model'), SMALL);
  items = new Map(
    readFileSync(join(model, 'catalogue.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { item_id: string; sid: number[] })
      .map(({ item_id, sid }) => [item_id, { sid, isPaused: false, isOnSale: false }]),
  );
  service = await Service.start({
    TESSERA_MODEL_PATH: model,
    TESSERA_CATALOGUE_CACHE_PATH: join(folder.path, 'cache'),
    TESSERA_CATALOGUE_CHANGES_PATH: join(folder.path, 'changes'),
    TESSERA_CATALOGUE_CODEBOOKS_PATH: 'test/fixtures/sids',
    TESSERA_BEHAVIOURS_STORE: 'embedded',
    TESSERA_BEHAVIOURS_PATH: join(folder.path, 'behaviours'),
  });
  recalls = new RecallClient(service.grpcAddress);
  catalogue = new CatalogueClient(service.grpcAddress);
  // An attribute must be known before a predicate may ask for it.
  await batchOf([upsert('first-of-a-kind', [0, 0, 0], true)]);
});

afterAll(async () => {
  recalls?.close();
  catalogue?.close();
  await service?.stop();
  folder.remove();
});

function upsert(itemId: string, sid: number[], isOnSale: boolean): Change {
  return { upsert: { itemId, sid, attributes: JSON.stringify({ sale: isOnSale ? 'yes' : 'no' }) } };
}

async function batchOf(...messages: Change[][]): Promise<number> {
  const last = messages.length - 1;
  const sent = messages.map((changes, i) => ({ changes, last: i === last }));
  const { sequence } = await catalogue.send<{ sequence: number }>('ApplyBatch', sent, CALL_MS);
  applied.push({ sequence, changes: messages.flat() });
  return sequence;
}

/** `npm run catalogue -- ...` against the service. */
async function command(changes: readonly Change[], ...words: string[]): Promise<number> {
  const all = ['dist/tools/catalogue.js', ...words, '--address', service.grpcAddress, '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, all);
  const { sequence } = JSON.parse(stdout) as { sequence: number };
  applied.push({ sequence, changes });
  return sequence;
}

/** Pauses and resumes items of its own, and adds others, batch after batch. */
async function stream(name: string, paused: readonly string[]): Promise<void> {
  const stub = new ServiceClient('tessera.catalogue.v1.CatalogueService', service.grpcAddress);
  const call = stub.converse('ApplyStream');
  const answers = call[Symbol.asyncIterator]() as AsyncIterator<{ sequence: number }>;
  for (let i = 0; i < STREAM_BATCHES; i += 1) {
    const itemId = paused[i % paused.length] as string;
    const isResumed = Math.floor(i / paused.length) % 2 === 1;
    const sid = [i, i * 3 + name.length, i * 5].map((code) => code % CODES_PER_LEVEL);
    const changes = [
      isResumed ? { resumeItemId: itemId } : { pauseItemId: itemId },
      upsert(`${name}-${i % 20}`, sid, i % 3 === 0),
    ];
    call.write({ changes });
    const { value } = await answers.next();
    applied.push({ sequence: value.sequence, changes });
  }
  call.end();
  stub.close();
}

async function recall(isOnSale: boolean): Promise<Answer> {
  const eligibility = isOnSale ? { eligibility: SALE } : {};
  const { status, details, answer } = await recalls.recall({
    userId: '1',
    ...EVERYTHING,
    ...eligibility,
  });
  expect(status, details).toBe(0);
  const { versions, items: found } = answer as {
    versions: { catalogueSequence: number };
    items: { itemId: string }[];
  };
  const ids = found.map(({ itemId }) => itemId).sort();
  return { sequence: versions.catalogueSequence, isOnSale, items: ids };
}

function apply(model: Map<string, Item>, change: Change): void {
  if ('upsert' in change) {
    const { itemId, sid, attributes } = change.upsert;
    const isPaused = model.get(itemId)?.isPaused ?? false;
    model.set(itemId, { sid, isPaused, isOnSale: JSON.parse(attributes).sale === 'yes' });
  } else if ('removeItemId' in change) {
    model.delete(change.removeItemId);
  } else {
    const isPaused = 'pauseItemId' in change;
    const item = model.get(isPaused ? change.pauseItemId : change.resumeItemId);
    if (item !== undefined) item.isPaused = isPaused;
  }
}

/** Every answer against the items of its version, made from what was acknowledged up to it. */
function checkAnswers(answers: readonly Answer[]): void {
  const batches = [...applied].sort((a, b) => a.sequence - b.sequence);
  let sequence = 0;
  for (const answer of [...answers].sort((a, b) => a.sequence - b.sequence)) {
    while (batches[0] !== undefined && batches[0].sequence <= answer.sequence) {
      const { changes, sequence: last } = batches.shift() as Applied;
      sequence += changes.length;
      expect(last).toBe(sequence);
      for (const change of changes) apply(items, change);
    }
    expect(answer.sequence).toBe(sequence);
    const wanted = [...items].filter(
      ([, item]) => !item.isPaused && (!answer.isOnSale || item.isOnSale),
    );
    expect(answer.items).toEqual(wanted.map(([itemId]) => itemId).sort());
  }
}

it('answers with exactly the items of the version it names, while they change', async () => {
  const answers: Answer[] = [];
  let isWritten = false;
  const reader = async () => {
    while (!isWritten) answers.push(await recall(answers.length % 2 === 1));
  };
  const readers = Array.from({ length: READERS }, reader);
  const compactor = async () => {
    for (let i = 0; i < 4; i += 1) await catalogue.call('Compact', {}, CALL_MS);
  };
  readers.push(compactor());
  const ids = Array.from({ length: 40 }, (_, i) => String(i + 100));
  const streams = [stream('one', ids.slice(0, 20)), stream('other', ids.slice(20))];

  /** The next answer names a version that has the change. */
  const seen = async (change: Promise<number>, itemId: string, isThere: boolean) => {
    const sequence = await change;
    const answer = await recall(false);
    expect(answer.sequence).toBeGreaterThanOrEqual(sequence);
    expect(answer.items.includes(itemId)).toBe(isThere);
    answers.push(answer);
  };
  await seen(command([{ pauseItemId: '7' }], 'pause', '7'), '7', false);
  await seen(command([{ resumeItemId: '7' }], 'resume', '7'), '7', true);
  const added = JSON.stringify({ item_id: 'added', sid: [1, 2, 3], attributes: { sale: 'yes' } });
  await seen(command([upsert('added', [1, 2, 3], true)], 'upsert', added), 'added', true);
  await seen(command([{ removeItemId: 'added' }], 'remove', 'added'), 'added', false);
  const file = join(folder.path, 'changes.jsonl');
  const line = (i: number) => ({ op: 'upsert', item_id: `line-${i}`, sid: [i % 8, 1, 6] });
  const lines = Array.from({ length: 12 }, (_, i) =>
    JSON.stringify({ ...line(i), attributes: { sale: 'yes' } }),
  );
  writeFileSync(file, lines.join('\n'));
  const wanted = lines.map((_, i) => upsert(`line-${i}`, line(i).sid, true));
  await seen(command(wanted, 'apply', file, '--whole'), 'line-11', true);
  const large = Array.from({ length: 30 }, (_, i) => upsert(`batch-${i}`, [i % 8, 0, 7], true));
  await seen(batchOf(large.slice(0, 10), large.slice(10, 20), large.slice(20)), 'batch-29', true);

  await Promise.all(streams);
  isWritten = true;
  await Promise.all(readers);
  expect(answers.length).toBeGreaterThan(READERS);
  expect(new Set(answers.map(({ sequence }) => sequence)).size).toBeGreaterThan(5);
  checkAnswers(answers);
  const newest = Math.max(...applied.map(({ sequence }) => sequence));
  expect(await service.metric('tessera_catalogue_sequence')).toBe(newest);
  const disk = 'tessera_disk_spare_bytes{key="catalogue.changesPath"}';
  expect(await service.metric(disk)).toBeGreaterThan(0);
});

it('refuses attributes with a number beyond a double, by the member of the change', async () => {
  const before = await recall(false);
  const attributes = '{"bid":1e400}';
  const changes = [{ pauseItemId: '3' }, { setAttributes: { itemId: '4', attributes } }];
  await expect(catalogue.send('ApplyBatch', [{ changes, last: true }], CALL_MS)).rejects.toThrow(
    /changes\[1\]\.attributes/,
  );
  expect(await recall(false)).toEqual(before);
});

it('applies nothing of a batch whose client goes away before the last message', async () => {
  const before = await recall(false);
  const cut = [{ changes: [{ removeItemId: '3' }] }, { changes: [{ removeItemId: '4' }] }];
  await expect(catalogue.send('ApplyBatch', cut, CALL_MS)).rejects.toThrow(/last/);
  const after = await recall(false);
  expect(after).toEqual(before);
});

it('keeps from a user what they saw as often as a frequency cap allows', async () => {
  const ads = Array.from({ length: 12 }, (_, i) => ({ itemId: `ad-${i}`, campaign: `c${i % 3}` }));
  const upserts = ads.map(({ itemId, campaign }, i) => {
    const attributes = JSON.stringify({ campaign });
    return { upsert: { itemId, sid: [i % CODES_PER_LEVEL, 2, 4], attributes } };
  });
  await catalogue.call('Apply', { changes: upserts }, CALL_MS);
  const client = new TesseraClient(service.grpcAddress);
  let events = 0;
  let ended = 0;
  const see = (itemId: string, secondsAgo: number, action = 'impression') => {
    events += 1;
    const timeMs = Date.now() - secondsAgo * 1000;
    const event = { userId: 'capped', eventId: `e${events}`, itemId, action, timeMs, scene: {} };
    return client.append([event], CALL_MS);
  };
  const cap = { action: 'impression', maxBehaviours: 2, windowSeconds: 3600, attribute: '' };
  const asked = (frequencyCaps: readonly object[]) => ({
    ...EVERYTHING,
    userId: 'capped',
    frequencyCaps,
    eligibility: { predicate: { in: { attribute: 'campaign', values: ['c0', 'c1', 'c2'] } } },
  });
  const missing = async (...caps: object[]) => {
    const { status, details, answer } = await recalls.recall(asked(caps));
    expect(status, details).toBe(0);
    const { items: found, cappedItems } = answer as { items: Listed[]; cappedItems: number };
    const left = ads.filter(({ itemId }) => found.every((item) => item.itemId !== itemId));
    expect(cappedItems).toBe(left.length - ended);
    return left.map(({ itemId }) => itemId);
  };
  const campaign = { ...cap, attribute: 'campaign' };
  try {
    await see('ad-1', 3500);
    await see('ad-4', 7200);
    await see('ad-4', 30, 'click');
    expect(await missing(cap, campaign)).toEqual([]);
    await see('ad-4', 20);
    expect(await missing(cap)).toEqual([]);
    expect(await missing(cap, campaign)).toEqual(['ad-1', 'ad-4', 'ad-7', 'ad-10']);
    await see('ad-5', 1);
    await see('ad-5', 0);
    expect(await missing(cap)).toEqual(['ad-5']);
    const request = asked([cap, { ...campaign, windowSeconds: 7300 }]);
    const why = await recalls.explain({ request, itemId: 'ad-10' });
    expect(why.answer).toMatchObject({
      verdict: 'VERDICT_NOT_ELIGIBLE',
      clause: 'frequencyCaps[1]',
    });
    // In a shorter window the first has passed.
    expect(await missing({ ...campaign, windowSeconds: 600 })).toEqual(
      ads.flatMap(({ itemId, campaign: own }) => (own === 'c2' ? [itemId] : [])),
    );
    // An ended version has no campaign any more, and counts towards none.
    await catalogue.call('Apply', { changes: [{ removeItemId: 'ad-1' }] }, CALL_MS);
    ended = 1;
    expect(await missing(campaign)).toEqual(['ad-1', 'ad-2', 'ad-5', 'ad-8', 'ad-11']);
  } finally {
    client.close();
  }
});

it('makes an item that comes with its text live where the trainer would put it', async () => {
  const [known] = (
    JSON.parse(readFileSync('test/fixtures/sids/cases.json', 'utf8')) as {
      cases: { text: string; codes: number[]; vector: number[] }[];
    }
  ).cases;
  const { text = '', codes = [], vector = [] } = known ?? {};
  const post = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json' };
    const given = { method: 'POST', headers, body: JSON.stringify(body) };
    return (await fetch(`${service.httpUrl}${path}`, given)).json() as Promise<never>;
  };
  const before: { codes: number[]; sid: number[] } = await post('/v1/sid', { text });
  expect(before.codes).toEqual(codes);
  const changes = [{ upsert: { itemId: 'by-text', text, attributes: { sale: 'yes' } } }];
  expect(await post('/v1/catalogue/apply', { changes })).toMatchObject({
    placed: [{ sid: before.sid }],
  });
  const recalled = await recall(true);
  expect(recalled.items).toContain('by-text');
  const line = JSON.stringify({ item_id: 'by-vector', vector, attributes: { sale: 'yes' } });
  await command([], 'upsert', line);
  expect((await recall(true)).items).toContain('by-vector');
  const after = await post('/v1/sid', { text, neighbours: 1000 });
  expect(after).toMatchObject({
    codes,
    neighbours: expect.arrayContaining([
      expect.objectContaining({ itemId: 'by-text', sid: before.sid }),
      expect.objectContaining({ itemId: 'by-vector' }),
    ]),
  });
});
