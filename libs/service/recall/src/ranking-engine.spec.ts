/** Rankings of the demo by the real engine, with drawn heads. */

import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CANARY_RULES, fetchedParts } from '@tessera/adapter';
import { usersOfFile } from '@tessera/behaviour';
import { CHANGES_NOT_KEPT, ChangeBatch } from '@tessera/catalogue';
import { TesseraError } from '@tessera/errors';
import {
  createRecallRuntime,
  type RankRequest,
  type RecallRequest,
  type RecallRuntime,
} from '@tessera/recall';
import { closingEmpty, drawnHeads, temporaryFolder } from '@tessera/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const DEMO = resolve('models/demo');
const HIDDEN = 128;
const SEED = 56;
const WORTH = {
  worth: {
    score_weight: 0.5,
    terms: [
      { name: 'ctr', head: 'click', function: 'log', weight: 2 },
      { attribute: 'bid', function: 'log' },
    ],
  },
  ecpm: { terms: [{ name: 'bid', attribute: 'bid', function: 'log' }], bid: 'bid' },
};

const ranking = (item: string) => ({
  version: 1,
  name: 'drawn',
  item,
  maxItemTokens: 14,
  heads: [
    { name: 'click', activation: 'sigmoid', calibration: { platt: [1.2, -0.1] } },
    { name: 'dwell', activation: 'identity' },
  ],
});
const folder = temporaryFolder({
  'plain/ranking.json': ranking('{sid}'),
  'titled/ranking.json': ranking('{sid} {title}'),
  'wide/ranking.json': ranking('{sid}'),
  'valuations.json': WORTH,
});
for (const [name, hidden] of [
  ['plain', HIDDEN],
  ['titled', HIDDEN],
  ['wide', 64],
] as const) {
  writeFileSync(
    join(folder.path, name, 'heads.safetensors'),
    drawnHeads(['click', 'dwell'], hidden, SEED),
  );
}

let runtime: RecallRuntime;
const adapters = () => {
  const { adapters: kept } = runtime.operations;
  if (kept === undefined) throw new Error('expected adapters, got none');
  return kept;
};
async function pushed(name: string): Promise<string> {
  const baseModel = runtime.facts.summary.model.digest;
  const parts = fetchedParts(folder.path, { name, baseModel, location: name, sha256: {} });
  const { version } = await adapters().push(parts);
  return version.digest;
}

beforeAll(async () => {
  const limits = { rankMax: 8, normMax: 10, versionBytesMax: 1e7, diskBytesMax: 1e8 };
  const opened = await createRecallRuntime({
    modelPath: DEMO,
    computeType: 'f32',
    activationScalesPath: '',
    catalogueSources: [{ path: join(DEMO, 'catalogue.jsonl'), domain: '' }],
    titlesPath: '',
    behaviours: usersOfFile(join(DEMO, 'users.json')),
    cacheDir: join(folder.path, 'cache'),
    changes: {
      ...CHANGES_NOT_KEPT,
      valuationsPath: join(folder.path, 'valuations.json'),
      flight: { begin: 'begin_ms', end: 'end_ms' },
    },
    moreCatalogues: [],
    engine: {
      threadCount: 1,
      queueCapacity: 8,
      batchRequestsMax: 4,
      batchRowsMax: 1024,
      prefillChunkTokens: 16,
      passTimeTargetUs: 0,
      batching: 'continuous',
      kvBytesMax: 2 ** 28,
      promptTokensMax: 1024,
      widthMax: 64,
      resultCountMax: 100,
      scoreItemsMax: 64,
    },
    recall: {
      search: 'certified',
      rowBudget: 0,
      resultCount: 5,
      historyItemsMax: 100,
      historyTrimPercent: 50,
      rememberedRecalls: 8,
    },
    process: { node: '' },
    adapters: {
      registry: { folder: join(folder.path, 'adapters'), defaultName: 'main', limits },
      rollout: {
        golden: { path: '', userCount: 2 },
        watch: { rules: CANARY_RULES },
        warmUsers: 0,
        warmMs: 0,
      },
      onEvent: () => undefined,
    },
    adapterBytesMax: 2 ** 24,
    onProgress: () => undefined,
  });
  runtime = closingEmpty(opened);
  for (const name of ['plain', 'titled']) {
    const all = { share: 1, isCompared: true, isWarmed: true };
    await adapters().activate(name, await pushed(name), all);
  }
});
afterAll(async () => {
  await runtime.close();
  folder.remove();
});

const context = () => ({ signal: new AbortController().signal, budgetUs: 60e6 });
const SOURCE = { requestId: '', userId: '1', profile: {}, scene: {}, skipUnknownItems: true };
const recall = (change: Partial<RecallRequest>) =>
  runtime.serving.recall(
    { ...SOURCE, resultCount: 5, widths: [], itemsPerSid: 0, ...change },
    context(),
  );
const rank = (itemIds: readonly string[], change: Partial<RankRequest> = {}) =>
  runtime.serving.rank({ ...SOURCE, itemIds, rank: { adapter: 'plain' }, ...change }, context());
const BY_WORTH = { valuation: { name: 'worth', weights: {} } };

describe('heads of the real engine', () => {
  it.each(['plain', 'titled'])(
    'say of %s items the same in a recall and in a call of its own',
    async (adapter) => {
      const items = 40;
      const ranked = await recall({ resultCount: items, rank: { adapter, items } });
      expect(ranked.items).toHaveLength(items);
      const clicks = ranked.items.map((item) => item.ranking?.heads.click ?? Number.NaN);
      expect(clicks).toEqual(clicks.toSorted((a, b) => b - a));
      const itemIds = ranked.items.map(({ itemId }) => itemId).toSorted();
      const named = await rank(itemIds, { rank: { adapter } });
      const heads = new Map(named.items.map((item) => [item.itemId, item.ranking?.heads]));
      for (const item of ranked.items) expect(heads.get(item.itemId)).toEqual(item.ranking?.heads);
      expect(new Set(clicks).size).toBeGreaterThan(items / 2);
    },
  );

  it('rank by scores, bids and heads alike in a recall and in a call of its own', async () => {
    const ranked = await recall({
      resultCount: 20,
      rank: { adapter: 'plain', items: 30, ...BY_WORTH },
    });
    const itemIds = ranked.items.map(({ itemId }) => itemId).toReversed();
    const named = await rank(itemIds, { rank: { adapter: 'plain', ...BY_WORTH } });
    expect(named.items.map(({ itemId }) => itemId)).toEqual(itemIds.toReversed());
    named.items.forEach((item, at) => {
      const own = ranked.items[at];
      expect(item.score).toBe(own?.score);
      expect(item.ranking?.value).toEqual(own?.ranking?.value);
      const { ctr = 0, bid = 0 } = own?.ranking?.value?.terms ?? {};
      expect(own?.ranking?.value?.value).toBeCloseTo(0.5 * (own?.score ?? 0) + bid + ctr, 5);
      expect(ctr).toBe(Math.fround(2 * Math.log(own?.ranking?.heads.click ?? 0)));
    });
  });

  it('rank an item by name that is past its flight, and none that is paused', async () => {
    const recalled = await recall({});
    const [past = '', paused = '', other = ''] = recalled.items.map(({ itemId }) => itemId);
    const before = await rank([past]);
    const changes = runtime.operations.changesOf('');
    const set = (text: string) => ({ set: text, unset: [], add: [], take: [], delta: [] });
    const ended = { op: 'patch_attributes', itemId: past, patch: set('{"end_ms":1}') } as const;
    await changes.applyBatch(ChangeBatch.of([ended, { op: 'pause', itemId: paused }]), 'test');
    const { items } = await rank([paused, past, other]);
    expect(items.find(({ itemId }) => itemId === past)).toMatchObject({
      rank: expect.toSatisfy((rank) => rank > 0),
      ranking: before.items[0]?.ranking,
    });
    expect(items.at(-1)).toMatchObject({ itemId: paused, failure: { code: 'ITEM_NOT_FOUND' } });
    const without = await recall({});
    const left = without.items.map(({ itemId }) => itemId);
    expect(left).not.toContain(past);
    await changes.applyBatch(
      ChangeBatch.of([
        { op: 'patch_attributes', itemId: past, patch: { ...set(''), unset: ['end_ms'] } },
        { op: 'resume', itemId: paused },
      ]),
      'test',
    );
  });

  it('say which weight and which number of a change were refused', async () => {
    const { items } = await recall({});
    const [itemId = ''] = items.map((item) => item.itemId);
    const valuation = { name: 'worth', weights: { bid: 2e9 } };
    await expect(rank([itemId], { rank: { adapter: 'plain', valuation } })).rejects.toThrow(
      'weights.bid: expected a number of at most 1e9 either way, got 2e+09',
    );
    const changes = runtime.operations.changesOf('');
    const nothing = { set: '', unset: [], add: [], take: [] };
    const delta = [{ attribute: 'bid', delta: Number.NEGATIVE_INFINITY }];
    const attributes = '{"bid":1e999}';
    for (const [change, message] of [
      [
        { op: 'set_priority', itemId, priority: Number.NaN },
        'priority: expected a finite .*, got NaN',
      ],
      [{ op: 'patch_attributes', itemId, patch: { ...nothing, delta } }, 'number, got -Infinity'],
      [
        { op: 'set_attributes', itemId, attributes },
        'attributes: expected a JSON object of finite',
      ],
    ] as const) {
      const applied = changes.applyBatch(ChangeBatch.of([change]), 'test');
      await expect(applied).rejects.toThrow(new RegExp(message));
    }
  });

  it.each([{}, { valuation: { name: 'ecpm', weights: {} } }])(
    'explain each item as the answer has it: %j',
    async (change) => {
      const asked = { ...SOURCE, resultCount: 3, widths: [], itemsPerSid: 0, ...change };
      const request = { ...asked, rank: { adapter: 'plain', items: 6 } };
      const answer = await runtime.serving.recall(request, context());
      const all = await recall({ ...change, resultCount: 6, rank: request.rank });
      for (const [at, { itemId, ranking: own }] of all.items.entries()) {
        const explained = await runtime.serving.explain(
          {
            recall: { ...request, requestId: answer.requestId },
            itemId,
            versions: answer.versions,
          },
          context(),
        );
        expect(explained).toMatchObject({
          verdict: at < 3 ? 'returned' : 'behind-ranked',
          rank: at + 1,
          rankedItems: 6,
          ranking: own,
        });
        // No price: it would be one among the candidates.
        expect(explained.value).toEqual(answer.items[at]?.value ?? explained.value);
        expect(explained.value?.criticalBid).toBeUndefined();
      }
    },
  );

  it('explain no version of the catalogue that is not kept, and name it', async () => {
    const asked = { ...SOURCE, requestId: 'r', resultCount: 3, widths: [], itemsPerSid: 0 };
    const { items, versions } = await runtime.serving.recall(asked, context());
    const unkept = { ...versions, catalogueSequence: 99 };
    const question = { recall: asked, itemId: items[0]?.itemId ?? '', versions: unkept };
    await expect(runtime.serving.explain(question, context())).rejects.toMatchObject({
      code: 'CATALOGUE_NOT_FOUND',
      field: 'versions.catalogueSequence',
      message: expect.stringContaining('versions.catalogueSequence: expected the newest'),
    });
  });

  it('are refused by name where they are for another hidden size', async () => {
    const refused = await pushed('wide').catch((thrown: unknown) => TesseraError.from(thrown));
    expect(refused).toMatchObject({ code: 'ADAPTER_INVALID' });
    expect(String(refused)).toContain('click.0.weight');
    expect(adapters().list('wide')).toMatchObject([{ state: 'rejected' }]);
  });
});
