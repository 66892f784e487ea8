import type { BehaviourStore, IsClick, Popularity } from '@tessera/behaviour';
import type { Binding, Catalogue, Engine, EnginePass } from '@tessera/engine';
import type { Erasures } from '@tessera/erasure';
import { type CompiledTemplate, type ItemTemplate, slotKeys } from '@tessera/prompt';
import type { ProcessVersions } from '../answer/answer-types.js';
import type { RequestLimits } from '../request/request-limits.js';
import type { FrequencyCap, Search } from '../request/request-types.js';

/** The part of the engine that requests are answered with. */
export type RecallEngine = Pick<
  Engine,
  'model' | 'recall' | 'score' | 'rank' | 'append' | 'prefetch'
>;

/** Defaults of requests, and the bounds of their fields. */
export interface RecallDefaults {
  /** Search of requests that name neither search nor widths. */
  readonly search: Search;
  /** Rows that a certified search computes at most; 0: by the number of items wanted. */
  readonly rowBudget: number;
  readonly resultCount: number;
  /** Items of an explicit history at most; a user's behaviours are read up to this many. */
  readonly historyItemsMax: number;
  /** Percent of those behaviours that may be left out (stable-start.ts). */
  readonly historyTrimPercent: number;
  /** Left out: refuse. */
  readonly withoutFeatures?: 'refuse' | 'answer';
  /** How requests without history are met; left out: answered. */
  readonly withoutHistory?: 'refuse' | 'answer' | 'popular';
  /** Which behaviours make an item popular; left out: all. */
  readonly isClick?: IsClick;
  /** Caps of recalls by user ID that name none themselves; left out: none. */
  readonly frequencyCaps?: readonly FrequencyCap[];
  /** Newest recalls of a catalogue whose prompts are kept, so that they can be explained. */
  readonly rememberedRecalls: number;
}

/** The parts that answer requests for one catalogue. One set serves all; nothing in it changes. */
export interface RecallParts {
  /** This process, as answers name it. */
  readonly process: ProcessVersions;
  readonly engine: RecallEngine;
  readonly catalogue: Catalogue;
  /** Catalogues that are searched for items of histories as well; left out: none. */
  readonly otherCatalogues?: readonly Catalogue[];
  readonly binding: Binding;
  readonly template: CompiledTemplate;
  readonly behaviours: BehaviourStore;
  /** Milliseconds since 1970; left out: by the clock of the machine. */
  readonly nowMs?: (() => number) | undefined;
  /** Popular items, where `recall.withoutHistory` is `popular`. */
  readonly popularity?: Popularity | undefined;
  readonly erasures: Erasures;
  readonly defaults: RecallDefaults;
  readonly promptTokensMax: number;
  readonly widthMax: number;
  readonly resultCountMax: number;
  readonly scoreItemsMax: number;
  /** Called with the forward passes of every recall. */
  readonly onPasses?: ((passes: readonly EnginePass[]) => void) | undefined;
  /** Called once with a key of stored profiles that have a value which the template cannot use. */
  readonly onUnusableProfile?: ((key: string) => void) | undefined;
}

/** Steps of a search: the depth of the catalogue and the terminal tokens. */
function stepsOf({ catalogue, template }: RecallParts): number {
  return catalogue.summary.depth + template.levelTokens.terminal.length;
}

/** Tokens of a prompt that leave room for the answer: its last token is chosen, never fed. */
export function promptRoom(parts: RecallParts): number {
  const { maxPositions } = parts.engine.model;
  return Math.min(parts.promptTokensMax, maxPositions - stepsOf(parts) + 1);
}

/** Tokens of a prompt that leave room for ranked items, whose tokens are all fed. */
export function rankedRoom({ engine, catalogue }: RecallParts, item?: ItemTemplate): number {
  if (item === undefined) return Number.POSITIVE_INFINITY;
  return engine.model.maxPositions - catalogue.summary.depth - item.tokensMax;
}

export function requestLimits(parts: RecallParts): RequestLimits {
  const { defaults, resultCountMax, scoreItemsMax, widthMax } = parts;
  const { template } = parts.template;
  const { headSize, vocabSize } = parts.engine.model;
  const hasWholeVocabulary = headSize === vocabSize;
  const { answerNorm = 'full' } = template;
  return {
    resultCountMax,
    scoreItemsMax,
    widthMax,
    stepsMax: stepsOf(parts),
    itemsPerSidMax: resultCountMax,
    historyItemsMax: defaults.historyItemsMax,
    retention: parts.behaviours.retention,
    defaultResultCount: defaults.resultCount,
    defaultSearch: defaults.search,
    defaultRowBudget: defaults.rowBudget,
    hasWholeVocabulary,
    scoreNorm: answerNorm === 'full' && !hasWholeVocabulary ? 'level' : answerNorm,
    profileKeys: slotKeys(template, 'profile'),
    sceneKeys: slotKeys(template, 'scene'),
  };
}
