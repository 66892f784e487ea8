import type { Catalogue, EngineAnswer, EngineWork, Reach } from '@tessera/engine';
import { type Cancellation, TesseraError } from '@tessera/errors';
import { inSlices } from '@tessera/turns';
import type { Placed, Ranker } from './ranking.js';
import type { AppliedRanking, RecalledItem } from './recall-types.js';
import type { RecallEngine } from './runtime-types.js';

/** A recall as the engine was asked for it. */
export interface AskedWork extends EngineWork {
  /** There where items have suffixes of their own. */
  readonly reach: Reach | undefined;
  readonly allowsPartial?: boolean | undefined;
}

/**
 * Numbers of heads for a recall's items: of its answer, or asked for behind the same prompt.
 * Undefined where a recall that may be partial had no time for it.
 */
export async function headsOf(
  { engine, catalogue }: { readonly engine: RecallEngine; readonly catalogue: Catalogue },
  ranker: Ranker,
  { heads, items }: Pick<EngineAnswer, 'heads' | 'items'>,
  { reach, allowsPartial, scoreNorm: _, ...work }: AskedWork,
  signal: Cancellation,
): Promise<Float32Array | undefined> {
  if (items.length === 0) return heads;
  if (!ranker.readsTexts || reach === undefined) {
    return heads.length > 0 ? heads : undefined;
  }
  const itemIds = items.map(({ itemId }) => itemId);
  const texts = catalogue.firstObtainable(reach, itemIds, itemIds.length);
  const tokens = await inSlices(texts, (one) => ranker.item.suffixOf(one));
  const suffixes = new Map(texts.map(({ itemId }, index) => [itemId, tokens[index]]));
  const { prefetch: __, ...kv } = work.kv ?? { userId: '', prefixTokens: 0, keepTokens: 0 };
  const asked = {
    ...work,
    kv,
    reach,
    items: Uint32Array.from(items, ({ ordinal }) => ordinal),
    ranking: ranker.asEngine(itemIds.map((itemId) => suffixes.get(itemId) ?? [])),
  };
  try {
    return (await engine.rank(asked, signal)).heads;
  } catch (thrown) {
    const { code } = TesseraError.from(thrown);
    if (allowsPartial && code === 'DEADLINE_EXCEEDED') return undefined;
    throw thrown;
  }
}

/** The recalled items with their rankings, in the recall's order. */
export async function placedItems(
  catalogue: Catalogue,
  ranker: Ranker,
  recalled: readonly RecalledItem[],
  { heads, sequence }: { readonly heads: Float32Array; readonly sequence: number },
): Promise<Placed<RecalledItem>[]> {
  const itemIds = recalled.map(({ itemId }) => itemId);
  const appraised = await ranker.appraise(catalogue, sequence, itemIds);
  const placed = await ranker.place(recalled, heads, appraised);
  return placed.map(({ item, ranking, key }) => ({
    item,
    ranking: { ...ranking, recallRank: item.rank },
    key,
  }));
}

/** The answer: the best of those that were ranked, then drawn items, which keep the last places. */
export function answeredItems(
  ranker: Ranker,
  placed: readonly Placed<RecalledItem>[],
  answerCount: number,
): { readonly items: readonly RecalledItem[]; readonly ranking: AppliedRanking } {
  const drawn = placed.filter(({ item }) => item.explored === true);
  const candidates = placed.filter(({ item }) => item.explored !== true);
  const ordered = ranker.order(candidates);
  const answered = [...ordered.slice(0, answerCount - drawn.length), ...drawn];
  const items = answered.map(({ item, ranking }, index) => {
    // Bids with which items would still be recalled are none with which they would be answered.
    const value = item.value && { ...item.value, criticalBid: undefined };
    return { ...item, value, rank: index + 1, ranking };
  });
  return { items, ranking: ranker.applied(placed.length, candidates.length - ordered.length) };
}
