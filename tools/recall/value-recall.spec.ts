import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { clauseOf } from '@tessera/catalogue';
import { NO_ELIGIBILITY } from '@tessera/engine';
import { createRecallRuntime, type RecallRequest, type RecallRuntime } from '@tessera/recall';
import { closingEmpty, temporaryFolder } from '@tessera/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Flags } from '../terminal/command.js';
import { runtimeOptions } from '../terminal/model-flags.js';
import { RECALL_FLAGS } from './recall-flags.js';

const ITEMS = readFileSync('models/demo/catalogue.jsonl', 'utf8')
  .trim()
  .split('\n')
  .map(
    (line) =>
      JSON.parse(line) as { item_id: string; attributes: { advertiser: string; bid: number } },
  );
const ASKED_AT_ONCE = 64;
const ECPM = { name: 'ecpm', weights: {} };
const CONTEXT = { signal: new AbortController().signal, budgetUs: 60e6 };

const optionsOf = (...words: readonly string[]) =>
  runtimeOptions(Flags.parse(['--valuation', 'ecpm', ...words], RECALL_FLAGS), () => undefined);

let runtime: RecallRuntime;
beforeAll(async () => {
  const options = optionsOf('--threads', '1');
  const remembering = Object.assign({}, options.recall, { rememberedRecalls: 2 });
  runtime = closingEmpty(await createRecallRuntime({ ...options, recall: remembering }));
});
afterAll(() => runtime.close());

const asked = (change: Partial<RecallRequest> = {}): RecallRequest => ({
  requestId: '',
  userId: '1',
  profile: {},
  scene: {},
  resultCount: 10,
  widths: [],
  itemsPerSid: 0,
  skipUnknownItems: true,
  valuation: ECPM,
  ...change,
});
const recall = (change: Partial<RecallRequest> = {}) =>
  runtime.serving.recall(asked(change), CONTEXT);
const idsOf = ({ items }: { readonly items: readonly { readonly itemId: string }[] }) =>
  items.map(({ itemId }) => itemId);
const bid = (itemId: string, amount: number) =>
  runtime.operations
    .changesOf('')
    .apply([{ op: 'set_attributes', itemId, attributes: JSON.stringify({ bid: amount }) }]);

/** Of all items, one by one. */
async function values(
  valuation: NonNullable<RecallRequest['valuation']>,
): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  const { resultCount: _, widths: __, itemsPerSid: ___, ...source } = asked();
  for (let at = 0; at < ITEMS.length; at += ASKED_AT_ONCE) {
    const items = ITEMS.slice(at, at + ASKED_AT_ONCE).map(({ item_id: itemId }) => ({ itemId }));
    const question = Object.assign({}, source, { items, valuation });
    const scored = await runtime.serving.score(question, CONTEXT);
    for (const { itemId, value } of scored.items) if (value) found.set(itemId, value.value);
  }
  return found;
}

describe('a recall of the demo by value', () => {
  it.each([ECPM, { name: 'ecpm', scoreWeight: 0.25, weights: { bid: 3 } }])(
    'is the true best of all items by %j, to the last bit',
    async (valuation) => {
      const all = [...(await values(valuation))].sort(([, a], [, b]) => b - a);
      const answer = await recall({ valuation });
      expect(answer.certified).toBe(true);
      expect(answer.items.map(({ value }) => value?.value)).toEqual(
        all.slice(0, 10).map(([, value]) => value),
      );
      expect(answer.valuation?.bestLeftOut).toBe(all[10]?.[1]);
      const { item = '' } = answer.runnerUp ?? {};
      expect(new Map(all).get(item)).toBe(all[10]?.[1]);
    },
  );

  it('tells the bid that brings the best item left out in, as explain does', async () => {
    const { item = '', bid: needed = Number.NaN } = (await recall()).runnerUp ?? {};
    const { neededBid } = await runtime.serving.explain({ recall: asked(), itemId: item }, CONTEXT);
    expect(neededBid).toBeCloseTo(needed, 3);
    const before = ITEMS.find(({ item_id: id }) => id === item)?.attributes.bid ?? 0;
    await bid(item, needed * 0.999);
    expect(idsOf(await recall())).not.toContain(item);
    await bid(item, needed * 1.001);
    expect(idsOf(await recall())).toContain(item);
    await bid(item, before);
  });

  it('tells prices of what is certified, or that the budget ended before them', async () => {
    const told = new Set<string>();
    for (let user = 1; user <= 40; user += 1) {
      let [low, high] = [1, 1000];
      while (low < high) {
        const rowBudget = Math.floor((low + high) / 2);
        const { certified, items, valuation } = await recall({ userId: `${user}`, rowBudget });
        const { bestLeftOut, noPrices = '' } = valuation ?? {};
        const isPriced = items.every(({ value }) => value?.criticalBid !== undefined);
        told.add(`${certified} ${isPriced && bestLeftOut !== undefined} ${noPrices}`);
        if (certified) high = rowBudget;
        else low = rowBudget + 1;
      }
    }
    expect([...told].sort()).toEqual([
      'false false uncertified',
      'true false stopped',
      'true true ',
    ]);
  });

  it('has for each item the lowest bid with which it would still be there', async () => {
    const { items } = await recall();
    for (const { itemId, value } of [items[0], items[9]].flatMap((item) => item ?? [])) {
      const critical = value?.criticalBid ?? Number.NaN;
      await bid(itemId, critical * 0.999);
      expect(idsOf(await recall())).not.toContain(itemId);
      await bid(itemId, critical * 1.001);
      expect(idsOf(await recall())).toContain(itemId);
    }
  });

  it('knows paces from the next request on, and takes them back', async () => {
    const { items } = await recall();
    const paced = ITEMS.find(({ item_id: id }) => id === items[4]?.itemId);
    const text = paced?.attributes.advertiser ?? '';
    const pace = (factor: number) =>
      runtime.operations
        .changesOf('')
        .apply([{ op: 'set_pace', itemId: '', pace: { attribute: 'advertiser', text, factor } }]);
    await pace(0.5);
    const { recall: question, itemId } = { recall: asked(), itemId: paced?.item_id ?? '' };
    const { value } = await runtime.serving.explain({ recall: question, itemId }, CONTEXT);
    expect(value?.pace).toBe(0.5);
    const lost = (items[4]?.value?.value ?? 0) - (value?.value ?? 0);
    expect(lost).toBeCloseTo(Math.LN2, 5);
    await pace(1);
    expect((await recall()).items).toEqual(items);
    const other = { attribute: 'bid', text: 'x', factor: 0.5 };
    const refused = runtime.operations
      .changesOf('')
      .apply([{ op: 'set_pace', itemId: '', pace: other }]);
    await expect(refused).rejects.toMatchObject({ field: 'changes[0].attribute' });
  });

  it('tells texts of its predicate that no item has, until a change brings them', async () => {
    const of = (attribute: string, ...values: readonly string[]) => {
      const predicate = clauseOf('in', { attribute, values });
      return recall({ eligibility: Object.assign({}, NO_ELIGIBILITY, { predicate }) });
    };
    const told = 'eligibility.predicate.in[1]: coffe';
    expect(await of('category', 'coffee', 'coffe')).toMatchObject({ unknownAttributes: [told] });
    const [{ item_id: itemId, attributes: before }] = ITEMS as [(typeof ITEMS)[number]];
    const set = (category: string) => {
      const attributes = JSON.stringify(Object.assign({}, before, { category }));
      return runtime.operations.changesOf('').apply([{ op: 'set_attributes', itemId, attributes }]);
    };
    await set('coffe');
    expect(await of('category', 'coffee', 'coffe')).toMatchObject({ unknownAttributes: [] });
    await set('running');
    expect(await of('category', 'coffee', 'coffe')).toMatchObject({ unknownAttributes: [told] });
    expect(await of('categroy', 'coffee')).toMatchObject({
      unknownAttributes: ['eligibility.predicate.attribute: categroy'],
    });
  });

  it('leaves out items without a value, and says so', async () => {
    const [first = ''] = idsOf(await recall());
    await bid(first, 0);
    expect(idsOf(await recall())).not.toContain(first);
    const explained = await runtime.serving.explain({ recall: asked(), itemId: first }, CONTEXT);
    expect(explained).toMatchObject({ verdict: 'no-value', attribute: 'bid', excludedItems: 1 });
    const [next = ''] = idsOf(await recall());
    const floored = asked({ valuation: Object.assign({ floor: 1 }, ECPM) });
    const below = await runtime.serving.explain({ recall: floored, itemId: next }, CONTEXT);
    expect(below).toMatchObject({ verdict: 'below-floor', cutScore: 1 });
    expect(below.value?.value).toBeLessThan(1);
  });

  it('draws the same by the same seed, with propensities', async () => {
    const explore = { slots: 4, seed: 7 };
    const [one, other] = [await recall({ explore }), await recall({ explore })];
    expect(one.items).toEqual(other.items);
    expect(one.items.map(({ explored }) => explored)).toEqual(
      Array.from({ length: 10 }, (_, place) => place >= 6),
    );
    for (const { propensity = 0 } of one.items) {
      expect(propensity).toBeGreaterThan(0);
      expect(propensity).toBeLessThanOrEqual(1);
    }
    expect(one.exploration).toEqual({ slots: 4, temperature: 1, seed: 7, noPropensities: '' });
    const drawn = await recall({ explore: { slots: 4 }, requestId: 'drawn' });
    const { versions } = drawn;
    const question = asked({ explore: { slots: 4 }, requestId: 'drawn' });
    for (const { itemId, rank } of drawn.items.slice(5)) {
      const replayed = { recall: question, itemId, versions };
      const explained = await runtime.serving.explain(replayed, CONTEXT);
      expect(explained).toMatchObject({ verdict: 'returned', rank });
    }
    const beam = await recall({ explore, search: 'beam' });
    expect(beam.exploration?.noPropensities).toBe('beam');
    expect(beam.items.at(-1)).not.toHaveProperty('propensity');
  });

  it('has no items where a change has left no item a value', async () => {
    const predicate = clauseOf('range', { attribute: 'bid', min: -1 });
    const patch = { set: '', unset: ['bid'], add: [], take: [], delta: [] };
    const changes = runtime.operations.changesOf('');
    await changes.apply([{ op: 'patch_attributes', itemId: '', predicate, patch }]);
    const { valuation: _, ...byScore } = asked();
    expect((await runtime.serving.recall(byScore, CONTEXT)).items).toHaveLength(10);
    const answer = await recall();
    expect(answer).toMatchObject({ items: [], short: true, certified: true });
    expect(answer.valuation).not.toHaveProperty('bestLeftOut');
    const explore = { slots: 2 };
    expect((await recall({ explore })).items).toEqual([]);
  });
});

it('does not start with an attribute that no item has', async () => {
  const terms = [{ attribute: 'bit' }];
  const folder = temporaryFolder({ 'v.json': { ecpm: { terms } } });
  const path = join(folder.path, 'v.json');
  await expect(createRecallRuntime(optionsOf('--valuations', path))).rejects.toThrow(
    `recall.valuations: ${path}: ecpm.terms[0].attribute: expected`,
  );
  folder.remove();
});
