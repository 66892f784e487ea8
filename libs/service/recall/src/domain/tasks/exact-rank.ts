import {
  type EngineAnswer,
  type EngineWork,
  type KvUse,
  NO_POLICY,
  type ReachRequest,
} from '@tessera/engine';
import { type Cancellation, TesseraError } from '@tessera/errors';
import type { ExplainAnswer } from '../answer/answer-types.js';
import type { RecallParts } from '../context/recall-parts.js';
import { withoutFloor } from './item-worth.js';

/** Items among which an item is looked for, and rows that this may take. */
const ITEMS_MAX = 1000;
const ROWS_MAX = 16_384;

/** Why a verdict is given without a rank: there was no time or no memory for as wide a search. */
const WITHOUT_RANK = new Set(['DEADLINE_EXCEEDED', 'ENGINE_OVERLOADED', 'REQUEST_INVALID']);

type Rank = Pick<ExplainAnswer, 'exactRank' | 'rankAtLeast'> & {
  /** Items that the search found, whatever is proved of them. */
  readonly ranked?: Pick<EngineAnswer, 'items' | 'itemTerms'>;
};

export interface RankQuestion {
  readonly itemId: string;
  /** Reach request of the recall; its item policy does not count. */
  readonly asked: ReachRequest;
  /** Number of the version's last change. */
  readonly sequence: number;
  /** Engine work of the replay. */
  readonly work: Omit<EngineWork, 'budgetUs' | 'kv'> & { readonly kv: KvUse };
  /** Remaining budget of the request. */
  readonly budgetUs: number;
}

/**
 * The rank of an item among all items of the version that the request may get, by score or value
 * alone: its own where the search proves it, else a bound. Without either where the time does not
 * suffice.
 */
export async function exactRank(
  { catalogue, engine, resultCountMax, widthMax }: RecallParts,
  { itemId, asked, sequence, work, budgetUs }: RankQuestion,
  signal: Cancellation,
): Promise<Rank> {
  const request = { ...withoutFloor(asked), itemPolicy: NO_POLICY };
  const { reach } = await catalogue.judge({ request, itemId, sequence });
  const resultCount = Math.min(ITEMS_MAX, resultCountMax);
  // Blocks on their way to the device belong to the replay.
  const { prefetch: _, ...kv } = work.kv;
  const wide = {
    ...work,
    kv,
    budgetUs,
    resultCount,
    itemsPerSid: resultCount,
    widths: [Math.min(resultCount, widthMax)],
    rowBudget: ROWS_MAX,
    allowsPartial: true,
    reach,
  };
  try {
    const { itemTerms, ...found } = await engine.recall(wide, signal);
    // Places of this answer say nothing of those of the recall.
    const items = found.items.map((item) => ({ ...item, criticalBid: Number.NaN }));
    return { ...rankIn(found, itemId), ranked: { items, itemTerms } };
  } catch (thrown) {
    if (WITHOUT_RANK.has(TesseraError.from(thrown).code)) return {};
    throw thrown;
  }
}

/** Nothing that the search has missed is better than an item above the gap. */
function rankIn(
  { items, certified, gap }: Pick<EngineAnswer, 'items' | 'certified' | 'gap'>,
  itemId: string,
): Rank {
  if (!certified && !Number.isFinite(gap)) return {};
  const certain = certified ? items.length : items.filter(({ value }) => value > gap).length;
  const at = items.findIndex((item) => item.itemId === itemId);
  return at >= 0 && at < certain ? { exactRank: at + 1 } : { rankAtLeast: certain + 1 };
}
