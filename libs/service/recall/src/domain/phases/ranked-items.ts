import type { EngineAnswer } from '@tessera/engine';
import { TesseraError } from '@tessera/errors';
import { inSlices } from '@tessera/turns';
import { isDrawn, type RecalledItem } from '../answer/answer-types.js';
import type { AskedRecall, FoundItems, Phase } from './phase.js';
import type { Placed, Ranker } from './ranker.js';

type Ranked = Placed<RecalledItem>;

/** Items of a recall by what heads say of them. */
export interface RankedItems {
  readonly all: readonly Ranked[];
  /** Items that were not drawn and that the valuation does not leave out, best first. */
  readonly ordered: readonly Ranked[];
  /** Drawn items in the order of the draw. Heads do not move them. */
  readonly drawn: readonly Ranked[];
}

/** Orders the found items by heads; where a partial recall has no time left for it, not at all. */
export const ranked: Phase = async (draft, asked, found) => {
  const { ranker } = asked;
  const items = ranker && (await rankedItems(asked, ranker, found));
  if (items === undefined) return draft;
  const { all, ordered, drawn } = items;
  return {
    ...draft,
    items: [...ordered, ...drawn].map(({ item, ranking }) => ({ ...item, ranking })),
    ranking: ranker?.applied(all.length, all.length - drawn.length - ordered.length),
  };
};

/**
 * Undefined where the engine was not asked for the items, and where a recall that may be partial
 * had no time for their heads. Rejects as Engine.rank does.
 */
export async function rankedItems(
  asked: AskedRecall,
  ranker: Ranker,
  found: FoundItems,
): Promise<RankedItems | undefined> {
  if (found.searched === undefined) return undefined;
  const { catalogue } = asked.parts;
  const numbers = await headsOf(asked, ranker, found, found.searched.answer);
  if (numbers === undefined) return undefined;
  const heads = ranker.answers(found.items, numbers);
  const itemIds = found.items.map(({ itemId }) => itemId);
  const appraised = ranker.appraise(catalogue, found.reach, itemIds, heads);
  const placed = await ranker.place(found.items, heads, appraised);
  const all = placed.map(({ item, ranking, key }): Ranked => {
    return { item, ranking: { ...ranking, recallRank: item.rank }, key };
  });
  return {
    all,
    ordered: ranker.order(all.filter(({ item }) => !isDrawn(item))),
    drawn: all.filter(({ item }) => isDrawn(item)),
  };
}

/** Numbers of heads by item: of the search's answer, or asked for behind the same prompt. */
async function headsOf(
  { parts: { engine, catalogue }, search, signal, leftUs }: AskedRecall,
  ranker: Ranker,
  { reach, searched }: FoundItems,
  { heads, items }: EngineAnswer,
): Promise<Float32Array | undefined> {
  if (items.length === 0) return heads;
  if (!ranker.readsTexts || reach === undefined || searched === undefined) {
    return heads.length > 0 ? heads : undefined;
  }
  const itemIds = items.map(({ itemId }) => itemId);
  const texts = catalogue.firstObtainable(reach, itemIds, itemIds.length);
  const tokens = await inSlices(texts, (one) => ranker.item.suffixOf(one));
  const suffixes = new Map(texts.map(({ itemId }, index) => [itemId, tokens[index]]));
  const { scoreNorm: _, ...work } = searched.work;
  // Blocks on their way to the device were the search's.
  const { prefetch: __, ...kv } = work.kv;
  const asked = {
    ...work,
    kv,
    budgetUs: leftUs(),
    reach,
    items: Uint32Array.from(items, ({ ordinal }) => ordinal),
    ranking: ranker.asEngine(itemIds.map((itemId) => suffixes.get(itemId) ?? [])),
  };
  try {
    return (await engine.rank(asked, signal)).heads;
  } catch (thrown) {
    const { code } = TesseraError.from(thrown);
    if (search.allowsPartial && code === 'DEADLINE_EXCEEDED') return undefined;
    throw thrown;
  }
}
