import { MemoryBehaviourStore, Popularity, type User } from '@tessera/behaviour';
import { Erasures } from '@tessera/erasure';
import { TesseraError } from '@tessera/errors';
import { CompiledTemplate, loadTokenizer, parseTemplate, type Tokenizer } from '@tessera/prompt';
import {
  type ExplainRequest,
  type RecallParts,
  type RecallRequest,
  readEligibility,
  type ScoreRequest,
  type ScoreTarget,
  UseCases,
} from '@tessera/recall';
import {
  byteLevelTokenizer,
  FakeCatalogue,
  FakeEngine,
  levelTokenTexts,
  temporaryFolder,
} from '@tessera/testing';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';

const LEVELS = ['<a_{code}>', '<b_{code}>'];
const SIZES = [4, 5];
const CATALOGUE = new FakeCatalogue(
  Array.from({ length: 20 }, (_, index) => ({
    itemId: `i${index}`,
    // Items 18 and 19 share the SID of item 0.
    sid: index < 18 ? [index % 4, Math.floor(index / 4)] : [0, 0],
    title: `Item ${index}`,
    attributes: JSON.stringify({ domain: index % 2 === 0 ? 'ad' : 'video' }),
  })),
);
const USERS = new Map<string, User>([
  ['ann', { behaviours: behavioursOf(['i1', 'gone', 'i2']), profile: { age: '30', note: 'x' } }],
  ['cleo', { behaviours: behavioursOf(['i3', 'i1']), profile: {} }],
  ['new', { behaviours: [], profile: {} }],
]);

function behavioursOf(itemIds: readonly string[]) {
  return itemIds.map((itemId, time) => ({ itemId, action: 'click', time }));
}

const HISTORY_ONLY = {
  version: 1,
  name: 'plain',
  levels: LEVELS,
  segments: [{ text: 'Seen: ' }, { slot: 'history', separator: ', ' }, { text: '\n' }],
};
const WITH_SLOTS = {
  ...HISTORY_ONLY,
  name: 'slots',
  segments: [
    { slot: 'profile', key: 'age', before: 'Age ', after: '. ' },
    ...HISTORY_ONLY.segments,
    { slot: 'scene', key: 'daypart', before: 'At ', values: { evening: 'night' } },
  ],
};

let tokenizer: Tokenizer;
beforeAll(async () => {
  const added = levelTokenTexts(LEVELS, SIZES).filter((text) => text !== '<b_4>');
  const folder = temporaryFolder({ 'tokenizer.json': byteLevelTokenizer(added) });
  tokenizer = await loadTokenizer(folder.path);
  folder.remove();
});

const DEFAULTS: RecallParts['defaults'] = {
  search: 'beam',
  rowBudget: 0,
  resultCount: 5,
  historyItemsMax: 50,
  historyTrimPercent: 50,
  rememberedRecalls: 2,
};

function setUp(template: object = HISTORY_ONLY, change: Partial<RecallParts> = {}) {
  const engine = new FakeEngine();
  const compiled = new CompiledTemplate(parseTemplate(template), tokenizer, SIZES);
  const useCases = new UseCases({
    engine,
    catalogue: CATALOGUE,
    binding: engine.bind(CATALOGUE, compiled.levelTokens),
    template: compiled,
    behaviours: new MemoryBehaviourStore(USERS),
    erasures: new Erasures(),
    process: { node: 'n-1' },
    defaults: DEFAULTS,
    promptTokensMax: 200,
    widthMax: 32,
    resultCountMax: 100,
    scoreItemsMax: 10,
    ...change,
  });
  return { engine, useCases };
}

function request(change: Partial<RecallRequest> = {}): RecallRequest {
  return {
    requestId: 'r1',
    ...('userId' in change ? {} : { history: ['i1', 'i2'] }),
    profile: {},
    scene: {},
    resultCount: 0,
    widths: [],
    itemsPerSid: 0,
    skipUnknownItems: false,
    ...change,
  };
}

function context(budgetUs = 1e6, signal = new AbortController().signal) {
  return { signal, budgetUs };
}

describe('what is kept of a user', () => {
  it('comes to the device from the arrival on, and the request takes it over', async () => {
    const { useCases, engine } = setUp(WITH_SLOTS);
    await useCases.recall(request({ userId: 'ann', scene: { daypart: 'evening' } }), context());
    expect(engine.prefetched).toEqual(['ann']);
    const kv = engine.requests[0]?.kv;
    expect(kv).toMatchObject({ userId: 'ann', prefixTokens: 0, prefetch: { ticket: 1 } });
    expect(kv?.keepTokens).toBeGreaterThan(0);
    expect(kv?.keepTokens).toBeLessThan(engine.requests[0]?.promptTokens.length ?? 0);
    expect(engine.released).toEqual([]);
  });

  it('is given up when the request fails before the engine was asked', async () => {
    const { useCases, engine } = setUp();
    const strict = request({ userId: 'nobody', requiresHistory: true });
    await expect(useCases.recall(strict, context())).rejects.toThrow();
    expect(engine.prefetched).toEqual(['nobody']);
    expect(engine.released).toEqual([1]);
  });

  it('is of the version alone where the service asks for itself', async () => {
    const { useCases, engine } = setUp();
    const own = { ...context(), isOwn: true };
    await useCases.recall(request({ userId: 'ann' }), context());
    await useCases.recall(request({ userId: 'ann' }), own);
    const { resultCount: _, widths: __, itemsPerSid: ___, ...user } = request({ userId: 'ann' });
    await useCases.append(user, own);
    const asked = [...engine.requests, ...engine.appendRequests];
    expect(asked.map(({ kv }) => kv?.wantsExact)).toEqual([false, true, true]);
  });

  it('is nothing but the static text for an explicit history', async () => {
    const { useCases, engine } = setUp();
    await useCases.recall(request(), context());
    expect(engine.prefetched).toEqual([]);
    const kv = engine.requests[0]?.kv;
    expect(kv?.userId).toBe('');
    expect(kv?.keepTokens).toBe(kv?.prefixTokens);
  });

  it('can be kept without a recall, of a user alone', async () => {
    const { useCases, engine } = setUp();
    const { resultCount: _, widths: __, itemsPerSid: ___, ...user } = request({ userId: 'ann' });
    const answer = await useCases.append(user, context());
    expect(answer).toMatchObject({ requestId: 'r1', historyItems: 2, skippedItems: 1 });
    const [asked] = engine.appendRequests;
    expect(asked?.priority).toBe('low');
    expect(asked?.kv?.keepTokens).toBe(answer.keptTokens);
    expect(asked?.promptTokens).toHaveLength(answer.keptTokens + 1);
    const history = { ...user, userId: undefined, history: ['i1'] };
    const { userId: ____, ...explicit } = history;
    await expect(useCases.append(explicit, context())).rejects.toMatchObject({ field: 'userId' });
  });
});

describe('a recall', () => {
  it('answers items with SID, score, rank and title, best first', async () => {
    const { useCases, engine } = setUp();
    const answer = await useCases.recall(request({ resultCount: 7 }), context());
    expect(answer.items).toHaveLength(7);
    expect(answer.short).toBe(false);
    answer.items.forEach((item, index) => {
      const source = CATALOGUE.list.find((listed) => listed.itemId === item.itemId);
      expect(item).toMatchObject({ rank: index + 1, sid: source?.sid, title: source?.title });
      if (index > 0) expect(item.score).toBeLessThanOrEqual(answer.items[index - 1]?.score ?? 0);
    });
    const tokens = tokenizer.encode('Seen: <a_1><b_0>, <a_2><b_0>\n');
    expect([...(engine.requests[0]?.promptTokens ?? [])]).toEqual(tokens);
    expect(answer).toMatchObject({ requestId: 'r1', historyItems: 2, promptTokens: tokens.length });
  });

  it('fills in defaults and raises the default width to the result count', async () => {
    const { useCases, engine } = setUp(HISTORY_ONLY, { widthMax: 80 });
    await useCases.recall(request(), context());
    await useCases.recall(request({ resultCount: 60 }), context());
    await useCases.recall(request({ resultCount: 90 }), context());
    const [first, second, third] = engine.requests;
    expect(first).toMatchObject({ resultCount: 5, widths: [50], itemsPerSid: 0 });
    expect(first?.scoreNorm).toBe('full');
    expect(second?.widths).toEqual([60]);
    expect(third?.widths).toEqual([80]);
  });

  it('is certified or a beam, by what it names, its widths or the configuration', async () => {
    const certified = setUp(HISTORY_ONLY, { defaults: { ...DEFAULTS, search: 'certified' } });
    const ask = (change: Partial<RecallRequest>) =>
      certified.useCases.recall(request(change), context());
    const answer = await ask({});
    expect(answer).toMatchObject({ search: 'certified', certified: true });
    expect(answer).not.toHaveProperty('gap');
    await ask({ resultCount: 20 });
    await ask({ rowBudget: 7 });
    expect(await ask({ widths: [2] })).toMatchObject({ search: 'beam', rows: 2 });
    await ask({ search: 'beam' });
    const budgets = certified.engine.requests.map(({ rowBudget }) => rowBudget);
    expect(budgets).toEqual([256 + 8 * 5, 256 + 8 * 20, 7, 0, 0]);
    const fixed = { ...DEFAULTS, search: 'certified', rowBudget: 64 } as const;
    const other = setUp(HISTORY_ONLY, { defaults: fixed });
    await other.useCases.recall(request({ resultCount: 20 }), context());
    expect(other.engine.requests[0]?.rowBudget).toBe(64);
  });

  it('says by how much an item may be better where its rows are spent', async () => {
    const { useCases } = setUp();
    const asked = request({ search: 'certified', rowBudget: 1, itemsPerSid: 1 });
    const { certified, gap, rows, items } = await useCases.recall(asked, context());
    expect({ certified, rows }).toEqual({ certified: false, rows: 1 });
    expect(gap).toBeLessThanOrEqual(items.at(-1)?.score ?? Number.NaN);
  });

  it('says so when fewer items exist than were asked for', async () => {
    const answer = await setUp().useCases.recall(request({ resultCount: 50 }), context());
    expect(answer).toMatchObject({ short: true });
    expect(answer.items).toHaveLength(20);
  });

  it('makes a request ID where the caller gave none', async () => {
    const answer = await setUp().useCases.recall(request({ requestId: '' }), context());
    expect(answer.requestId).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('takes a known user, leaves out what left the catalogue, and merges the profile', async () => {
    const { useCases, engine } = setUp(WITH_SLOTS);
    const scene = { daypart: 'evening' };
    const answer = await useCases.recall(request({ userId: 'ann', scene }), context());
    expect(answer).toMatchObject({ historyItems: 2, skippedItems: 1 });
    const text = 'Age 30. Seen: <a_1><b_0>, <a_2><b_0>\nAt night';
    expect([...(engine.requests[0]?.promptTokens ?? [])]).toEqual(tokenizer.encode(text));
    await useCases.recall(request({ userId: 'ann', profile: { age: '31' } }), context());
    const other = 'Age 31. Seen: <a_1><b_0>, <a_2><b_0>\n';
    expect([...(engine.requests[1]?.promptTokens ?? [])]).toEqual(tokenizer.encode(other));
  });

  it.each([
    ['is not one of the template', '{"values": {"old": "old"}}', 'new'],
    ['is a token', '{}', '<a_1>'],
    ['makes a token with the text beside it', '{"before": "<"}', 'a_1>'],
  ])('leaves a stored value out that %s, and says it once', async (_, members, age) => {
    const segment = { slot: 'profile', key: 'age', after: '. ', ...JSON.parse(members) };
    const template = { ...HISTORY_ONLY, segments: [segment, ...HISTORY_ONLY.segments] };
    const user = { behaviours: behavioursOf(['i1']), profile: { age } };
    const told: string[] = [];
    const { useCases, engine } = setUp(template, {
      behaviours: new MemoryBehaviourStore(new Map([['bob', user]])),
      onUnusableProfile: (key) => told.push(key),
    });
    await useCases.recall(request({ userId: 'bob' }), context());
    await useCases.recall(request({ userId: 'bob' }), context());
    const text = tokenizer.encode('Seen: <a_1><b_0>\n');
    expect([...(engine.requests[1]?.promptTokens ?? [])]).toEqual(text);
    expect(told).toEqual(['age']);
    const refused = expect.objectContaining({ code: 'REQUEST_INVALID', field: 'profile.age' });
    const own = request({ userId: 'bob', profile: { age } });
    await expect(useCases.recall(own, context())).rejects.toEqual(refused);
    expect(() => useCases.checkProfile({ age })).toThrow(refused);
  });

  it('takes a profile to be stored that has a key which another template may show', () => {
    expect(() => setUp(WITH_SLOTS).useCases.checkProfile({ hair: '<a_1>' })).not.toThrow();
  });

  it.each<[string, Partial<RecallRequest>, number]>([
    ['a user who is new', { userId: 'new' }, 0],
    ['a user whom nobody knows', { userId: 'nobody' }, 0],
    ['an empty history', { history: [] }, 0],
    ['a history whose items have all ended', { history: ['q', 'r'] }, 2],
  ])('answers %s from profile and scene, and says so', async (_name, whose, skippedItems) => {
    const { useCases, engine } = setUp(WITH_SLOTS);
    const asked = request({ ...whose, skipUnknownItems: true, scene: { daypart: 'evening' } });
    const answer = await useCases.recall(asked, context());
    expect(answer).toMatchObject({ historyItems: 0, skippedItems, fallback: 'no-history' });
    const text = tokenizer.encode('Seen: \nAt night');
    expect([...(engine.requests[0]?.promptTokens ?? [])].slice(-text.length)).toEqual(text);
    // It is not the beginning of what the user's prompt will be.
    expect(engine.requests[0]?.kv?.userId).toBe('');
  });

  it('answers them with what is popular, obtainable and within the caps', async () => {
    const popularity = new Popularity(() => 1e12);
    for (const [itemId, count] of [
      ['i3', 4],
      ['i1', 6],
      ['gone', 9],
      ['i2', 5],
    ] as const) {
      for (let i = 0; i < count; i += 1) popularity.add(itemId, 1e12);
    }
    const { useCases, engine } = setUp(HISTORY_ONLY, {
      defaults: { ...DEFAULTS, withoutHistory: 'popular' },
      popularity,
    });
    const ask = (change: Partial<RecallRequest>) =>
      useCases.recall(request({ userId: 'nobody', ...change }), context());
    const answer = await ask({ attributes: ['none'] });
    expect(answer).toMatchObject({
      fallback: 'popular',
      short: true,
      promptTokens: 0,
      items: [{ itemId: 'i1', rank: 1, attributes: '{}' }, { itemId: 'i2' }, { itemId: 'i3' }],
    });
    expect(answer.items[1]?.score).toBeCloseTo(Math.log(5 / 24), 9);
    const denied = await ask({ eligibility: readEligibility({ denied: ['i1'] }), resultCount: 1 });
    expect(denied.items.map(({ itemId }) => itemId)).toEqual(['i2']);
    expect(denied.short).toBe(false);
    const recall = request({ userId: 'nobody', resultCount: 2 });
    const told = (itemId: string) => useCases.explain({ recall, itemId }, context());
    expect(await told('i2')).toMatchObject({ verdict: 'returned', rank: 2, fallback: 'popular' });
    expect(await told('i3')).toMatchObject({
      verdict: 'behind-results',
      score: expect.closeTo(Math.log(4 / 24), 9),
    });
    expect(await told('i0')).toMatchObject({ verdict: 'behind-results', fallback: 'popular' });
    expect(engine.requests).toEqual([]);
    expect(engine.released).toHaveLength(5);
    await expect(ask({ requiresHistory: true })).rejects.toMatchObject({ code: 'USER_NOT_FOUND' });
    expect((await ask({ userId: 'ann' })).fallback).toBe('');
  });

  it('refuses them where that is configured', async () => {
    const { useCases } = setUp(WITH_SLOTS, {
      defaults: { ...DEFAULTS, withoutHistory: 'refuse' },
    });
    const run = useCases.recall(request({ userId: 'nobody' }), context());
    await expect(run).rejects.toMatchObject({ code: 'USER_NOT_FOUND', field: 'userId' });
  });

  it('leaves out unknown items of a history where asked to, and counts them', async () => {
    const history = ['i1', 'none', 'i16', 'i2'];
    const answer = await setUp().useCases.recall(
      request({ history, skipUnknownItems: true }),
      context(),
    );
    expect(answer).toMatchObject({ historyItems: 2, skippedItems: 2 });
  });

  it('trims a history that the model cannot hold from its old end', async () => {
    const { useCases, engine } = setUp(HISTORY_ONLY, { promptTokensMax: 30 });
    const history = Array.from({ length: 40 }, (_, index) => `i${index % 16}`);
    const answer = await useCases.recall(request({ history }), context());
    expect(answer.promptTokens).toBeLessThanOrEqual(30);
    expect(answer.historyItems).toBeGreaterThan(0);
    expect(answer.trimmedItems).toBe(40 - answer.historyItems);
    const tokens = [...(engine.requests[0]?.promptTokens ?? [])];
    const newest = tokenizer.encode('<a_3><b_1>\n');
    expect(tokens.slice(-newest.length)).toEqual(newest);
  });

  it('begins prompts alike for a user of many behaviours, and tells what it left out', async () => {
    const log = behavioursOf(Array.from({ length: 120 }, (_, index) => `i${index % 16}`));
    const shared: number[] = [];
    let before: readonly number[] = [];
    for (let end = 50; end <= log.length; end++) {
      const behaviours = new MemoryBehaviourStore(
        new Map([['ann', { behaviours: log.slice(0, end), profile: {} }]]),
      );
      const { useCases, engine } = setUp(HISTORY_ONLY, { behaviours, promptTokensMax: 2000 });
      const answer = await useCases.recall(request({ userId: 'ann' }), context());
      expect(answer.historyItems + answer.trimmedItems).toBe(50);
      expect(answer.historyItems).toBeGreaterThanOrEqual(25);
      const { kv, promptTokens } = engine.requests[0] ?? {};
      const tokens = [...(promptTokens ?? [])].slice(0, kv?.keepTokens);
      const differs = tokens.findIndex((token, index) => token !== before[index]);
      shared.push((differs < 0 ? tokens.length : differs) / tokens.length);
      before = tokens;
    }
    // One behaviour is new at each visit: most visits find all that was there before.
    const whole = shared.filter((share) => share > 0.9).length;
    expect(whole / shared.length).toBeGreaterThan(0.8);
  });

  it('has stages that add up to no more than the total', async () => {
    const gate = Promise.resolve();
    const { useCases, engine } = setUp();
    engine.gate = gate;
    const { timings } = await useCases.recall(request(), context());
    expect(timings.featuresUs + timings.promptUs).toBeLessThanOrEqual(timings.totalUs);
    expect(timings).toMatchObject({ queueUs: 1, prefillUs: 2, exportUs: 6 });
  });
});

describe('a request', () => {
  const LONG = 'x'.repeat(2000);
  it.each<[string, Partial<RecallRequest>, string, string]>([
    ['resultCount', { resultCount: -3 }, 'REQUEST_INVALID', 'resultCount: expected 1..100, got -3'],
    ['resultCount', { resultCount: 1e9 }, 'REQUEST_INVALID', 'expected 1..100, got 1000000000'],
    ['resultCount', { resultCount: 101 }, 'REQUEST_INVALID', 'expected 1..100, got 101'],
    ['resultCount', { resultCount: 1.5 }, 'REQUEST_INVALID', 'expected 1..100, got 1.5'],
    ['resultCount', { resultCount: Number.NaN }, 'REQUEST_INVALID', 'got NaN'],
    ['itemsPerSid', { itemsPerSid: -1 }, 'REQUEST_INVALID', 'itemsPerSid: expected 1..100'],
    ['widths[1]', { widths: [4, 0] }, 'REQUEST_INVALID', 'widths[1]: expected 1..32, got 0'],
    ['widths[0]', { widths: [33] }, 'REQUEST_INVALID', 'widths[0]: expected 1..32, got 33'],
    [
      'widths',
      { search: 'certified', widths: [4] },
      'REQUEST_INVALID',
      'widths: expected none (search is certified), got 1 widths',
    ],
    [
      'rowBudget',
      { search: 'beam', rowBudget: 9 },
      'REQUEST_INVALID',
      'rowBudget: expected none (search is beam), got 9',
    ],
    [
      'rowBudget',
      { widths: [4], rowBudget: 9 },
      'REQUEST_INVALID',
      'rowBudget: expected none (search is beam), got 9',
    ],
    [
      'rowBudget',
      { search: 'certified', rowBudget: 65_537 },
      'REQUEST_INVALID',
      'rowBudget: expected 1..65536, got 65537',
    ],
    [
      'rowBudget',
      { search: 'certified', rowBudget: 0 },
      'REQUEST_INVALID',
      'rowBudget: expected 1..65536, got 0',
    ],
    ['widths', { widths: [1, 1, 1] }, 'REQUEST_INVALID', 'at most 2 widths, one per step, got 3'],
    ['history', { history: Array(51).fill('i1') }, 'REQUEST_INVALID', '0..50 items, got 51'],
    ['history[1]', { history: ['i1', ''] }, 'REQUEST_INVALID', 'history[1]: expected 1..1024'],
    ['history[0]', { history: [LONG] }, 'REQUEST_INVALID', 'history[0]: expected 1..1024'],
    ['history[2]', { history: ['i1', 'i2', 'q'] }, 'ITEM_NOT_FOUND', "item 'q' is not in the cat"],
    ['history[0]', { history: ['i16'] }, 'ITEM_NOT_FOUND', 'which the vocabulary cannot write'],
    [
      'history',
      { history: ['q'], skipUnknownItems: true, requiresHistory: true },
      'REQUEST_INVALID',
      'history: expected at least one item that the catalogue knows, got 1 others',
    ],
    [
      'userId',
      { userId: 'nobody', requiresHistory: true },
      'USER_NOT_FOUND',
      "userId: user 'nobody' is not known",
    ],
    ['userId', { userId: '' }, 'REQUEST_INVALID', 'userId: expected 1..256 characters, got 0'],
    ['userId', { userId: ' ' }, 'REQUEST_INVALID', 'userId: expected an ID that is not blank'],
    ['userId', { userId: LONG }, 'REQUEST_INVALID', 'userId: expected 1..256 characters'],
    ['userId', { userId: 'ann', history: ['i1'] }, 'REQUEST_INVALID', 'exactly one of userId'],
    [
      'userId',
      { userId: 'new', requiresHistory: true },
      'REQUEST_INVALID',
      'userId: expected a user with a behaviour whose item is in the catalogue',
    ],
    ['requestId', { requestId: LONG }, 'REQUEST_INVALID', 'requestId: expected at most 128'],
    ['scene.x', { scene: { x: '1' } }, 'REQUEST_INVALID', 'scene.x: expected no key'],
  ])('with a bad %s (%j) is refused', async (field, change, code, message) => {
    const { useCases, engine } = setUp();
    const refusal = expect(useCases.recall(request(change), context())).rejects;
    await refusal.toMatchObject({ code, field, message: expect.stringContaining(message) });
    expect(engine.requests).toHaveLength(0);
  });

  it('with a scene value outside the listed ones is refused by its path', async () => {
    const { useCases } = setUp(WITH_SLOTS);
    const run = useCases.recall(request({ scene: { daypart: 'noon' } }), context());
    await expect(run).rejects.toThrow("scene.daypart: expected one of evening, got 'noon'");
  });

  it.each([0, -1, Number.NEGATIVE_INFINITY])(
    'with %d us left is refused before any work',
    async (us) => {
      const { useCases, engine } = setUp();
      const run = useCases.recall(request({ history: ['unknown'] }), context(us));
      await expect(run).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
      expect(engine.requests).toHaveLength(0);
    },
  );

  it('whose caller has gone is refused before any work', async () => {
    const { useCases, engine } = setUp();
    const run = useCases.recall(request(), context(1e6, AbortSignal.abort()));
    await expect(run).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(engine.requests).toHaveLength(0);
  });

  it('whose caller goes away is cancelled in the engine', async () => {
    const { useCases, engine } = setUp();
    const caller = new AbortController();
    const asked = new Promise<void>((resolve) => {
      engine.gate = new Promise(() => resolve());
    });
    const run = useCases.recall(request(), context(1e6, caller.signal));
    await asked;
    setImmediate(() => caller.abort());
    await expect(run).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(engine.stats().cancelled).toBe(1);
  });

  it('gives the engine no more than what is left of its time', async () => {
    const { useCases, engine } = setUp();
    await useCases.recall(request(), context(5e6));
    expect(engine.requests[0]?.budgetUs).toBeLessThan(5e6);
    expect(engine.requests[0]?.budgetUs).toBeGreaterThan(0);
  });

  it('is answered or refused by a typed error, whatever its numbers are', async () => {
    const { useCases } = setUp();
    const number = fc.oneof(fc.integer(), fc.double(), fc.constantFrom(0, -0, 1e308));
    await fc.assert(
      fc.asyncProperty(number, fc.array(number, { maxLength: 3 }), number, async (n, widths, m) => {
        const change = { resultCount: n, widths, itemsPerSid: m };
        const outcome = await useCases.recall(request(change), context()).catch((error) => error);
        expect(outcome.code ?? 'REQUEST_INVALID').toBe('REQUEST_INVALID');
      }),
      { numRuns: 500, verbose: 1 },
    );
  });
});

describe('a request for scores', () => {
  const scoring = (items: ScoreTarget[]): ScoreRequest => {
    const { resultCount: _, widths: __, itemsPerSid: ___, ...source } = request();
    return { ...source, items };
  };

  it('answers each item in the order asked, with the score that a recall gives it', async () => {
    const { useCases, engine } = setUp();
    const recalled = await useCases.recall(request({ resultCount: 20, widths: [32] }), context());
    const items = [{ itemId: 'i7' }, { sid: [0, 0] }, { itemId: 'gone' }, { sid: [3, 4] }];
    const answer = await useCases.score(scoring(items), context());
    const known = recalled.items.find((item) => item.itemId === 'i7');
    expect(answer.items).toEqual([
      { itemId: 'i7', sid: known?.sid, outcome: 'scored', score: known?.score },
      expect.objectContaining({ itemId: '', sid: [0, 0], outcome: 'scored' }),
      { itemId: 'gone', sid: [], outcome: 'unknown' },
      { itemId: '', sid: [3, 4], outcome: 'unknown' },
    ]);
    expect(engine.scoreRequests[0]?.promptTokens).toEqual(engine.requests[0]?.promptTokens);
    expect(answer.versions).toEqual(recalled.versions);
  });

  it('is answered without the engine when it knows none of the items', async () => {
    const { useCases, engine } = setUp();
    const answer = await useCases.score(scoring([{ itemId: 'gone' }]), context());
    expect(answer.items).toEqual([{ itemId: 'gone', sid: [], outcome: 'unknown' }]);
    expect(engine.scoreRequests).toHaveLength(0);
  });

  it.each([
    [[], 'items'],
    [Array.from({ length: 11 }, () => ({ itemId: 'i1' })), 'items'],
    [[{ itemId: 'i1' }, { itemId: '' }], 'items[1].itemId'],
    [[{ sid: [] }], 'items[0].sid'],
    [[{ sid: [0, -1] }], 'items[0].sid[1]'],
    [[{ sid: [0.5] }], 'items[0].sid[0]'],
  ])('is refused for %j, naming the field', async (items, field) => {
    const { useCases } = setUp();
    const run = useCases.score(scoring(items), context());
    await expect(run).rejects.toMatchObject({ code: 'REQUEST_INVALID', field });
  });
});

describe('an erasure', () => {
  const cancelled = { code: 'CANCELLED', message: expect.stringContaining('erased') };

  /** Ann is erased whenever her history has just been read. */
  class ErasedWhileRead extends MemoryBehaviourStore {
    constructor(private readonly erasures: Erasures) {
      super(USERS);
    }

    override async history(userId: string, limit: number) {
      const found = await super.history(userId, limit);
      if (userId === 'ann') this.erasures.note(userId);
      return found;
    }
  }

  it('keeps what was read before it from the engine, whoever asks', async () => {
    const erasures = new Erasures();
    const { useCases, engine } = setUp(HISTORY_ONLY, {
      erasures,
      behaviours: new ErasedWhileRead(erasures),
    });
    const ann = request({ userId: 'ann' });
    await expect(useCases.recall(ann, context())).rejects.toMatchObject(cancelled);
    await expect(useCases.append(ann, context())).rejects.toMatchObject(cancelled);
    const scored = { ...ann, items: [{ itemId: 'i7' }] };
    await expect(useCases.score(scored as never, context())).rejects.toMatchObject(cancelled);
    const explained = useCases.explain({ recall: ann, itemId: 'i7' }, context());
    await expect(explained).rejects.toMatchObject(cancelled);
    expect([engine.requests, engine.scoreRequests, engine.appendRequests]).toEqual([[], [], []]);
    expect(engine.released).toHaveLength(4);
    await expect(useCases.recall(request({ userId: 'cleo' }), context())).resolves.toBeDefined();
  });

  it('lets no answer be remembered that was computed meanwhile', async () => {
    const erasures = new Erasures();
    const { useCases, engine } = setUp(HISTORY_ONLY, { erasures });
    const asked = request({ userId: 'ann', requestId: 'asked' });
    const { versions } = await useCases.recall({ ...asked, requestId: 'other' }, context());
    engine.gate = Promise.resolve().then(() => {
      erasures.note('ann');
      useCases.forget('ann');
    });
    await expect(useCases.recall(asked, context())).rejects.toMatchObject(cancelled);
    engine.gate = undefined;
    for (const requestId of ['asked', 'other']) {
      const question = { recall: { ...asked, requestId }, itemId: 'i7', versions };
      const refusal = { code: 'REQUEST_INVALID', field: 'requestId' };
      await expect(useCases.explain(question, context())).rejects.toMatchObject(refusal);
    }
  });

  it('ends an explanation that goes on with a remembered prompt', async () => {
    const erasures = new Erasures();
    let during = () => {};
    const catalogue = Object.create(CATALOGUE, {
      judge: {
        value: async (...given: Parameters<typeof CATALOGUE.judge>) => {
          during();
          return CATALOGUE.judge(...given);
        },
      },
    }) as typeof CATALOGUE;
    const { useCases, engine } = setUp(HISTORY_ONLY, { erasures, catalogue });
    const asked = request({ userId: 'ann', requestId: 'asked' });
    const { versions } = await useCases.recall(asked, context());
    during = () => erasures.note('ann');
    const question = { recall: asked, itemId: 'i7', versions };
    await expect(useCases.explain(question, context())).rejects.toMatchObject(cancelled);
    expect(engine.requests).toHaveLength(1);
  });
});

describe('an explanation', () => {
  const about = (itemId: string, change: Partial<ExplainRequest> = {}): ExplainRequest => ({
    recall: request({ resultCount: 3 }),
    itemId,
    ...change,
  });

  it('is what the search tells of the item, or what the catalogue says without one', async () => {
    const { useCases, engine } = setUp();
    const { items, versions } = await useCases.recall(request({ resultCount: 3 }), context());
    const [, second] = items;
    const fate = await useCases.explain(about(second?.itemId ?? '', { versions }), context());
    expect(fate).toMatchObject({
      verdict: 'returned',
      rank: 2,
      score: second?.score,
      exactRank: 2,
      versions,
    });
    const before = engine.requests.length;
    expect(await useCases.explain(about('gone'), context())).toMatchObject({
      verdict: 'not-in-catalogue',
      sid: [],
      widthsUsed: [],
    });
    const eligibility = readEligibility({ denied: ['i7'] });
    const denied = { recall: request({ eligibility }) };
    expect(await useCases.explain(about('i7', denied), context())).toMatchObject({
      verdict: 'not-eligible',
      clause: 'denied',
    });
    expect(engine.requests).toHaveLength(before);
  });

  it('has the rank of the item among all that the request may get, or a bound of it', async () => {
    const { useCases, engine } = setUp();
    const { items } = await useCases.recall(request({ resultCount: 100, widths: [32] }), context());
    const narrow = { recall: request({ resultCount: 1, widths: [1] }) };
    const last = items.at(-1)?.itemId ?? '';
    const fate = await useCases.explain(about(last, narrow), context());
    expect(fate).toMatchObject({ verdict: 'behind-results', exactRank: items.length });
    expect(engine.requests.at(-1)).toMatchObject({ rowBudget: 16_384, resultCount: 100 });
    expect(engine.requests.at(-2)).toMatchObject({ rowBudget: 0, widths: [1], resultCount: 1 });
    const recall = engine.recall.bind(engine);
    const stopped = { certified: false, gap: (items[3]?.score ?? 0) - 1e-9 };
    engine.recall = async (asked, signal) => ({ ...(await recall(asked, signal)), ...stopped });
    const first = await useCases.explain(about(items[0]?.itemId ?? ''), context());
    expect(first).toMatchObject({ exactRank: 1 });
    const bounded = await useCases.explain(about(last), context());
    const certain = items.filter(({ score }) => score > stopped.gap).length;
    expect(bounded).toMatchObject({ rankAtLeast: certain + 1 });
    expect(bounded).not.toHaveProperty('exactRank');
  });

  it('has no rank where there was no time to prove one', async () => {
    const { useCases, engine } = setUp();
    const recall = engine.recall.bind(engine);
    engine.recall = async (asked, signal) => {
      if (asked.rowBudget) throw new TesseraError('DEADLINE_EXCEEDED', 'late');
      return recall(asked, signal);
    };
    const fate = await useCases.explain(about('i7'), context());
    expect(fate.verdict).not.toBe('not-in-catalogue');
    expect(fate).not.toHaveProperty('exactRank');
    expect(fate).not.toHaveProperty('rankAtLeast');
  });

  it('replays the history that the recall had, whatever the user has done since', async () => {
    const users = new Map([...USERS]);
    const { useCases, engine } = setUp(HISTORY_ONLY, {
      behaviours: new MemoryBehaviourStore(users),
    });
    const asked = request({ userId: 'ann', requestId: 'asked' });
    const { versions, historyItems } = await useCases.recall(asked, context());
    users.set('ann', { ...users.get('ann'), behaviours: [] } as never);
    const fate = await useCases.explain({ recall: asked, itemId: 'i7', versions }, context());
    expect(fate.historyItems).toBe(historyItems);
    expect(engine.requests.at(-1)?.promptTokens).toEqual(engine.requests.at(-2)?.promptTokens);
  });

  it('is refused for a recall that is not remembered, unless its history is given', async () => {
    const { useCases } = setUp();
    const asked = (requestId: string) => request({ userId: 'ann', requestId });
    const { versions } = await useCases.recall(asked('first'), context());
    await useCases.recall(asked('second'), context());
    await useCases.recall(asked('third'), context());
    const explain = (change: Partial<RecallRequest>) =>
      useCases.explain(about('i7', { versions, recall: request(change) }), context());
    await expect(explain({ userId: 'ann', requestId: 'first' })).rejects.toMatchObject({
      code: 'REQUEST_INVALID',
      field: 'requestId',
    });
    await expect(explain({ userId: 'bob', requestId: 'second' })).rejects.toMatchObject({
      code: 'REQUEST_INVALID',
      field: 'userId',
    });
    await expect(explain({ userId: 'ann', requestId: 'third' })).resolves.toMatchObject({
      versions,
    });
    await expect(explain({ history: ['i1'], requestId: 'x' })).resolves.toMatchObject({ versions });
  });

  it('is refused for a user who was forgotten, and for nobody else', async () => {
    const { useCases } = setUp();
    const { versions } = await useCases.recall(
      request({ userId: 'ann', requestId: 'a' }),
      context(),
    );
    await useCases.recall(request({ userId: 'cleo', requestId: 'b' }), context());
    useCases.forget('ann');
    const explain = (userId: string, requestId: string) =>
      useCases.explain(
        about('i7', { versions, recall: request({ userId, requestId }) }),
        context(),
      );
    await expect(explain('ann', 'a')).rejects.toMatchObject({ field: 'requestId' });
    await expect(explain('cleo', 'b')).resolves.toMatchObject({ versions });
  });

  it('is refused on versions that are not served, naming which', async () => {
    const { useCases } = setUp();
    const { versions } = await useCases.recall(request(), context());
    const other = (change: object) => about('i7', { versions: { ...versions, ...change } });
    for (const name of ['model', 'promptTemplate', 'catalogue']) {
      const run = useCases.explain(other({ [name]: 'another' }), context());
      const field = `versions.${name}`;
      await expect(run).rejects.toMatchObject({ code: 'REQUEST_INVALID', field });
    }
    const gone = useCases.explain(other({ catalogueSequence: 99 }), context());
    await expect(gone).rejects.toMatchObject({ code: 'CATALOGUE_NOT_FOUND' });
    const nameless = useCases.explain(about(''), context());
    await expect(nameless).rejects.toMatchObject({ code: 'REQUEST_INVALID', field: 'itemId' });
  });
});
