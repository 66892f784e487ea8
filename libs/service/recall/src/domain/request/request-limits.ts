import type { Retention } from '@tessera/behaviour';
import type { ScoreNorm } from '@tessera/engine';
import type { Search } from './request-types.js';

/** Bounds of a search, and what a request gets where it says nothing. */
export interface SearchLimits {
  readonly widthMax: number;
  /** Steps of the catalogue: its depth and the terminal tokens. */
  readonly stepsMax: number;
  readonly defaultSearch: Search;
  /** 0: by the number of items wanted. */
  readonly defaultRowBudget: number;
}

/** Bounds of what a request may ask for, and what it gets where it says nothing. */
export interface RequestLimits extends SearchLimits {
  readonly resultCountMax: number;
  readonly scoreItemsMax: number;
  readonly itemsPerSidMax: number;
  readonly historyItemsMax: number;
  /** Retention of behaviours; undefined: unlimited, or not known here. */
  readonly retention: Retention | undefined;
  readonly defaultResultCount: number;
  /** True if the engine has logits of all tokens: `full` scores take them. */
  readonly hasWholeVocabulary: boolean;
  /** Norm of scores where a request names none. */
  readonly scoreNorm: ScoreNorm;
  readonly profileKeys: readonly string[];
  readonly sceneKeys: readonly string[];
}
