/** Answers of the demo are the model's true best, and say so; others say what they may miss. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../libs/testing/src/index.js';
import { RecallClient } from '../integration/recall-client.js';
import { Service } from './service.js';

const SCORED_AT_A_TIME = 512;
const WANTED = 10;
const folder = temporaryFolder({});
let service: Service;
let client: RecallClient;

beforeAll(async () => {
  service = await Service.start({ TESSERA_CATALOGUE_CACHE_PATH: join(folder.path, 'cache') });
  client = new RecallClient(service.grpcAddress);
});

afterAll(async () => {
  client?.close();
  await service?.stop();
  folder.remove();
});

interface Scored {
  readonly itemId: string;
  readonly score: number;
}

interface Answer {
  readonly items: readonly Scored[];
  readonly search: string;
  readonly certified: boolean;
  readonly gap?: number;
  readonly rows: number;
}

const asked = async (body: object): Promise<Answer> => {
  const { status, json } = await service.post(body);
  expect(status).toBe(200);
  return json as unknown as Answer;
};

/** Every item of the catalogue with the score that a request alone gives it, best first. */
async function ranking(userId: string): Promise<Scored[]> {
  const lines = readFileSync('models/demo/catalogue.jsonl', 'utf8').trim().split('\n');
  const ids = lines.map((line) => String((JSON.parse(line) as { item_id: unknown }).item_id));
  const all: Scored[] = [];
  for (let first = 0; first < ids.length; first += SCORED_AT_A_TIME) {
    const items = ids.slice(first, first + SCORED_AT_A_TIME);
    const { json } = await service.post({ userId, items }, undefined, '/v1/score');
    all.push(...(json.items as Scored[]));
  }
  return all.sort((a, b) => b.score - a.score);
}

const scoresOf = (items: readonly Scored[]) => items.map(({ score }) => score);

describe('the demo', () => {
  it('answers with the best of all items over both edges, and says that it is', async () => {
    for (const userId of ['1', '2', '3']) {
      const body = { userId, resultCount: WANTED, itemsPerSid: WANTED };
      const overHttp = await asked(body);
      expect(overHttp).toMatchObject({ search: 'certified', certified: true });
      expect(overHttp.gap).toBeUndefined();
      expect(overHttp.rows).toBeGreaterThan(0);
      const best = (await ranking(userId)).slice(0, WANTED);
      expect(scoresOf(overHttp.items)).toEqual(scoresOf(best));
      const { answer } = await client.recall(body);
      expect(answer).toMatchObject({ search: 'SEARCH_CERTIFIED', certified: true });
      expect(scoresOf(answer?.items as Scored[])).toEqual(scoresOf(best));
    }
  });

  it('says how good an item may be that a budget of one row has missed', async () => {
    // More than lie below one prefix.
    const wanted = 100;
    const body = { userId: '1', resultCount: wanted, itemsPerSid: wanted, rowBudget: 1 };
    const { certified, gap = Number.NaN, rows, items } = await asked(body);
    expect(certified).toBe(false);
    expect(rows).toBeLessThanOrEqual(body.rowBudget + 8);
    const found = new Set(items.map(({ itemId }) => itemId));
    const last = items.at(-1)?.score ?? Number.NEGATIVE_INFINITY;
    const missed = (await ranking('1')).filter(
      ({ itemId, score }) => !found.has(itemId) && (items.length < wanted || score > last),
    );
    expect(missed.length).toBeGreaterThan(0);
    for (const { score } of missed) expect(score).toBeLessThanOrEqual(gap);
    expect(await asked(body)).toMatchObject({ certified, gap, items });
  });

  it('gives a beam to who gives widths, as before there were searches', async () => {
    const body = { userId: '1', resultCount: WANTED, widths: [50] };
    expect(await asked(body)).toMatchObject({ search: 'beam' });
    const { answer } = await client.recall(body);
    expect(answer).toMatchObject({ search: 'SEARCH_BEAM' });
  });

  it('ranks an item that is not in the answer among all that there are', async () => {
    const all = await ranking('1');
    const at = all.findIndex(
      ({ score }, index) => index >= 20 && score < (all[index - 1]?.score ?? 0),
    );
    const itemId = all[at]?.itemId;
    const request = { userId: '1', resultCount: 5, itemsPerSid: 5 };
    const { json } = await service.post({ request, itemId }, undefined, '/v1/explain');
    const ties = all.filter(({ score }) => score === all[at]?.score).length;
    expect(json.exactRank).toBeGreaterThan(at);
    expect(json.exactRank).toBeLessThanOrEqual(at + ties);
  });

  const byValue = { valuation: { name: 'ecpm' } };
  it.each([
    {},
    byValue,
    { explore: { slots: 2, seed: 3 } },
    { explore: { slots: 5, seed: 2 } },
    { ...byValue, explore: { slots: 2, seed: 3 } },
    { ...byValue, explore: { slots: 5, seed: 2 } },
    { ...byValue, explore: { slots: 5, seed: 2 }, itemsPerSid: 1 },
  ])('explains the items of an answer by their places, and no others: %j', async (change) => {
    const request = { userId: '1', resultCount: 5, ...change };
    const { items } = await asked(request);
    const places = new Map(items.map(({ itemId }, index) => [itemId, index + 1]));
    expect(places.size).toBe(5);
    // The best one that was left out is among those of a longer answer.
    const more = await asked({ ...request, explore: undefined, resultCount: 9 });
    const ids = new Set([...items, ...more.items].map(({ itemId }) => itemId));
    expect(ids.size).toBeGreaterThan(5);
    for (const itemId of ids) {
      const { json } = await service.post({ request, itemId }, undefined, '/v1/explain');
      const rank = places.get(itemId);
      if (rank !== undefined) expect(json).toMatchObject({ itemId, verdict: 'returned', rank });
      else expect(json.verdict, itemId).toMatch(/^(behind-|pruned)/);
    }
  });

  it.each([
    [{ search: 'certified', widths: [5] }, 'widths'],
    [{ search: 'beam', rowBudget: 5 }, 'rowBudget'],
    [{ widths: [5], rowBudget: 5 }, 'rowBudget'],
    [{ rowBudget: 65_537 }, 'rowBudget'],
    [{ rowBudget: 0 }, 'rowBudget'],
    [{ search: 'best' }, 'search'],
  ])('refuses %j, naming %s', async (change, field) => {
    const { status, json } = await service.post({ userId: '1', ...change });
    expect(status).toBe(400);
    expect(json.error).toMatchObject({ code: 'REQUEST_INVALID', field });
  });
});
