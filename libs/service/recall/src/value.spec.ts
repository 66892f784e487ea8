import { MemoryBehaviourStore, Popularity } from '@tessera/behaviour';
import type { Valuation as Formula } from '@tessera/engine';
import { Erasures } from '@tessera/erasure';
import { CompiledTemplate, loadTokenizer, parseTemplate } from '@tessera/prompt';
import { type RecallParts, type RecallRequest, readEligibility, UseCases } from '@tessera/recall';
import {
  byteLevelTokenizer,
  FakeChangingCatalogue,
  FakeEngine,
  levelTokenTexts,
  temporaryFolder,
} from '@tessera/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { recalledItems } from './domain/phases/searched-items.js';
import { appliedValuation, termNames, UNPROVED } from './domain/request/valuations.js';

const LEVELS = ['<a_{code}>'];
const BIDS = [0.5, undefined, 3, 1, 2];
const CATALOGUE = new FakeChangingCatalogue(
  BIDS.map((bid, code) => ({
    itemId: `i${code}`,
    sid: [code],
    attributes: JSON.stringify({ bid }),
  })),
);
const ECPM: Formula = {
  name: 'ecpm',
  scoreWeight: 1,
  terms: [
    {
      name: 'bid',
      attribute: 'bid',
      function: 'identity',
      weight: 1,
      min: 0,
      max: 0,
      byDefault: Number.NaN,
    },
  ],
  headTerms: [],
  floor: Number.NEGATIVE_INFINITY,
  bid: 'bid',
  pace: '',
};

let compiled: CompiledTemplate;
beforeAll(async () => {
  await CATALOGUE.valueBy([ECPM]);
  const tokens = byteLevelTokenizer(levelTokenTexts(LEVELS, [5]));
  const folder = temporaryFolder({ 'tokenizer.json': tokens });
  const segments = [{ text: 'Seen: ' }, { slot: 'history' }];
  const template = parseTemplate({ version: 1, name: 'v', levels: LEVELS, segments });
  compiled = new CompiledTemplate(template, await loadTokenizer(folder.path), [5]);
  folder.remove();
});

function useCases(change: Partial<RecallParts> = {}): UseCases {
  // By score alone the items come in the order of their codes.
  const engine = new FakeEngine({ score: ([code = 0]) => -1 - code });
  return new UseCases({
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
}

const CONTEXT = { signal: new AbortController().signal, budgetUs: 1e6 };
const asked = (change: Partial<RecallRequest>): RecallRequest => ({
  requestId: 'r',
  history: ['i0'],
  profile: {},
  scene: {},
  resultCount: 2,
  widths: [],
  itemsPerSid: 0,
  skipUnknownItems: true,
  ...change,
});
const BY_VALUE = { name: 'ecpm', weights: {} };
const recall = (change: Partial<RecallRequest>, parts: Partial<RecallParts> = {}) =>
  useCases(parts).recall(asked(change), CONTEXT);

describe('a recall by value', () => {
  it('has its items by value, what they are made of and what is left out', async () => {
    const { items, valuation, exploration, runnerUp } = await recall({ valuation: BY_VALUE });
    expect(runnerUp).toEqual({ item: 'i3', bid: 2 });
    expect(items).toMatchObject([
      { itemId: 'i2', score: -3, value: { value: 0, terms: { bid: 3 }, pace: 1, criticalBid: 1 } },
      { itemId: 'i0', score: -1, value: { value: -0.5, terms: { bid: 0.5 } } },
    ]);
    const applied = { name: 'ecpm', scoreWeight: 1, weights: { bid: 1 }, bestLeftOut: -3 };
    expect(valuation).toEqual(Object.assign(applied, { noPrices: '' }));
    expect(exploration).toBeUndefined();
    expect(items[0]).not.toHaveProperty('explored');
  });

  it('has weights and a floor of its own', async () => {
    const own = { name: 'ecpm', weights: { bid: 10 }, floor: 6 };
    const { items, valuation, short } = await recall({ valuation: own, resultCount: 5 });
    expect(items.map(({ itemId }) => itemId)).toEqual(['i2', 'i4', 'i3']);
    const formula = { name: 'ecpm', scoreWeight: 1, weights: { bid: 10 }, floor: 6 };
    expect(valuation).toEqual(Object.assign(formula, { noPrices: 'none-left-out' }));
    expect(short).toBe(true);
  });

  it('names terms as the formula orders them, whatever their names', () => {
    const [bid] = ECPM.terms;
    const named = ['bid', '7', 'constructor'].map((name) => Object.assign({}, bid, { name }));
    const formulas = [Object.assign({}, ECPM, { terms: named })];
    const applied = appliedValuation(BY_VALUE, formulas, UNPROVED);
    expect(applied.weights).toEqual({ bid: 1, '7': 1, constructor: 1 });
    const item = { path: 0, itemId: 'i', title: '', attributes: '', score: 0, ordinal: 0 };
    const worth = { value: 6, pace: 1, criticalBid: NaN, explored: false, propensity: NaN };
    const items = [Object.assign(item, worth)];
    const answer = { items, paths: [], itemTerms: Float32Array.of(1, 2, 3) } as never;
    const [found] = recalledItems(answer, termNames(BY_VALUE, formulas), false);
    expect(found?.value?.terms).toEqual({ bid: 1, '7': 2, constructor: 3 });
  });

  it('says nothing of values where it goes by score', async () => {
    const answer = await recall({});
    expect(answer.valuation).toBeUndefined();
    expect(answer.items[0]).not.toHaveProperty('value');
  });

  it.each([
    [{ name: 'x', weights: {} }, "valuation.name: expected one of ecpm, got 'x'"],
    [
      { name: 'ecpm', weights: { q: 1 } },
      'valuation.weights.q: expected a term of ecpm (bid), got another',
    ],
    [{ name: 'ecpm', weights: { bid: NaN } }, 'valuation.weights.bid: expected a finite number'],
    [{ name: 'ecpm', weights: { bid: 0 } }, 'valuation.weights.bid: expected above 0'],
    [{ name: 'ecpm', weights: {}, scoreWeight: -1 }, 'valuation.scoreWeight: expected 0 or more'],
    [{ name: 'ecpm', weights: {}, floor: -Infinity }, 'valuation.floor: expected a finite number'],
  ])('is refused as %j', async (valuation, message) => {
    await expect(recall({ valuation })).rejects.toThrow(message);
  });

  it('orders what is popular by value for a user without history, and claims nothing', async () => {
    const popularity = new Popularity(() => 1e12);
    for (const itemId of ['i0', 'i1', 'i1', 'i3']) popularity.add(itemId, 1e12);
    const change = { userId: 'new', valuation: BY_VALUE, explore: { slots: 1 } };
    const { history: _, ...request } = asked(change);
    const answer = await useCases({ popularity }).recall(request, CONTEXT);
    expect(answer).toMatchObject({ fallback: 'popular', certified: false });
    expect(answer.items.map(({ itemId }) => itemId)).toEqual(['i3', 'i0']);
    expect(answer.items[0]?.value).toMatchObject({ terms: { bid: 1 } });
    expect(answer.valuation).not.toHaveProperty('bestLeftOut');
    expect(answer.valuation).toMatchObject({ noPrices: 'popular' });
    expect(answer.exploration).toMatchObject({ slots: 1, noPropensities: 'popular' });
    expect(answer.items[0]).toMatchObject({ explored: false });
    expect(answer.items[0]).not.toHaveProperty('propensity');
  });

  it('is explained: what the item is worth, its rank by value, and why it has none', async () => {
    const explain = (itemId: string) =>
      useCases().explain({ recall: asked({ valuation: BY_VALUE }), itemId }, CONTEXT);
    expect(await explain('i0')).toMatchObject({
      verdict: 'returned',
      rank: 2,
      exactRank: 2,
      value: { value: -0.5, terms: { bid: 0.5 } },
      excludedItems: 1,
    });
    expect(await explain('i1')).toMatchObject({ verdict: 'no-value', attribute: 'bid' });
    // Its bid of 1 and the 2.5 by which the last item of the answer is worth more.
    expect(await explain('i3')).toMatchObject({
      verdict: 'behind-results',
      value: { value: -3, terms: { bid: 1 } },
      neededBid: 3.5,
    });
    const floored = asked({ valuation: { ...BY_VALUE, floor: -2.75 } });
    const below = await useCases().explain({ recall: floored, itemId: 'i3' }, CONTEXT);
    expect(below).toMatchObject({
      verdict: 'below-floor',
      cutScore: -2.75,
      value: { value: -3, pace: 1 },
    });
    expect(below.value).not.toHaveProperty('criticalBid');
  });

  it('has the values that scores have', async () => {
    const { resultCount: _, widths: __, itemsPerSid: ___, ...source } = asked({});
    const items = [{ itemId: 'i2' }, { itemId: 'i1' }, { itemId: 'gone' }, { sid: [2] }];
    const scored = await useCases().score({ ...source, items, valuation: BY_VALUE }, CONTEXT);
    expect(scored.items.map(({ value }) => value?.value)).toEqual([
      0,
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe('a recall that explores', () => {
  it('marks drawn places, with their propensities, and says the seed', async () => {
    const { items, exploration } = await recall({ explore: { slots: 1 } });
    expect(items).toMatchObject([
      { itemId: 'i0', explored: false, propensity: 1 },
      { itemId: 'i1', explored: true, propensity: 0.5 },
    ]);
    expect(exploration).toMatchObject({ slots: 1, temperature: 1, noPropensities: '' });
    expect(Number.isSafeInteger(exploration?.seed)).toBe(true);
    const half = await recall({ explore: { share: 0.5, seed: 7 }, resultCount: 3 });
    expect(half.exploration).toMatchObject({ slots: 2, seed: 7 });
    const some = await recall({ explore: { share: 0.07 }, resultCount: 100 });
    expect(some.exploration).toMatchObject({ slots: 7 });
  });

  it('draws among the items of a predicate', async () => {
    const drawn = readEligibility({ drawn: { attribute: 'bid', min: 1 } });
    const { exploration } = await recall({ explore: { slots: 1 }, eligibility: drawn });
    expect(exploration).toMatchObject({ slots: 1, noPropensities: 'part' });
    await expect(recall({ eligibility: drawn })).rejects.toThrow(
      'eligibility.drawn: expected nothing without explore, got a predicate',
    );
  });

  it('has no propensities by a beam, and says so', async () => {
    const { items, exploration } = await recall({ explore: { slots: 2 }, search: 'beam' });
    expect(exploration).toMatchObject({ noPropensities: 'beam' });
    expect(items[0]).toMatchObject({ explored: true });
    expect(items[0]).not.toHaveProperty('propensity');
  });

  it.each([
    [{}, 'explore: expected slots or share, got neither'],
    [{ slots: 1, share: 0.5 }, 'explore: expected slots or share, got both'],
    [{ slots: 3 }, 'explore.slots: expected 1..2, which are wanted, got 3'],
    [{ slots: 0 }, 'explore.slots: expected 1..2'],
    [{ share: 1.5 }, 'explore.share: expected above 0 and at most 1, got 1.5'],
    [{ share: NaN }, 'explore.share: expected above 0'],
    [
      { slots: 1, temperature: 1e-300 },
      'explore.temperature: expected a finite number of at least 0.01, got 1e-300',
    ],
    [{ slots: 1, seed: 2 ** 53 }, 'explore.seed: expected 0..9007199254740991'],
  ])('is refused as %j', async (explore, message) => {
    await expect(recall({ explore })).rejects.toThrow(message);
  });

  it('is refused by a norm that does not sum to one', async () => {
    const message = 'scoreNorm: expected allowed (explore draws by what sums to one), got full';
    await expect(recall({ explore: { slots: 1 }, scoreNorm: 'full' })).rejects.toThrow(message);
  });
});
