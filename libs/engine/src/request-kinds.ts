import {
  NOTHING,
  type PackedReader,
  type PackedWriter,
  type RequestKind as RequestKindName,
  writeRankRequest,
  writeRecallRequest,
  writeRelevanceRequest,
  writeScoreRequest,
} from '@tessera/native';
import { NO_ITEM, type Reach } from './catalogue.js';
import {
  type EngineAdapter,
  type EngineAnswer,
  type EngineAppended,
  type EngineAppendRequest,
  type EngineLogits,
  type EngineRanked,
  type EngineRanking,
  type EngineRankRequest,
  type EngineRelevanceRequest,
  type EngineRequest,
  type EngineScoreRequest,
  type EngineScores,
} from './engine.js';
import {
  type AnsweredFacts,
  readAnswer,
  readAppended,
  readLogits,
  readRanked,
  readScores,
} from './read-completions.js';

/** Slot of an adapter that the engine has loaded. */
export type SlotOf = (adapter: EngineAdapter) => number;

/**
 * A kind of request on this side of the boundary, and all that depends on it; the other side is a
 * task of native/src/engine/tasks.
 */
export interface RequestKind<Request, Answer> {
  readonly name: RequestKindName;
  /** The fields of this kind alone, behind those of all kinds. */
  readonly write: (to: PackedWriter, request: Request, slotOf: SlotOf) => void;
  readonly reach: (request: Request) => Reach | undefined;
  /** Reads the answer of a request of this kind. */
  readonly read: (from: PackedReader, facts: AnsweredFacts) => Answer;
}

const NOTHING_DRAWN = { slots: 0, temperature: 1, seed: 0 };

function rankingFields(ranking: EngineRanking | undefined, slotOf: SlotOf) {
  if (ranking === undefined) {
    return { rankSlot: NOTHING.adapter, rankPrefix: new Int32Array(), rankSuffixes: [] };
  }
  const { adapter, prefix, suffixes } = ranking;
  return { rankSlot: slotOf(adapter), rankPrefix: prefix, rankSuffixes: suffixes };
}

const reachesAll = (): undefined => undefined;

export const RECALL: RequestKind<EngineRequest, EngineAnswer> = {
  name: 'recall',
  write: (to, request, slotOf) => {
    const { slots, temperature, seed } = request.explore ?? NOTHING_DRAWN;
    writeRecallRequest(to, {
      widths: request.widths,
      rowBudget: request.rowBudget ?? 0,
      resultCount: request.resultCount,
      itemsPerSid: request.itemsPerSid,
      scoreNorm: request.scoreNorm,
      allowsPartial: request.allowsPartial === true,
      watchedItem: request.watchedItem ?? NO_ITEM,
      attributes: request.attributes ?? [],
      wantsTree: request.wantsTree === true,
      exploreSlots: slots,
      exploreTemperature: temperature,
      exploreSeedLow: seed % 2 ** 32,
      exploreSeedHigh: Math.floor(seed / 2 ** 32),
      ...rankingFields(request.ranking, slotOf),
    });
  },
  reach: ({ reach }) => reach,
  read: readAnswer,
};

export const SCORE: RequestKind<EngineScoreRequest, EngineScores> = {
  name: 'score',
  write: writeScoreRequest,
  reach: ({ reach }) => reach,
  read: readScores,
};

export const APPEND: RequestKind<EngineAppendRequest, EngineAppended> = {
  name: 'append',
  write: () => undefined,
  reach: reachesAll,
  read: readAppended,
};

export const RELEVANCE: RequestKind<EngineRelevanceRequest, EngineLogits> = {
  name: 'relevance',
  write: writeRelevanceRequest,
  reach: reachesAll,
  read: readLogits,
};

export const RANK: RequestKind<EngineRankRequest, EngineRanked> = {
  name: 'rank',
  write: (to, { items, ranking }, slotOf) => {
    writeRankRequest(to, { items, ...rankingFields(ranking, slotOf) });
  },
  reach: ({ reach }) => reach,
  read: readRanked,
};
