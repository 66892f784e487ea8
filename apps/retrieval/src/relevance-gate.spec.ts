import { TesseraError } from '@tessera/errors';
import { ItemText } from '@tessera/prompt';
import type { RecallAnswer, RecallContext, RecallRequest, RelevanceGate } from '@tessera/recall';
import type { RelevanceOutcome, RelevanceRequest } from '@tessera/relevance';
import { describe, expect, it } from 'vitest';
import { recallThroughGate } from './relevance-gate.js';

const CONTEXT = { signal: new AbortController().signal, budgetUs: 1e6 } as RecallContext;
const ITEMS = ['red shoes', 'blue coat', '', 'red coat', 'a phone'].map((title, i) => ({
  itemId: `i${i}`,
  sid: [i],
  score: -1 - i / 4,
  rank: i + 1,
  title,
  attributes: '',
}));
const SCORES: Readonly<Record<string, number>> = { 'red shoes': 0.9, 'blue coat': 0.1 };

const asked = (relevance?: RelevanceGate) => ({ relevance }) as RecallRequest;
const answer = { items: ITEMS, short: false } as unknown as RecallAnswer;
const ask = async () => answer;

/** Scores titles by the table; `a phone` fails. */
const model = {
  itemText: ItemText.ofTitle,
  checkAdapter(name: string, field: string) {
    if (name === 'unknown') throw new TesseraError('ADAPTER_NOT_FOUND', field, { field });
  },
  seen: [] as RelevanceRequest[],
  async score(request: RelevanceRequest) {
    this.seen.push(request);
    const outcomes = request.documents.map(
      (title): RelevanceOutcome =>
        title === 'a phone'
          ? { error: new TesseraError('DEADLINE_EXCEEDED', 'late') }
          : {
              score: SCORES[String(title)] ?? 0.5,
              promptTokens: 1,
              documentTokens: 1,
              cutTokens: 0,
            },
    );
    return {
      outcomes,
      promptTokens: 0,
      computedTokens: 0,
      modelDigest: '',
      template: '',
      adapter: '',
    };
  },
};

const facts = {
  describe: (itemIds: readonly string[]) =>
    itemIds.map((itemId) => ({ itemId, title: '', sid: [], attributes: '{"colour":"red"}' })),
};
const parts = { recall: ask, relevance: model, facts };

const through = (gate?: RelevanceGate) => recallThroughGate(parts, asked(gate), CONTEXT);
const shown = ({ items }: RecallAnswer) =>
  items.map(({ itemId, rank, relevanceScore }) => [itemId, rank, relevanceScore]);

describe('a gate', () => {
  it('lets items through that fit the query, with both scores', async () => {
    const passed = await through({ query: 'red', minScore: 0.4, adapter: '' });
    expect(shown(passed)).toEqual([
      ['i0', 1, 0.9],
      ['i3', 2, 0.5],
    ]);
    expect(passed.items.map(({ score }) => score)).toEqual([-1, -1.75]);
    expect(passed.short).toBe(true);
    expect(model.seen.at(-1)?.documents).not.toContain('');
  });

  it('orders items by both scores, those without one last and in their order', async () => {
    const passed = await through({ query: 'red', weight: 2, adapter: '' });
    expect(shown(passed)).toEqual([
      ['i0', 1, 0.9],
      ['i3', 2, 0.5],
      ['i1', 3, 0.1],
      ['i2', 4, undefined],
      ['i4', 5, undefined],
    ]);
    expect(passed.short).toBe(false);
  });

  it('orders by values where there are some, and unsays what another order proved', async () => {
    const items = ITEMS.map((item, i) => {
      const value = { value: i, terms: { bid: 1 }, pace: 1, criticalBid: 0.5 };
      return Object.assign({ value, explored: i > 2, propensity: 0.5 }, item);
    });
    const exploration = { slots: 2, temperature: 1, seed: 1, noPropensities: '' };
    const valued = { ...parts, recall: async () => ({ ...answer, items, exploration }) };
    const by = (gate: RelevanceGate) => recallThroughGate(valued, asked(gate), CONTEXT);
    const passed = await by({ query: 'red', weight: 2, adapter: '' });
    expect(passed.items.map(({ itemId }) => itemId).slice(0, 3)).toEqual(['i3', 'i0', 'i1']);
    expect(passed.exploration).toMatchObject({ noPropensities: 'relevance' });
    expect(passed.items[0]).toMatchObject({ explored: true, value: { value: 3, pace: 1 } });
    expect(passed.items[0]).not.toHaveProperty('propensity');
    expect(passed.items[0]?.value).not.toHaveProperty('criticalBid');
    const kept = await by({ query: 'red', minScore: 0.4, adapter: '' });
    expect(kept.exploration).toMatchObject({ noPropensities: 'relevance' });
    expect(kept.items[0]).toMatchObject({ value: { criticalBid: 0.5 } });
    expect(kept.items[0]).not.toHaveProperty('propensity');
    const scored = await by({ query: 'red', adapter: '' });
    expect(scored.exploration).toEqual(exploration);
    expect(scored.items[0]).toMatchObject({ propensity: 0.5 });
  });

  it('orders by the first head of a ranking, whatever its name', async () => {
    const items = ITEMS.slice(0, 2).map((item, i) =>
      Object.assign({ ranking: { heads: { click: i, 7: -i } } }, item),
    );
    const ranked = {
      ...answer,
      items,
      ranking: { heads: ['click', '7'] },
    } as unknown as RecallAnswer;
    const gate = { query: 'red', weight: 0.1, adapter: '' };
    const recall = async () => ranked;
    const passed = await recallThroughGate({ ...parts, recall }, asked(gate), CONTEXT);
    expect(passed.items.map(({ itemId }) => itemId)).toEqual(['i1', 'i0']);
  });

  it('scores the text that the template makes of an item', async () => {
    const relevance = Object.assign({}, model, { itemText: new ItemText('{title}, {colour}') });
    await recallThroughGate(
      { ...parts, relevance },
      asked({ query: 'red', weight: 1, adapter: '' }),
      CONTEXT,
    );
    expect(model.seen.at(-1)?.documents).toContain('blue coat, red');
    expect(model.seen.at(-1)?.documents).toContain(', red');
  });

  it('asks the model for nothing where the request has none', async () => {
    const before = model.seen.length;
    expect(await through()).toBe(answer);
    expect(model.seen.length).toBe(before);
  });

  it('is refused before the recall where no model scores texts', async () => {
    let recalls = 0;
    const counted = async () => {
      recalls += 1;
      return answer;
    };
    const gated = recallThroughGate(
      { recall: counted, relevance: undefined, facts },
      asked({ query: 'a', weight: 1, adapter: '' }),
      CONTEXT,
    );
    await expect(gated).rejects.toMatchObject({ code: 'MODEL_NOT_FOUND', field: 'relevance.path' });
    expect(recalls).toBe(0);
  });

  it('says why no text was scored in place of letting nothing through', async () => {
    const phones = { ...answer, items: ITEMS.filter(({ title }) => title === 'a phone') };
    const gated = recallThroughGate(
      { ...parts, recall: async () => phones },
      asked({ query: 'a', minScore: 0.1, adapter: '' }),
      CONTEXT,
    );
    await expect(gated).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
  });
});

it('scores with the adapter of the gate, and refuses an unknown one ahead', async () => {
  const gate = { query: 'red', weight: 1, adapter: 'fits' };
  await through(gate);
  expect(model.seen.at(-1)).toMatchObject({ adapter: 'fits' });
  let recalls = 0;
  const recall = () => {
    recalls += 1;
    return ask();
  };
  const refused = recallThroughGate(
    { recall, relevance: model, facts },
    asked({ query: 'red', weight: 1, adapter: 'unknown' }),
    CONTEXT,
  );
  await expect(refused).rejects.toMatchObject({ field: 'relevance.adapter' });
  expect(recalls).toBe(0);
});
