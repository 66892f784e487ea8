import type { BehaviourStore, Popularity } from '@tessera/behaviour';
import type { Binding, Catalogue, Engine, EnginePass } from '@tessera/engine';
import type { Erasures } from '@tessera/erasure';
import { type CompiledTemplate, slotKeys } from '@tessera/prompt';
import type { RequestLimits } from './check-request.js';
import type { RecallDefaults, RecallRuntimeOptions } from './runtime-types.js';

/** The part of the engine that requests are answered with. */
export type RecallEngine = Pick<Engine, 'model' | 'recall' | 'score' | 'append' | 'prefetch'>;

/** The parts that answer requests for one catalogue. One set serves all; nothing in it changes. */
export interface RecallParts extends Pick<RecallRuntimeOptions, 'process'> {
  readonly engine: RecallEngine;
  readonly catalogue: Catalogue;
  /** Where items of histories are looked for as well; left out: nowhere. */
  readonly otherCatalogues?: readonly Catalogue[];
  readonly binding: Binding;
  readonly template: CompiledTemplate;
  readonly behaviours: BehaviourStore;
  /** Milliseconds since 1970; left out: by the clock of the machine. */
  readonly nowMs?: (() => number) | undefined;
  /** Where `recall.withoutHistory` is `popular`. */
  readonly popularity?: Popularity | undefined;
  readonly erasures: Erasures;
  readonly defaults: RecallDefaults;
  readonly promptTokensMax: number;
  readonly widthMax: number;
  readonly resultCountMax: number;
  readonly scoreItemsMax: number;
  /** Called with the forward passes of every recall. */
  readonly onPasses?: ((passes: readonly EnginePass[]) => void) | undefined;
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

export function requestLimits(parts: RecallParts): RequestLimits {
  const { defaults, resultCountMax, scoreItemsMax, widthMax } = parts;
  const { template } = parts.template;
  const { headSize, vocabSize } = parts.engine.model;
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
    defaultWidths: defaults.widths,
    defaultItemsPerSid: Math.min(defaults.itemsPerSid, resultCountMax),
    defaultScoreNorm: defaults.scoreNorm,
    hasWholeVocabulary: headSize === vocabSize,
    profileKeys: slotKeys(template, 'profile'),
    sceneKeys: slotKeys(template, 'scene'),
  };
}
