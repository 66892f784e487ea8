import type { ServedAdapter } from '@tessera/adapter';
import { MemoryBehaviourStore, Popularity } from '@tessera/behaviour';
import type { Formula, ReachRequest } from '@tessera/engine';
import { Erasures } from '@tessera/erasure';
import { TesseraError } from '@tessera/errors';
import {
  CompiledTemplate,
  ItemTemplate,
  JsonField,
  loadTokenizer,
  parseTemplate,
} from '@tessera/prompt';
import { type RankRequest, type RecallParts, type RecallRequest, UseCases } from '@tessera/recall';
import {
  byteLevelTokenizer,
  FakeChangingCatalogue,
  FakeEngine,
  levelTokenTexts,
  temporaryFolder,
} from '@tessera/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RecallContext } from './domain/request/request-types.js';

const LEVELS = ['<a_{code}>'];
const BIDS = [0.5, undefined, 3, 1, 2];
const CATALOGUE = new FakeChangingCatalogue(
  BIDS.map((bid, code) => ({
    itemId: `i${code}`,
    sid: [code],
    title: `item ${code}`,
    attributes: JSON.stringify({ bid }),
  })),
);
const UNBOUNDED = { min: Number.NEGATIVE_INFINITY, max: Number.POSITIVE_INFINITY };
const bid = {
  name: 'bid',
  attribute: 'bid',
  function: 'identity',
  weight: 1,
  byDefault: NaN,
} as const;
const ctr = { name: 'ctr', head: 'click', function: 'log', weight: 2 } as const;
const formula = (name: string, more: Partial<Formula>): Formula => ({
  name,
  scoreWeight: 1,
  terms: [{ ...bid, ...UNBOUNDED }],
  headTerms: [],
  floor: Number.NEGATIVE_INFINITY,
  bid: 'bid',
  pace: '',
  ...more,
});
const VALUATIONS = [
  formula('ecpm', {}),
  formula('clicks', { headTerms: [{ ...ctr, ...UNBOUNDED }] }),
  formula('odd', {
    headTerms: [{ ...ctr, name: 'constructor', head: 'constructor', ...UNBOUNDED }],
  }),
  formula('sales', { headTerms: [{ ...ctr, head: 'purchase', ...UNBOUNDED }] }),
];
/** As FakeEngine has it. */
const headOf = (head: number, ordinal: number) => Math.fround(1 / (2 + head + ordinal));

/** A token for each character. */
const tokenizer = { encode: (text: string) => [...text].map((one) => one.charCodeAt(0)) };
function ranking(
  change: Partial<ServedAdapter['engine']> = {},
  item = '<{sid}>',
  scoreWeights: readonly number[] = [0, 0],
): ServedAdapter {
  const root = new JsonField('ADAPTER_INVALID', 'ranking.json', '', { item });
  const engine = {
    digest: 'files',
    bytes: 1,
    rankMax: 0,
    targetCount: 0,
    replacedRows: 0,
    largestNorm: 0,
    heads: ['click', 'dwell'],
    isActivated: false,
    ...change,
  };
  return {
    name: 'ranking',
    digest: 'd'.repeat(64),
    engine,
    reading: { item: new ItemTemplate(root, tokenizer), scoreWeights },
  };
}

let compiled: CompiledTemplate;
beforeAll(async () => {
  await CATALOGUE.valueBy(VALUATIONS);
  const tokens = byteLevelTokenizer(levelTokenTexts(LEVELS, [5]));
  const folder = temporaryFolder({ 'tokenizer.json': tokens });
  const segments = [{ text: 'Seen: ' }, { slot: 'history' }];
  const template = parseTemplate({ version: 1, name: 'v', levels: LEVELS, segments });
  compiled = new CompiledTemplate(template, await loadTokenizer(folder.path), [5]);
  folder.remove();
});

/** By score alone the items come in the order of their codes. */
function world(change: Partial<RecallParts> = {}) {
  const engine = new FakeEngine({ score: ([code = 0]) => -1 - code });
  const useCases = new UseCases({
    engine,
    catalogue: CATALOGUE,
    binding: engine.bind(CATALOGUE, compiled.levelTokens),
    template: compiled,
    behaviours: new MemoryBehaviourStore(new Map()),
    erasures: new Erasures(),
    process: { node: 'n' },
    defaults: {
      search: 'certified',
      rowBudget: 0,
      resultCount: 2,
      historyItemsMax: 50,
      historyTrimPercent: 50,
      rememberedRecalls: 2,
    },
    promptTokensMax: 200,
    widthMax: 32,
    resultCountMax: 100,
    scoreItemsMax: 10,
    ...change,
  });
  return { engine, useCases };
}

const contextOf = (ranker: ServedAdapter | undefined, adapter?: ServedAdapter): RecallContext => ({
  signal: new AbortController().signal,
  budgetUs: 1e6,
  ranker,
  adapter,
});
const SOURCE = { requestId: 'r', history: ['i0'], profile: {}, scene: {}, skipUnknownItems: true };
const asked = (change: Partial<RecallRequest> = {}): RecallRequest => ({
  ...SOURCE,
  resultCount: 2,
  widths: [],
  itemsPerSid: 0,
  rank: { adapter: '' },
  ...change,
});
const named = (itemIds: readonly string[], change: Partial<RankRequest> = {}): RankRequest => ({
  ...SOURCE,
  itemIds,
  rank: { adapter: '' },
  ...change,
});
const CLICKS = { adapter: '', valuation: { name: 'clicks', weights: {} } };
const idsOf = (items: readonly { readonly itemId: string }[]) => items.map(({ itemId }) => itemId);

async function refusal(answer: Promise<unknown>): Promise<string> {
  const error = await answer.then(
    () => undefined,
    (thrown: unknown) => TesseraError.from(thrown),
  );
  return `${error?.code} ${error?.field}: ${error?.message}`;
}

describe('a recall that is ranked', () => {
  it('has what the heads say, by the first of them, of the best items of the recall', async () => {
    const { engine, useCases } = world();
    const rank = { adapter: '', items: 3 };
    const answer = await useCases.recall(asked({ rank }), contextOf(ranking()));
    expect(answer.items).toMatchObject([
      { itemId: 'i0', rank: 1, ranking: { heads: { click: 0.5 }, recallRank: 1 } },
      { itemId: 'i1', rank: 2, ranking: { heads: { dwell: 0.25 }, recallRank: 2 } },
    ]);
    expect(answer.ranking).toEqual({
      adapter: 'd'.repeat(64),
      adapterName: 'ranking',
      items: 3,
      leftOut: 0,
      heads: ['click', 'dwell'],
    });
    expect(answer.itemPolicy.resultCount).toBe(2);
    expect(engine.requests).toHaveLength(1);
    expect(engine.requests[0]).toMatchObject({
      resultCount: 3,
      ranking: { prefix: Int32Array.of(60), suffixes: [[62]] },
    });
  });

  it('goes by a valuation with heads: score and attributes in FP32, heads in double', async () => {
    const { useCases } = world();
    const { items, ranking: applied } = await useCases.recall(
      asked({ rank: CLICKS, resultCount: 5 }),
      contextOf(ranking()),
    );
    const worth = (code: number) =>
      Math.fround(Math.fround(-1 - code + (BIDS[code] ?? NaN)) + 2 * Math.log(headOf(0, code)));
    const expected = [0, 2, 3, 4].sort((a, b) => worth(b) - worth(a));
    expect(idsOf(items)).toEqual(expected.map((code) => `i${code}`));
    expect(items.map(({ ranking: its }) => its?.value?.value)).toEqual(expected.map(worth));
    expect(items[0]?.ranking?.value).toMatchObject({
      terms: { ctr: Math.fround(2 * Math.log(0.5)) },
      pace: 1,
    });
    expect(applied).toMatchObject({
      items: 5,
      leftOut: 1,
      valuation: { name: 'clicks', weights: { bid: 1, ctr: 2 } },
    });
  });

  it('adds scores to the logits of heads that weigh them, and goes by the sum', async () => {
    const { useCases } = world();
    const rank = { adapter: '', items: 5 };
    const reads = contextOf(ranking({}, '<{sid}>', [-2, 0]));
    const { items } = await useCases.recall(asked({ rank, resultCount: 5 }), reads);
    expect(idsOf(items)).toEqual(['i4', 'i3', 'i2', 'i1', 'i0']);
    for (const { ranking: its, score } of items) {
      const code = -1 - score;
      const own = headOf(0, code);
      const click = 1 / (1 + Math.exp(-(Math.log(own / (1 - own)) - 2 * score)));
      expect(its?.heads).toEqual({ click: expect.closeTo(click, 7), dwell: headOf(1, code) });
    }
  });

  it('takes members of every object for names of terms and heads', async () => {
    const { useCases } = world();
    const rank = { adapter: '', valuation: { name: 'odd', weights: {} } };
    const heads = ['constructor', 'tostring'];
    const { items } = await useCases.recall(asked({ rank }), contextOf(ranking({ heads })));
    expect(items[0]?.ranking?.value?.terms).toEqual({
      bid: 0.5,
      constructor: Math.fround(2 * Math.log(0.5)),
    });
  });

  it('has weights of heads and a floor of its own, and is short below it', async () => {
    const valuation = { name: 'clicks', weights: { ctr: 0 }, floor: -1 };
    const rank = { adapter: '', valuation };
    const answer = await world().useCases.recall(
      asked({ rank, resultCount: 5 }),
      contextOf(ranking()),
    );
    expect(idsOf(answer.items)).toEqual(['i2', 'i0']);
    expect(answer).toMatchObject({ short: true, ranking: { leftOut: 3, valuation } });
  });

  it('reads texts of items behind the prompt in a call of its own', async () => {
    const { engine, useCases } = world();
    const context = contextOf(ranking({}, '{sid} {title}'));
    const { items } = await useCases.recall(asked({ rank: { adapter: '', items: 3 } }), context);
    expect(items[0]?.ranking?.heads).toEqual({ click: 0.5, dwell: headOf(1, 0) });
    expect(engine.requests[0]?.ranking).toBeUndefined();
    const [{ items: ordinals, ranking: given, reach, promptTokens } = {}] = engine.rankRequests;
    expect(ordinals).toEqual(Uint32Array.of(0, 1, 2));
    expect(given?.suffixes[1]).toEqual(tokenizer.encode(' item 1'));
    expect(reach).toBe(engine.requests[0]?.reach);
    expect(promptTokens).toBe(engine.requests[0]?.promptTokens);
  });

  it('asks for one version, whatever versions the catalogue makes meanwhile', async () => {
    const catalogue = Object.assign(Object.create(CATALOGUE) as FakeChangingCatalogue, {
      count: 0,
      async reach(this: { count: number }, asking: ReachRequest) {
        return Object.assign(await CATALOGUE.reach(asking), { sequence: ++this.count });
      },
      judge: () => Promise.reject(new TesseraError('CATALOGUE_NOT_FOUND', 'it is not kept')),
    });
    const { useCases } = world({ catalogue });
    const { items } = await useCases.recall(asked({ rank: CLICKS }), contextOf(ranking()));
    expect(idsOf(items)).toEqual(['i0', 'i2']);
    const given = await useCases.rank(named(['i2', 'i0'], { rank: CLICKS }), contextOf(ranking()));
    expect(idsOf(given.items)).toEqual(['i0', 'i2']);
    expect(catalogue.count).toBe(2);
  });

  it('has no item left out by a term of heads that has no weight', async () => {
    const { engine, useCases } = world();
    const whole = engine.recall.bind(engine);
    engine.recall = async (request, signal) =>
      Object.assign(await whole(request, signal), { heads: new Float32Array(10) });
    const valuation = (weight: number) => ({ name: 'clicks', weights: { ctr: weight } });
    const ask = (weight: number) =>
      useCases.recall(
        asked({ rank: { adapter: '', items: 5, valuation: valuation(weight) } }),
        contextOf(ranking()),
      );
    expect((await ask(1)).ranking).toMatchObject({ leftOut: 5 });
    // The item without a bid is left out: its attribute has no number.
    expect((await ask(0)).ranking).toMatchObject({ leftOut: 1 });
  });

  it('keeps the order of the recall where a partial one had no time for heads', async () => {
    const late = new TesseraError('DEADLINE_EXCEEDED', 'the deadline has passed');
    for (const template of ['{sid}', '{sid} {title}']) {
      const { engine, useCases } = world();
      const whole = engine.recall.bind(engine);
      engine.recall = async (request, signal) =>
        Object.assign(await whole(request, signal), { heads: new Float32Array() });
      engine.rank = () => Promise.reject(late);
      const ask = (allowPartial: boolean) =>
        useCases.recall(asked({ allowPartial }), contextOf(ranking({}, template)));
      const answer = await ask(true);
      expect(idsOf(answer.items)).toEqual(['i0', 'i1']);
      expect([answer.items[0]?.ranking, answer.ranking]).toEqual([undefined, undefined]);
      if (template !== '{sid}') await expect(ask(false)).rejects.toBe(late);
    }
  });

  it('keeps drawn items and tells no prices of candidates where heads came too late', async () => {
    const { engine, useCases } = world();
    const [whole, price] = [engine.recall.bind(engine), { criticalBid: 0.25 }];
    engine.recall = async (request, signal) => {
      const answer = await whole(request, signal);
      const items = answer.items.map((item) => ({ ...item, ...price }));
      const leftOut = { bestLeftOutId: 'i1', bestLeftOutBid: 7, prices: 'known' as const };
      return { ...answer, ...leftOut, items, itemTerms: new Float32Array(items.length) };
    };
    engine.rank = () => Promise.reject(new TesseraError('DEADLINE_EXCEEDED', 'too late'));
    const answer = await useCases.recall(
      asked({
        resultCount: 3,
        rank: { adapter: '', items: 4 },
        allowPartial: true,
        explore: { slots: 1, seed: 1 },
        valuation: { name: 'ecpm', weights: {} },
      }),
      contextOf(ranking({}, '{sid} {title}')),
    );
    expect(answer.items.map(({ rank, explored }) => [rank, explored])).toEqual([
      [1, false],
      [2, false],
      [3, true],
    ]);
    expect(answer.items.map(({ value }) => value?.criticalBid)).toEqual(Array(3).fill(undefined));
    expect(answer).toMatchObject({
      exploration: { slots: 1, noPropensities: '' },
      valuation: { noPrices: 'ranked' },
      runnerUp: undefined,
    });
  });

  it('has a prompt that leaves room for the tokens of an item', async () => {
    const history = Array.from({ length: 40 }, () => 'i0');
    const engine = new FakeEngine({ maxPositions: 40 });
    const { useCases } = world({ engine });
    const { rank: _, ...plain } = asked({ history });
    expect((await useCases.recall(plain, contextOf(undefined))).promptTokens).toBeGreaterThan(7);
    const context = contextOf(ranking({}, '{sid} {title}'));
    const { promptTokens, trimmedItems } = await useCases.recall(asked({ history }), context);
    expect(promptTokens).toBeLessThanOrEqual(40 - 1 - 32);
    expect(trimmedItems).toBeGreaterThan(0);
  });

  it('is refused where its items leave a prompt no room', async () => {
    const { useCases } = world({ engine: new FakeEngine({ maxPositions: 20 }) });
    const answer = useCases.recall(asked(), contextOf(ranking({}, '{sid} {title}')));
    expect(await refusal(answer)).toContain(
      'rank.adapter: expected items that leave room in 20 positions, got items of up to 33',
    );
  });

  it('leaves drawn items in the last places, with their heads', async () => {
    const { engine, useCases } = world();
    const recall = engine.recall.bind(engine);
    engine.recall = async (request, signal) => {
      const answer = await recall(request, signal);
      const last = answer.items.at(-1);
      const items = answer.items.map((item) => ({ ...item, explored: item === last }));
      return { ...answer, items };
    };
    const rank = { adapter: '', items: 4, valuation: { name: 'clicks', weights: {} } };
    const request = asked({ rank, explore: { slots: 1 } });
    const { items } = await useCases.recall(request, contextOf(ranking()));
    expect(items).toMatchObject([
      { itemId: 'i0', explored: false },
      { itemId: 'i3', rank: 2, explored: true, ranking: { recallRank: 4 } },
    ]);
  });

  it('leaves the popular order, and says nothing of heads, where there is no prompt', async () => {
    const popularity = new Popularity(() => 1e12);
    for (const itemId of ['i0', 'i3', 'i3']) popularity.add(itemId, 1e12);
    const request = asked({ history: ['gone'], rank: { adapter: '', items: 3 } });
    const answer = await world({ popularity }).useCases.recall(request, contextOf(ranking()));
    expect(answer).toMatchObject({ fallback: 'popular', short: false });
    expect(idsOf(answer.items)).toEqual(['i3', 'i0']);
    expect(answer).not.toHaveProperty('ranking');
    expect(answer.items[0]).not.toHaveProperty('ranking');
  });

  it.each([
    [undefined, {}, 'ADAPTER_NOT_FOUND rank.adapter: rank.adapter: expected a version with heads'],
    [
      { ...ranking(), reading: undefined },
      {},
      "rank.adapter: rank.adapter: expected a version with heads, got 'ranking' dddd",
    ],
    [
      ranking({ targetCount: 7 }),
      {},
      'REQUEST_INVALID rank.adapter: rank.adapter: expected the adapter of the request (the base',
    ],
    [ranking(), { rank: { adapter: '', items: 1 } }, 'rank.items: rank.items: expected 2..100'],
    [ranking(), { rank: { adapter: '', items: 101 } }, 'rank.items: rank.items: expected 2..100'],
    [ranking(), { rank: { adapter: '', items: 2.5 } }, 'rank.items: rank.items: expected 2..100'],
    [
      ranking(),
      { valuation: { name: 'clicks', weights: {} } },
      "valuation.name: expected one of ecpm, got 'clicks', which has terms of heads",
    ],
    [
      ranking(),
      { rank: { adapter: '', valuation: { name: 'x', weights: {} } } },
      "rank.valuation.name: rank.valuation.name: expected one of ecpm, clicks, odd, sales, got 'x'",
    ],
    [
      ranking(),
      { rank: { adapter: '', valuation: { name: 'sales', weights: {} } } },
      "rank.valuation.name: rank.valuation.name: expected a valuation of the heads of 'ranking'",
    ],
    [
      ranking(),
      { rank: { adapter: '', valuation: { name: 'clicks', weights: { x: 1 } } } },
      'rank.valuation.weights.x: rank.valuation.weights.x: expected a term of clicks (bid, ctr)',
    ],
    [
      ranking(),
      { rank: { adapter: '', valuation: { name: 'clicks', weights: { ctr: NaN } } } },
      'rank.valuation.weights.ctr: rank.valuation.weights.ctr: expected a finite number',
    ],
  ])('%#: refuses what it cannot do, with its path', async (ranker, change, message) => {
    const { engine, useCases } = world();
    const answer = useCases.recall(asked(change as Partial<RecallRequest>), contextOf(ranker));
    expect(await refusal(answer)).toContain(message);
    expect(engine.requests).toEqual([]);
  });

  it('takes a version with factors where it is the own one of the request', async () => {
    const own = ranking({ targetCount: 7 });
    const { items } = await world().useCases.recall(asked(), contextOf(own, own));
    expect(items[0]?.ranking?.heads.click).toBe(0.5);
  });
});

describe('an item of a recall that is ranked', () => {
  const rank = { adapter: '', items: 4, valuation: { name: 'clicks', weights: {} } };
  it.each([
    ['i0', rank, { verdict: 'returned', rank: 1, rankedItems: 4, ranking: { recallRank: 1 } }],
    ['i2', rank, { verdict: 'returned', rank: 2, ranking: { heads: { click: headOf(0, 2) } } }],
    ['i3', rank, { verdict: 'behind-ranked', rank: 3, ranking: { recallRank: 4 } }],
    ['i1', rank, { verdict: 'no-value', rank: undefined, ranking: { recallRank: 2 } }],
    [
      'i3',
      { ...rank, valuation: { name: 'clicks', weights: {}, floor: -5 } },
      { verdict: 'below-floor', rank: undefined, cutScore: -5, rankedItems: 4 },
    ],
    ['i4', rank, { verdict: 'behind-results' }],
  ])('%s is explained', async (itemId, asking, expected) => {
    const { useCases } = world();
    const recall = asked({ rank: asking });
    const answer = await useCases.explain({ recall, itemId }, contextOf(ranking()));
    expect(answer).toMatchObject(expected);
    expect(answer.ranking === undefined).toBe(itemId === 'i4');
  });
});

describe('items that a caller names', () => {
  it('come best first, those that are unknown last, each with the reason', async () => {
    const { engine, useCases } = world();
    const answer = await useCases.rank(named(['i3', 'gone', 'i0']), contextOf(ranking()));
    expect(answer.items).toMatchObject([
      { itemId: 'i0', rank: 1, ranking: { heads: { click: 0.5 } } },
      { itemId: 'i3', rank: 2, ranking: { heads: { click: headOf(0, 3) } } },
      { itemId: 'gone', rank: 0, failure: { code: 'ITEM_NOT_FOUND' } },
    ]);
    expect(answer.items[0]).not.toHaveProperty('ranking.recallRank');
    expect(answer.ranking).toMatchObject({ items: 2, leftOut: 0 });
    expect(engine.rankRequests[0]?.items).toEqual(Uint32Array.of(3, 0));
    expect(engine.scoreRequests).toEqual([]);
  });

  it('have scores where the valuation weighs them; excluded ones come without a rank', async () => {
    const { engine, useCases } = world();
    const request = named(['i1', 'gone', 'i4', 'i2'], { rank: CLICKS });
    const { items, ranking: applied } = await useCases.rank(request, contextOf(ranking()));
    expect(items).toMatchObject([
      { itemId: 'i2', rank: 1, score: -3 },
      { itemId: 'i4', rank: 2, score: -5 },
      { itemId: 'i1', rank: 0, score: -2, ranking: { heads: { click: headOf(0, 1) } } },
      { itemId: 'gone', rank: 0 },
    ]);
    expect(items[2]).not.toHaveProperty('ranking.value');
    expect(applied).toMatchObject({ items: 3, leftOut: 1 });
    expect(engine.scoreRequests[0]?.sids).toEqual([[1], [4], [2]]);
  });

  it('are left out without the score that counts, of an item that ended meanwhile', async () => {
    const { engine, useCases } = world();
    const score = engine.score.bind(engine);
    engine.score = async (request, signal) => {
      const { scores, ...answer } = await score(request, signal);
      return Object.assign(answer, { scores: [undefined, ...scores.slice(1)] });
    };
    const request = named(['i2', 'i4'], { rank: CLICKS });
    const { items, ranking: applied } = await useCases.rank(request, contextOf(ranking()));
    expect(items.map(({ itemId, rank }) => [itemId, rank])).toEqual([
      ['i4', 1],
      ['i2', 0],
    ]);
    expect(items[1]).not.toHaveProperty('ranking.value');
    expect(applied.leftOut).toBe(1);
  });

  it('have scores where a head weighs them, and no such head without', async () => {
    const { engine, useCases } = world();
    const score = engine.score.bind(engine);
    engine.score = async (request, signal) => {
      const { scores, ...answer } = await score(request, signal);
      return Object.assign(answer, { scores: [undefined, ...scores.slice(1)] });
    };
    const reads = contextOf(ranking({}, '<{sid}>', [1, 0]));
    const { items } = await useCases.rank(named(['i2', 'i0', 'i4']), reads);
    expect(items).toMatchObject([
      { itemId: 'i0', rank: 1, score: -1 },
      { itemId: 'i4', rank: 2, score: -5 },
      { itemId: 'i2', rank: 0, ranking: { heads: { dwell: headOf(1, 2) } } },
    ]);
    expect(items[2]).not.toHaveProperty('ranking.heads.click');
  });

  it('ask for no scores where the ranking is refused', async () => {
    const { engine, useCases } = world();
    const late = new TesseraError('DEADLINE_EXCEEDED', 'the deadline has passed');
    engine.rank = () => Promise.reject(late);
    const answer = useCases.rank(named(['i1'], { rank: CLICKS }), contextOf(ranking()));
    await expect(answer).rejects.toBe(late);
    expect(engine.scoreRequests).toEqual([]);
  });

  it('have scores in as many requests as it takes', async () => {
    const { engine, useCases } = world({ scoreItemsMax: 2 });
    const request = named(['i1', 'i4', 'i2'], { rank: CLICKS });
    const { items } = await useCases.rank(request, contextOf(ranking()));
    expect(items.map(({ itemId, score }) => [itemId, score])).toEqual([
      ['i2', -3],
      ['i4', -5],
      ['i1', -2],
    ]);
    expect(engine.scoreRequests.map(({ sids }) => sids)).toEqual([[[1], [4]], [[2]]]);
  });

  it('are answered where none of them is known', async () => {
    const { engine, useCases } = world();
    const { items, promptTokens } = await useCases.rank(named(['x', 'y']), contextOf(ranking()));
    expect(items.map(({ failure }) => failure?.code)).toEqual(['ITEM_NOT_FOUND', 'ITEM_NOT_FOUND']);
    expect(promptTokens).toBeGreaterThan(0);
    expect(engine.rankRequests).toEqual([]);
  });

  it('are read with texts of their own', async () => {
    const { engine, useCases } = world();
    await useCases.rank(named(['i2', 'i0']), contextOf(ranking({}, '{sid}{title}')));
    const texts = engine.rankRequests[0]?.ranking.suffixes.map((one) =>
      String.fromCharCode(...one),
    );
    expect(texts).toEqual(['item 2', 'item 0']);
  });

  it.each([
    [{ itemIds: [] }, 'itemIds: itemIds: expected 1..16384 items, got 0'],
    [
      { itemIds: Array.from({ length: 16_385 }, (_, at) => `i${at}`) },
      'itemIds: itemIds: expected 1..16384 items, got 16385',
    ],
    [{ itemIds: ['a', 'b', 'a'] }, 'itemIds[2]: itemIds[2]: expected each item once, got "a"'],
    [{ itemIds: ['a', ''] }, 'itemIds[1]: itemIds[1]: expected 1..1024 characters, got 0'],
    [{ rank: { adapter: '', items: 3 } }, 'rank.items: rank.items: expected none beside itemIds'],
    [{ history: ['i0'], userId: 'u' }, 'userId: userId: expected exactly one of userId and'],
  ])('%# are refused with their path', async (change, message) => {
    const answer = world().useCases.rank(named(['i0'], change), contextOf(ranking()));
    expect(await refusal(answer)).toContain(`REQUEST_INVALID ${message}`);
  });
});
