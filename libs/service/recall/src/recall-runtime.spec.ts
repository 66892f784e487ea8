import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { behaviourOptions, usersOfFile } from '@tessera/behaviour';
import { type CatalogueChange, CHANGES_NOT_KEPT, clauseOf } from '@tessera/catalogue';
import { TesseraError } from '@tessera/errors';
import {
  type ItemPolicy,
  createRecallRuntime as openRuntime,
  type RecallRequest,
  type RecallRuntimeOptions,
  readEligibility,
} from '@tessera/recall';
import { closingEmpty, temporaryFolder, until } from '@tessera/testing';
import { afterEach, describe, expect, it } from 'vitest';

const FIXTURE = 'test/fixtures/parity/qwen3-tied';
const BASES = [3, 15, 27];
const BOS = 83;
const PARTS_AND_TOTAL = ['projectionsUs', 'attentionUs', 'totalUs'];

interface FixtureItem {
  readonly item_id: string;
  readonly sid: number[];
}
const ITEMS = readFileSync(join(FIXTURE, 'catalogue.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as FixtureItem);
const [RECORDED] = JSON.parse(readFileSync(join(FIXTURE, 'cases.json'), 'utf8'));

const TEMPLATE = {
  version: 1,
  name: 'tiny',
  levels: BASES.map((base) => ({ base })),
  segments: [{ text: 'bos' }, { slot: 'history' }],
};
const TOKENIZER = {
  added_tokens: [{ id: BOS, content: 'bos' }],
  normalizer: null,
  pre_tokenizer: { type: 'Whitespace' },
  model: { type: 'WordLevel', vocab: { '<unk>': 0, bos: BOS }, unk_token: '<unk>' },
};

const createRecallRuntime = async (options: RecallRuntimeOptions) =>
  closingEmpty(await openRuntime(options));
let folder = temporaryFolder({});
afterEach(() => folder.remove());

function options(files: Record<string, unknown> = {}): RecallRuntimeOptions {
  const copied = ['config.json', 'model.safetensors', 'catalogue.jsonl'].map((name) => [
    name,
    readFileSync(join(FIXTURE, name)),
  ]);
  folder = temporaryFolder({
    ...Object.fromEntries(copied),
    'prompt.json': TEMPLATE,
    'tokenizer.json': TOKENIZER,
    'users.json': { u: [ITEMS[0]?.item_id, ITEMS[1]?.item_id], v: ['gone'] },
    ...files,
  });
  return {
    modelPath: folder.path,
    computeType: 'f32',
    activationScalesPath: '',
    catalogueSources: [{ path: join(folder.path, 'catalogue.jsonl'), domain: '' }],
    titlesPath: '',
    behaviours: usersOfFile(join(folder.path, 'users.json')),
    cacheDir: join(folder.path, 'cache'),
    changes: CHANGES_NOT_KEPT,
    moreCatalogues: [],
    engine: {
      threadCount: 1,
      queueCapacity: 8,
      batchRequestsMax: 4,
      batchRowsMax: 1024,
      prefillChunkTokens: 16,
      passTimeTargetUs: 0,
      batching: 'continuous',
      kvBytesMax: 2 ** 30,
      promptTokensMax: 64,
      widthMax: 64,
      resultCountMax: 100,
      scoreItemsMax: 64,
    },
    recall: {
      search: 'beam',
      rowBudget: 0,
      resultCount: 10,
      historyItemsMax: 100,
      historyTrimPercent: 50,
      rememberedRecalls: 2,
    },
    process: { node: 'n-1' },
    onProgress: () => undefined,
  };
}

function request(change: Partial<RecallRequest>): RecallRequest {
  return {
    requestId: '',
    profile: {},
    scene: {},
    resultCount: 0,
    widths: [],
    itemsPerSid: 100,
    skipUnknownItems: false,
    ...change,
  };
}
const context = () => ({ signal: new AbortController().signal, budgetUs: 30e6 });

describe('the recall runtime on the native engine', () => {
  it('prompts with the tokens of the history and answers the recorded paths', async () => {
    const showsNothing = { ...TEMPLATE, segments: [{ text: 'bos' }, { slot: 'scene', key: 'x' }] };
    const runtime = await createRecallRuntime(options({ 'prompt.json': showsNothing }));
    const wish = { userId: 'v', resultCount: 100, widths: [50] };
    const answer = await runtime.serving.recall(request(wish), context());
    const sids = answer.items.map((item) => item.sid.join());
    expect([...new Set(sids)]).toEqual(
      RECORDED.expected.map((path: { sid: number[] }) => path.sid.join()),
    );
    expect(answer).toMatchObject({ promptTokens: 1, skippedItems: 1, short: true });
    await runtime.close();
  });

  it('names item, line and key where the vocabulary lacks a token of the catalogue', async () => {
    const highest = Math.max(...ITEMS.map(({ sid }) => sid[1] ?? 0));
    const line = ITEMS.findIndex(({ sid }) => sid[1] === highest) + 1;
    const ids = Array.from({ length: highest }, (_, code) => (BASES[1] ?? 0) + code);
    const levels = BASES.map((base, level) => (level === 1 ? { ids } : { base }));
    const wrong = options({ 'prompt.json': Object.assign({}, TEMPLATE, { levels }) });
    const { item_id: itemId } = ITEMS[line - 1] as FixtureItem;
    await expect(createRecallRuntime(wrong)).rejects.toMatchObject({
      code: 'CATALOGUE_INVALID',
      field: 'catalogue.path',
      message:
        'catalogue.path: expected codes that levels[1] of prompt.json has a token of the ' +
        `vocabulary for, got item "${itemId}" (${wrong.catalogueSources[0]?.path}, line ${line}) ` +
        `with sid[1] ${highest}`,
    });
  });

  it("has the same bits with the catalogue's part of the vocabulary", async () => {
    const whole = options();
    const cut = { ...whole, engine: { ...whole.engine, vocabulary: 'catalogue' as const } };
    const ask = request({ userId: 'u', scoreNorm: 'level' });
    const runtimes = [await createRecallRuntime(whole), await createRecallRuntime(cut)] as const;
    const [expected, answer] = [
      await runtimes[0].serving.recall(ask, context()),
      await runtimes[1].serving.recall(ask, context()),
    ];
    expect(answer.items).toEqual(expected.items);
    const unsaid = await runtimes[1].serving.recall(request({ userId: 'u' }), context());
    expect(unsaid.items).toEqual(expected.items);
    const [{ model: all }, { model }] = runtimes.map(({ facts }) => facts.summary) as [
      (typeof runtimes)[0]['facts']['summary'],
      (typeof runtimes)[0]['facts']['summary'],
    ];
    expect(all.headSize).toBe(all.vocabSize);
    expect(model.headSize).toBeLessThan(model.vocabSize);
    expect(model.weightBytes).toBeLessThan(all.weightBytes);
    expect(model.digest).toBe(all.digest);
    await expect(
      runtimes[1].serving.recall({ ...ask, scoreNorm: 'full' }, context()),
    ).rejects.toMatchObject({ code: 'REQUEST_INVALID', field: 'scoreNorm' });
    for (const runtime of runtimes) await runtime.close();
  });

  it('answers a user as it answers the same history', async () => {
    const runtime = await createRecallRuntime(options());
    const history = ITEMS.slice(0, 2).map((item) => item.item_id);
    const byUser = await runtime.serving.recall(request({ userId: 'u' }), context());
    const byHistory = await runtime.serving.recall(request({ history }), context());
    expect(byUser.items).toEqual(byHistory.items);
    expect(byUser.promptTokens).toBe(1 + 2 * BASES.length);
    expect(byUser.versions).toEqual(byHistory.versions);
    const { timings } = byUser;
    const stages = Object.entries(timings).filter(([name]) => !PARTS_AND_TOTAL.includes(name));
    const sum = stages.reduce((total, [, us]) => total + us, 0);
    expect(sum).toBeLessThanOrEqual(timings.totalUs);
    expect(await runtime.facts.sampleUserIds(5)).toEqual(['u', 'v']);
    expect(runtime.facts.engineStats().completed).toBe(2);
    await runtime.close();
  });

  it('cancels in the engine when the caller goes away, and serves the next', async () => {
    const runtime = await createRecallRuntime(options());
    const caller = new AbortController();
    const run = runtime.serving.recall(request({ userId: 'u' }), {
      ...context(),
      signal: caller.signal,
    });
    caller.abort();
    await expect(run).rejects.toMatchObject({ code: 'CANCELLED' });
    const answer = await runtime.serving.recall(request({ userId: 'u' }), context());
    expect(answer.items).toHaveLength(10);
    await runtime.close();
  });

  it('sees a change in the next answer, and again after the folder is opened anew', async () => {
    const kept = options();
    const changes = { ...CHANGES_NOT_KEPT, folder: join(folder.path, 'changes') };
    let runtime = await createRecallRuntime({ ...kept, changes });
    const ask = async () =>
      (await runtime.serving.recall(request({ userId: 'u' }), context())).items;
    const [best, second] = await ask();
    await runtime.operations.changesOf('').apply([
      { op: 'pause', itemId: best?.itemId ?? '' },
      {
        op: 'upsert',
        itemId: 'later',
        sid: second?.sid ?? [],
        title: 'Later',
        attributes: '{"country":"de"}',
        priority: 5,
      },
    ]);
    const changed = await ask();
    expect(changed[0]).toMatchObject({ itemId: 'later', title: 'Later', sid: second?.sid });
    expect(changed.map((item) => item.itemId)).not.toContain(best?.itemId);
    await runtime.operations.changesOf('').compact();
    expect(await ask()).toEqual(changed);
    await runtime.close();
    runtime = await createRecallRuntime({ ...kept, changes });
    expect(runtime.operations.changesOf('').state()).toMatchObject({ sequence: 2, cutBytes: 0 });
    expect(await ask()).toEqual(changed);
    await runtime.operations.changesOf('').rollBack(2);
    await runtime.operations.changesOf('').apply([{ op: 'resume', itemId: best?.itemId ?? '' }]);
    expect((await ask())[0]?.itemId).toBe(best?.itemId);
    await runtime.close();
  });

  it('recalls from a version that is pinned, also after a compaction', async () => {
    const changes = { ...CHANGES_NOT_KEPT, folder: join(folder.path, 'changes') };
    const runtime = await createRecallRuntime({ ...options(), changes });
    const asked = request({ userId: 'u', resultCount: 5 });
    const at = async (sequence: number) => {
      const pinned = await runtime.serving.pin(asked, sequence);
      return runtime.serving.recall(asked, { ...context(), pinned });
    };
    const before = await runtime.serving.recall(asked, context());
    const [best] = before.items;
    await runtime.operations.changesOf('').apply([{ op: 'remove', itemId: best?.itemId ?? '' }]);
    const after = await runtime.serving.recall(asked, context());
    expect(after.items.map(({ itemId }) => itemId)).not.toContain(best?.itemId);
    const pinned = await runtime.serving.pin(asked, 0);
    await runtime.operations.changesOf('').compact();
    // The same pin serves one recall after the other, and outlives the snapshot it was made of.
    for (let i = 0; i < 2; i++) {
      const old = await runtime.serving.recall(asked, { ...context(), pinned });
      expect(old.items).toEqual(before.items);
      expect(old.versions.catalogueSequence).toBe(0);
    }
    expect((await at(0)).items).toEqual(before.items);
    expect((await at(1)).items).toEqual(after.items);
    const eligibility = readEligibility({ denied: [before.items[1]?.itemId] });
    const denied = { ...asked, eligibility };
    const restricted = await runtime.serving.pin(denied, 0);
    const served = await runtime.serving.recall(denied, { ...context(), pinned: restricted });
    expect(served.items[1]?.itemId).toBe(before.items[2]?.itemId);
    await expect(runtime.serving.pin(asked, 9)).rejects.toMatchObject({
      code: 'CATALOGUE_NOT_FOUND',
    });
    const ofText = readEligibility({ predicate: { attribute: 'bid', in: ['1'] } });
    await runtime.operations
      .changesOf('')
      .apply([
        { op: 'set_attributes', itemId: before.items[2]?.itemId ?? '', attributes: '{"bid": 2}' },
      ]);
    await expect(runtime.serving.pin({ ...asked, eligibility: ofText }, 2)).rejects.toMatchObject({
      code: 'REQUEST_INVALID',
      field: 'eligibility.predicate',
    });
    await runtime.close();
  });

  it('finds what is eligible alone, by predicate and by lists', async () => {
    const runtime = await createRecallRuntime(options());
    const ask = async (eligibility: object) =>
      runtime.serving.recall(
        request({ userId: 'u', resultCount: 100, eligibility: readEligibility(eligibility) }),
        context(),
      );
    const all = (await ask({})).items.map((item) => item.itemId);
    const chosen = all.slice(2, 5);
    await runtime.operations
      .changesOf('')
      .apply(chosen.map((itemId) => ({ op: 'set_attributes', itemId, attributes: '{"bid": 2}' })));
    const predicate = { attribute: 'bid', min: 1 };
    const ids = (answer: { items: readonly { itemId: string }[] }) =>
      answer.items.map((item) => item.itemId);
    expect(ids(await ask({ predicate }))).toEqual(chosen);
    expect(ids(await ask({ predicate, seen: [chosen[0]] }))).toEqual(chosen.slice(1));
    expect(ids(await ask({ allowed: [all[7], all[1], 'gone'] }))).toEqual([all[1], all[7]]);
    expect(ids(await ask({ allowed: [] }))).toEqual([]);
    expect(ids(await ask({ predicate: { attribute: 'nobody has it', min: 1 } }))).toEqual([]);
    const wrong = ask({ predicate: { attribute: 'bid', in: ['much'] } });
    await expect(wrong).rejects.toMatchObject({
      code: 'REQUEST_INVALID',
      field: 'eligibility.predicate',
    });
    await runtime.close();
  });

  it('patches and pauses what a predicate lets pass, and the next recall sees it', async () => {
    const runtime = await createRecallRuntime(options());
    const changes = runtime.operations.changesOf('');
    const asked = request({ userId: 'u', resultCount: 100 });
    const { items } = await runtime.serving.recall(asked, context());
    const [first = '', second = '', third = ''] = items.map((item) => item.itemId);
    const mark = { set: '{"campaign":"x"}', unset: [], add: [], take: [], delta: [] };
    await changes.apply(
      [first, second].map((itemId) => ({ op: 'patch_attributes', itemId, patch: mark })),
    );
    const ofX = { itemId: '', predicate: clauseOf('in', { attribute: 'campaign', values: ['x'] }) };
    const spend = { ...mark, set: '', delta: [{ attribute: 'spent', delta: 2.5 }] };
    const applied = await changes.apply([
      { op: 'patch_attributes', ...ofX, patch: spend },
      { op: 'patch_attributes', itemId: third, patch: spend },
      { op: 'pause', ...ofX },
    ]);
    expect({ ...applied, matched: [...applied.matched] }).toMatchObject({
      sequence: 7,
      changeCount: 5,
      matched: [2, 2],
    });
    const eligibility = readEligibility({ predicate: { attribute: 'spent', min: 2.5 } });
    const after = await runtime.serving.recall({ ...asked, eligibility }, context());
    expect(after.items.map((item) => item.itemId)).toEqual([third]);
    expect(after.versions.catalogueSequence).toBe(7);
    const wrong = changes.apply([
      { op: 'resume', ...ofX },
      { op: 'patch_attributes', ...ofX, patch: { ...spend, set: '{"campaign":["x"]}' } },
    ]);
    await expect(wrong).rejects.toMatchObject({
      code: 'CATALOGUE_INVALID',
      field: 'changes[1].attributes.campaign',
      message: expect.stringContaining('item "'),
    });
    expect(changes.state().sequence).toBe(7);
    await runtime.close();
  });

  it('refuses attributes that are not declared, and says what was meant', async () => {
    const declared = { campaign: { type: 'text', values: ['x', 'y'] }, spent: { type: 'number' } };
    const undeclared: string[] = [];
    const made = options({
      'attributes.json': declared,
      'catalogue.jsonl': ITEMS.map((item) =>
        JSON.stringify({ ...item, attributes: { campain: 'x' } }),
      ).join('\n'),
    });
    const runtime = await createRecallRuntime({
      ...made,
      changes: {
        ...CHANGES_NOT_KEPT,
        attributesPath: join(folder.path, 'attributes.json'),
        onUndeclared: (_, findings) => undeclared.push(...findings),
      },
    });
    expect(undeclared).toEqual([
      'attributes.campain: expected a declared attribute, got "campain", did you mean "campaign"?',
    ]);
    const changes = runtime.operations.changesOf('');
    const itemId = ITEMS[0]?.item_id ?? '';
    const set = (attributes: string) =>
      changes.apply([{ op: 'set_attributes', itemId, attributes }]);
    await set('{"campaign":"x","spent":1}');
    await expect(set('{"campaign":"z"}')).rejects.toMatchObject({
      code: 'CATALOGUE_INVALID',
      field: 'changes[0].attributes.campaign',
    });
    const ask = (predicate: object) =>
      runtime.serving.recall(
        request({ userId: 'u', eligibility: readEligibility({ predicate }) }),
        context(),
      );
    const { items } = await ask({ attribute: 'campaign', in: ['x', 'y'] });
    expect(items.map((item) => item.itemId)).toEqual([itemId]);
    await expect(ask({ attribute: 'campagn', in: ['x'] })).rejects.toMatchObject({
      code: 'REQUEST_INVALID',
      message: expect.stringContaining('did you mean "campaign"?'),
    });
    await runtime.close();
  });

  it('finds items in their flight alone, by the clock, with and without eligibility', async () => {
    let nowMs = 5000;
    const flight = { begin: 'begin_ms', end: 'end_ms' };
    const changes = { ...CHANGES_NOT_KEPT, flight, nowMs: () => nowMs };
    const runtime = await createRecallRuntime({ ...options(), changes });
    const ask = async (eligibility?: object) => {
      const more = eligibility === undefined ? {} : { eligibility: readEligibility(eligibility) };
      const asked = request({ userId: 'u', resultCount: 100, ...more });
      const { items } = await runtime.serving.recall(asked, context());
      return items.map((item) => item.itemId);
    };
    const [first = '', second = ''] = await ask();
    const flights = { [first]: '{"begin_ms":7000}', [second]: '{"end_ms":7000}' };
    const op = 'set_attributes' as const;
    const set = Object.entries(flights).map(([itemId, attributes]) => ({ op, itemId, attributes }));
    await runtime.operations.changesOf('').apply(set);
    const both = { allowed: [first, second] };
    for (const [time, away, found] of [
      [5000, first, second],
      [6999, first, second],
      [7000, second, first],
    ] as const) {
      nowMs = time;
      for (const items of [await ask(), await ask({ predicate: { all: [] } })]) {
        expect(items).toContain(found);
        expect(items).not.toContain(away);
      }
      expect(await ask(both)).toEqual([found]);
      const asked = request({ userId: 'u', scoreNorm: 'allowed', resultCount: 100 });
      const { items } = await runtime.serving.recall(asked, context());
      const scores = new Map(items.map(({ itemId, score }) => [itemId, score]));
      const scoring = { ...asked, items: both.allowed.map((itemId) => ({ itemId })) };
      const scored = (await runtime.serving.score(scoring, context())).items;
      expect(scored.map(({ score }) => score)).toEqual(both.allowed.map((id) => scores.get(id)));
    }
    const recall = request({ userId: 'u', resultCount: 100 });
    const fate = await runtime.serving.explain({ recall, itemId: second }, context());
    expect(fate).toMatchObject({ verdict: 'not-eligible', clause: 'flight' });
    await runtime.close();
  });

  it('chooses items of a SID by the policy that the request gives, and says so', async () => {
    const runtime = await createRecallRuntime(options());
    const wide = { userId: 'u', resultCount: 40 };
    const { items: before } = await runtime.serving.recall(request(wide), context());
    const [sid] = before.map((item) => item.sid);
    const ads = [1, 3, 2].map((bid, index) => ({
      op: 'upsert' as const,
      itemId: `ad-${index}`,
      sid: sid ?? [],
      title: '',
      attributes: JSON.stringify({ bid, campaign: index === 1 ? 'one' : 'two' }),
      priority: -index,
    }));
    await runtime.operations.changesOf('').apply(ads);
    const ask = async (itemPolicy: ItemPolicy | undefined) => {
      const change = itemPolicy === undefined ? {} : { itemPolicy };
      const answer = await runtime.serving.recall(request({ ...wide, ...change }), context());
      const ids = answer.items.map((item) => item.itemId).filter((id) => id.startsWith('ad-'));
      return { ids, applied: answer.itemPolicy };
    };
    expect((await ask(undefined)).ids).toEqual(['ad-0', 'ad-1', 'ad-2']);
    expect((await ask({ orderBy: 'bid', diversity: [] })).ids).toEqual(['ad-1', 'ad-2', 'ad-0']);
    const diversity = [{ attribute: 'campaign', maxItems: 1 }];
    const capped = await ask({ orderBy: 'bid', diversity });
    expect(capped).toEqual({
      ids: ['ad-1', 'ad-2'],
      applied: {
        orderBy: 'bid',
        diversity,
        itemsPerSid: 100,
        resultCount: 40,
        leftOutByDiversity: 1,
      },
    });
    const recall = request({ ...wide, itemPolicy: { orderBy: 'bid', diversity } });
    const fate = await runtime.serving.explain({ recall, itemId: 'ad-0' }, context());
    expect(fate).toMatchObject({ verdict: 'behind-diversity-cap', attribute: 'campaign' });
    const wrong: [ItemPolicy, string][] = [
      [{ orderBy: 'campaign', diversity: [] }, 'itemPolicy.orderBy'],
      [
        { orderBy: '', diversity: [{ attribute: 'bid', maxItems: 1 }] },
        'itemPolicy.diversity[0].attribute',
      ],
      [
        { orderBy: '', diversity: [{ attribute: 'campaign', maxItems: 0 }] },
        'itemPolicy.diversity[0].maxItems',
      ],
      [
        { orderBy: '', diversity: [...diversity, ...diversity] },
        'itemPolicy.diversity[1].attribute',
      ],
    ];
    for (const [policy, field] of wrong) {
      await expect(ask(policy)).rejects.toMatchObject({ code: 'REQUEST_INVALID', field });
    }
    await runtime.close();
  });

  it('takes items of a SID a second time only where others do not fill the answer', async () => {
    // Three SIDs of 1, 2 and 9 items.
    const sids = ITEMS.slice(0, 3).map(({ sid }) => sid);
    const counts = [1, 2, 9];
    const lines = counts.flatMap((count, at) =>
      Array.from({ length: count }, (_, i) => ({
        item_id: `${at}-${i}`,
        sid: sids[at],
        attributes: { at, name: `n${i}`, tags: ['x'] },
      })),
    );
    const catalogue = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    const files = { 'catalogue.jsonl': catalogue, 'users.json': { u: ['2-0'] } };
    const runtime = await createRecallRuntime(options(files));
    const ask = (resultCount: number, itemsPerSid = 0, attributes: string[] = []) =>
      runtime.serving.recall(
        request({ userId: 'u', resultCount, itemsPerSid, attributes, widths: [16] }),
        context(),
      );
    // The smallest power of two, at most the count, that fills the answer: by brute force.
    for (let wanted = 1; wanted <= 14; wanted += 1) {
      const { items, itemPolicy, short } = await ask(wanted);
      const filled = (cap: number) => counts.reduce((sum, n) => sum + Math.min(n, cap), 0);
      let cap = 1;
      while (cap < wanted && filled(cap) < wanted) cap = Math.min(2 * cap, wanted);
      expect(itemPolicy.itemsPerSid).toBe(cap);
      expect(items).toHaveLength(Math.min(wanted, filled(cap)));
      expect(short).toBe(wanted > 12);
      const same = await ask(wanted, cap);
      expect(same.items).toEqual(items);
    }
    const { items } = await ask(3, 0, ['tags', 'at', 'none']);
    expect(new Set(items.map(({ sid }) => sid.join())).size).toBe(3);
    for (const { itemId, attributes } of items) {
      expect(attributes).toBe(`{"tags":["x"],"at":${itemId[0]}}`);
    }
    expect((await ask(3)).items[0]?.attributes).toBe('');
    await expect(ask(1, 0, Array(17).fill('a'))).rejects.toMatchObject({ field: 'attributes' });
    await expect(ask(1, 0, ['a', 'a'])).rejects.toMatchObject({ field: 'attributes[1]' });
    await runtime.close();
  });

  it('answers users without history with what is popular, live and eligible', async () => {
    const [first, second, third] = ITEMS.map((item) => item.item_id) as [string, string, string];
    const time = Math.floor(Date.now() / 1000);
    const liked = (itemId: string, times: number) =>
      Array.from({ length: times }, () => ({ item_id: itemId, time }));
    const users = { u: { behaviours: [...liked(first, 2), ...liked(second, 3)] } };
    const lines = ITEMS.map(({ item_id, sid }) =>
      JSON.stringify({ item_id, sid, attributes: { of: item_id } }),
    );
    const files = { 'catalogue.jsonl': lines.join('\n'), 'users.json': users };
    const opened = options(files);
    const popular = Object.assign({}, opened.recall, { withoutHistory: 'popular' });
    const runtime = await createRecallRuntime(Object.assign({}, opened, { recall: popular }));
    const { popularity } = runtime.operations;
    await until('counts', () => popularity?.itemCount === 2);
    for (let i = 0; i < 4; i += 1) popularity?.add(third, Date.now());
    const ask = async (json: object) => {
      const eligibility = readEligibility(json);
      const asked = { userId: 'nobody', eligibility, attributes: ['of'] };
      return runtime.serving.recall(request(asked), context());
    };
    const answer = await ask({});
    expect(answer).toMatchObject({ fallback: 'popular', versions: { catalogueSequence: 0 } });
    expect(answer.items.map(({ itemId }) => itemId)).toEqual([third, second, first]);
    expect(answer.items.map(({ attributes }) => attributes)).toEqual(
      [third, second, first].map((of) => JSON.stringify({ of })),
    );
    expect(answer.items[1]?.sid).toEqual(ITEMS[1]?.sid);
    await runtime.operations.changesOf('').apply([{ op: 'pause', itemId: second }]);
    const predicate = { any: [first, second].map((of) => ({ attribute: 'of', in: [of] })) };
    const left = await ask({ predicate });
    expect(left.items.map(({ itemId }) => itemId)).toEqual([first]);
    expect(left.versions.catalogueSequence).toBe(1);
    await runtime.close();
  });

  it('keeps from a user what they saw often enough, until time has passed', async () => {
    const campaigns = new Map(ITEMS.map(({ item_id }, i) => [item_id, `c${i % 5}`]));
    const lines = ITEMS.map(({ item_id, sid }) =>
      JSON.stringify({ item_id, sid, attributes: { campaign: campaigns.get(item_id), bid: 1 } }),
    );
    const nowS = 1_700_000_000;
    const [first, second, third] = ITEMS.map((item) => item.item_id) as [string, string, string];
    const seen = (item_id: string, ago: number, action = 'impression') => ({
      item_id,
      action,
      time: nowS - ago,
    });
    const behaviours = [
      seen(third, 90),
      seen(first, 30),
      seen(second, 20),
      seen(first, 10),
      seen(third, 5, 'click'),
    ];
    const users = { u: { behaviours } };
    const opened = options({ 'catalogue.jsonl': lines.join('\n'), 'users.json': users });
    let nowMs = nowS * 1000;
    const changes = { ...CHANGES_NOT_KEPT, nowMs: () => nowMs };
    const cap = { action: 'impression', maxBehaviours: 2, windowSeconds: 60, attribute: '' };
    const configured = Object.assign({}, opened.recall, { frequencyCaps: [cap] });
    const runtime = await createRecallRuntime({ ...opened, changes, recall: configured });
    // As few as the beam has room for: every one of them is found that may be had.
    const some = ITEMS.slice(0, 40);
    const eligibility = readEligibility({ allowed: some.map((item) => item.item_id) });
    const whole = { resultCount: 100, itemsPerSid: 100, widths: [64], eligibility };
    const ask = async (change: Partial<RecallRequest>) => {
      const answer = await runtime.serving.recall(request({ ...whole, ...change }), context());
      const itemIds = new Set(answer.items.map(({ itemId }) => itemId));
      const missing = some.flatMap(({ item_id }) => (itemIds.has(item_id) ? [] : [item_id]));
      expect(answer.cappedItems).toBe(missing.length);
      return { missing, answer };
    };
    const own = (change: Partial<typeof cap>) => [Object.assign({}, cap, change)];
    expect(await ask({ userId: 'u' })).toMatchObject({
      missing: [first],
      answer: { capsOutcome: 'exact' },
    });
    expect((await ask({ history: [first] })).missing).toEqual([]);
    expect((await ask({ userId: 'nobody' })).missing).toEqual([]);
    const once = own({ maxBehaviours: 1, windowSeconds: 90 });
    expect((await ask({ userId: 'u', frequencyCaps: once })).missing).toEqual([first, second]);
    const wrote = own({ action: 'imprssion' });
    const { unknownAttributes } = (await ask({ userId: 'u', frequencyCaps: wrote })).answer;
    expect(unknownAttributes).toEqual(['frequencyCaps[0].action: imprssion']);
    const campaign = own({ attribute: 'campaign' });
    const { missing, answer } = await ask({ userId: 'u', requestId: 'r', frequencyCaps: campaign });
    const same = some.filter(({ item_id }) => campaigns.get(item_id) === campaigns.get(first));
    expect(missing).toEqual(same.map(({ item_id }) => item_id));
    // The recall is explained as it was, whatever the clock says.
    nowMs += 50_000;
    const recall = request({ ...whole, userId: 'u', requestId: 'r', frequencyCaps: campaign });
    const why = (itemId: string, versions?: typeof answer.versions) =>
      runtime.serving.explain({ recall, itemId, ...(versions && { versions }) }, context());
    expect(await why(missing.at(-1) ?? '', answer.versions)).toMatchObject({
      verdict: 'not-eligible',
      clause: 'frequencyCaps[0]',
    });
    expect((await why(first)).verdict).toBe('returned');
    expect((await ask({ userId: 'u' })).missing).toEqual([]);
    nowMs -= 50_000;
    expect(await why(first)).toMatchObject({ clause: 'frequencyCaps[0]' });
    await expect(ask({ userId: 'u', frequencyCaps: own({ attribute: 'bid' }) })).rejects.toThrow(
      'frequencyCaps[0].attribute: expected a text',
    );
    await expect(ask({ history: [first], frequencyCaps: once })).rejects.toMatchObject({
      code: 'REQUEST_INVALID',
      field: 'frequencyCaps',
    });
    await runtime.close();
    const wrong = Object.assign({}, opened.recall, { frequencyCaps: own({ attribute: 'bid' }) });
    await expect(createRecallRuntime({ ...opened, recall: wrong })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      field: 'recall.frequencyCaps[0].attribute',
    });
    const never = Object.assign({}, opened.recall, { frequencyCaps: own({ maxBehaviours: 101 }) });
    await expect(createRecallRuntime({ ...opened, recall: never })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      field: 'recall.frequencyCaps[0].maxBehaviours',
    });
  });

  it('serves several catalogues, each with items and a begin of its own', async () => {
    const other = [
      { item_id: 'ad', sid: ITEMS[0]?.sid, priority: 1 },
      { item_id: ITEMS[0]?.item_id, sid: ITEMS[0]?.sid },
    ];
    const files = { 'ads.jsonl': other.map((line) => JSON.stringify(line)).join('\n') };
    const source = (path: string) => ({ path: join(folder.path, path), domain: '' });
    const first = options(files);
    const paths = { source: source('ads.jsonl'), attributesPath: '', valuationsPath: '' };
    const more = [Object.assign(paths, { name: 'ads', begin: 'bos' })];
    const changes = { ...CHANGES_NOT_KEPT, folder: join(folder.path, 'changes') };
    const runtime = await createRecallRuntime({ ...first, changes, moreCatalogues: more });
    const ask = async (catalogue: string) => {
      // Its codes are beyond those of the second catalogue.
      const far = ITEMS.find(({ sid }) => sid.some((code, l) => code > (other[0]?.sid?.[l] ?? 0)));
      const history = [far?.item_id ?? ''];
      return runtime.serving.recall(request({ history, catalogue, resultCount: 100 }), context());
    };
    const own = await ask('');
    const ads = await ask('ads');
    expect(ads.items.map(({ itemId }) => itemId).sort()).toEqual(['ad', ITEMS[0]?.item_id].sort());
    expect(own.items.map(({ itemId }) => itemId)).not.toContain('ad');
    // The history's item is of the first catalogue; the begin is one token more.
    expect(ads.promptTokens).toBe(own.promptTokens + 1);
    await runtime.operations.changesOf('ads').apply([{ op: 'pause', itemId: 'ad' }]);
    expect((await ask('ads')).items).toHaveLength(1);
    expect((await ask('')).items).toEqual(own.items);
    expect(runtime.operations.changesOf('').state().sequence).toBe(0);
    await expect(ask('other')).rejects.toMatchObject({
      code: 'REQUEST_INVALID',
      field: 'catalogue',
    });
    await runtime.close();
  });

  it('says of every item what the recall in question did with it', async () => {
    const kept = options();
    const changes = { ...CHANGES_NOT_KEPT, folder: join(folder.path, 'changes') };
    const runtime = await createRecallRuntime({ ...kept, changes });
    const asked = { userId: 'u', resultCount: 6, widths: [4, 8], itemsPerSid: 1 };
    const recall = request({ ...asked, requestId: 'asked' });
    const pause = { op: 'pause' as const, itemId: ITEMS[5]?.item_id ?? '' };
    await runtime.operations.changesOf('').apply([pause]);
    const { items, versions } = await runtime.serving.recall(recall, context());
    const expected = new Map(items.map((item) => [item.itemId, item]));
    const proved = { search: 'certified' as const, widths: [], rowBudget: 4096 };
    const wide = { ...recall, ...proved, resultCount: 100, itemsPerSid: 100 };
    const all = new Map(
      (await runtime.serving.recall(wide, context())).items.map((item) => [item.itemId, item]),
    );
    const best = items[0]?.itemId ?? '';
    await runtime.operations.changesOf('').apply([{ op: 'remove', itemId: best }]);
    const verdicts = new Set<string>();
    for (const { item_id: itemId, sid } of ITEMS) {
      const fate = await runtime.serving.explain({ recall, itemId, versions }, context());
      expect(fate).toMatchObject({ itemId, sid, versions });
      verdicts.add(fate.verdict);
      expect(fate.exactRank).toBe(all.get(itemId)?.rank ?? fate.exactRank);
      const returned = expected.get(itemId);
      expect(fate.verdict === 'returned').toBe(returned !== undefined);
      if (fate.verdict === 'returned') {
        expect(fate).toMatchObject({ rank: returned?.rank, score: returned?.score });
      } else if (fate.verdict === 'not-live') {
        expect(fate).toMatchObject({ itemId: ITEMS[5]?.item_id, notLiveSince: 1 });
      } else if (fate.verdict === 'pruned') {
        expect(fate.rank).toBeGreaterThan(fate.step === 0 ? 4 : 8);
        expect(fate.score).toBeLessThanOrEqual(fate.cutScore ?? Number.NaN);
        expect(fate.score).toBeGreaterThanOrEqual(all.get(itemId)?.score ?? -Infinity);
      }
    }
    expect([...verdicts]).toEqual(expect.arrayContaining(['returned', 'pruned', 'not-live']));
    const now = await runtime.serving.explain({ recall, itemId: best }, context());
    expect(now).toMatchObject({ verdict: 'not-live', notLiveSince: 2 });
    await runtime.close();
  });

  it('refuses a batch that breaks a rule, naming change and member', async () => {
    const runtime = await createRecallRuntime(options());
    const pause = { op: 'pause' as const, itemId: ITEMS[0]?.item_id ?? '' };
    const sid = ITEMS[0]?.sid ?? [];
    const upsert = { op: 'upsert' as const, sid, title: '', attributes: '', priority: 0 };
    const wrong: [CatalogueChange, string, string][] = [
      [{ op: 'pause', itemId: 'nobody' }, 'ITEM_NOT_FOUND', 'changes[1].itemId'],
      [{ ...upsert, itemId: 'x', sid: [1e6] }, 'CATALOGUE_INVALID', 'changes[1].sid[0]'],
      [{ ...upsert, itemId: 'x', attributes: '[' }, 'CATALOGUE_INVALID', 'changes[1].attributes'],
      [pause, 'CATALOGUE_INVALID', 'changes[1].itemId'],
    ];
    for (const [change, code, field] of wrong) {
      const applied = runtime.operations.changesOf('').apply([pause, change]);
      await expect(applied).rejects.toMatchObject({ code, field });
    }
    expect(runtime.operations.changesOf('').state().sequence).toBe(0);
    await expect(runtime.operations.changesOf('').compact()).rejects.toMatchObject({
      code: 'CATALOGUE_INVALID',
    });
    await runtime.close();
  });

  it('refuses after a drain, and may be closed twice', async () => {
    const runtime = await createRecallRuntime(options());
    const run = runtime.serving.recall(request({ userId: 'u' }), context());
    await expect(run).resolves.toMatchObject({ short: false });
    await runtime.drain(1000);
    const late = runtime.serving.recall(request({ userId: 'u' }), context());
    await expect(late).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
    await runtime.close();
    await runtime.close();
  });

  it.each<[string, Record<string, unknown>]>([
    ['PROMPT_TEMPLATE_INVALID', { 'prompt.json': { ...TEMPLATE, version: 3 } }],
    ['PROMPT_TEMPLATE_INVALID', { 'prompt.json': { ...TEMPLATE, levels: [{ base: 3 }] } }],
    ['TOKENIZER_INVALID', { 'tokenizer.json': '{' }],
    [
      'TOKENIZER_INVALID',
      { 'tokenizer.json': { ...TOKENIZER, added_tokens: [{ id: 97, content: 'bos' }] } },
    ],
    ['BEHAVIOUR_INVALID', { 'users.json': [] }],
    ['CATALOGUE_INVALID', { 'catalogue.jsonl': '{"item_id": "1", "sid": [1]}\nx' }],
    ['MODEL_INVALID', { 'config.json': { architectures: ['Nothing'], model_type: 'nothing' } }],
    ['MODEL_INVALID', { 'config.json': { model_type: 't5' }, 'prompt.json': '' }],
    ['MODEL_NOT_FOUND', { 'snapshots/0123abcd/config.json': {} }],
    [
      'REQUEST_INVALID',
      { 'prompt.json': { ...TEMPLATE, levels: BASES.map(() => ({ base: 1e9 })) } },
    ],
  ])('gives %s for a bad file and closes what it had opened', async (code, files) => {
    const error = await createRecallRuntime(options(files)).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(TesseraError);
    expect(error.code).toBe(code);
  });

  it('takes over the users of the file where all else fits together, and not before', async () => {
    const bad = { 'prompt.json': { ...TEMPLATE, levels: BASES.map(() => ({ base: 1e9 })) } };
    const over = (files: Record<string, unknown>, path: string): RecallRuntimeOptions => {
      const given = options(files);
      const usersPath = join(folder.path, 'users.json');
      const settings = { store: 'embedded', path, redis: '', keyPrefix: '' } as const;
      const kept = { ...settings, retention: '*=10' };
      return { ...given, behaviours: behaviourOptions(kept, usersPath, { reserveBytes: 0 }) };
    };
    const store = temporaryFolder({});
    await expect(createRecallRuntime(over(bad, store.path))).rejects.toBeInstanceOf(TesseraError);
    folder.remove();
    const others = { 'users.json': { w: [ITEMS[0]?.item_id] } };
    const runtime = await createRecallRuntime(over(others, store.path));
    expect(await runtime.facts.sampleUserIds(9)).toEqual(['w']);
    await runtime.close();
    store.remove();
  });
});
