/**
 * The prompt template as data; docs/integrate/prompt-template.md describes the file that it is read
 * from.
 */

import type { ScoreNorm } from '@tessera/engine';

/** How the codes of a level are written in the vocabulary. */
export type LevelForm =
  /** Token text with `{code}` for the decimal code. */
  | { readonly kind: 'pattern'; readonly pattern: string }
  /** Token id = base + code. */
  | { readonly kind: 'base'; readonly base: number }
  /** Token id = ids[code]. */
  | { readonly kind: 'ids'; readonly ids: readonly number[] };

/** Text around an item: the same for all, or by the item's domain. */
export type Affix = string | ReadonlyMap<string, string>;

export interface TextSegment {
  readonly kind: 'text';
  readonly text: string;
}

/** One value of the user's profile or of the request's scene. */
export interface ValueSegment {
  readonly kind: 'profile' | 'scene';
  readonly key: string;
  readonly before: string;
  readonly after: string;
  /** Allowed values and how each is written; absent: any text is written as it is. */
  readonly values?: ReadonlyMap<string, string>;
  /** Written where the request has no value; absent: the segment is left out whole. */
  readonly default?: string;
}

/** The user as one of `bins`, for models that learn a vector of each bin. */
export interface UserSegment {
  readonly kind: 'user';
  readonly bins: number;
  /** Text around the number of the bin: together a token. */
  readonly before: string;
  readonly after: string;
}

export interface TimeGap {
  readonly atLeastS: number;
  readonly text: string;
}

export interface HistorySegment {
  readonly kind: 'history';
  readonly separator: string;
  readonly before: string;
  readonly after: string;
  /** Behaviours with other actions are not shown here; absent: all are. */
  readonly actions?: ReadonlySet<string>;
  /** Items of other domains are not shown here; absent: all are. */
  readonly domains?: ReadonlySet<string>;
  /** Text before an item by its action; '*' for actions that are not named; absent: none. */
  readonly actionTexts?: ReadonlyMap<string, string>;
  /** Text between two items by the time between them, shortest first; absent: none. */
  readonly timeGaps?: readonly TimeGap[];
  /**
   * Seconds within which an item that repeats the one before it, with the same action, is left out;
   * counted from the one that is shown; absent: none is.
   */
  readonly mergeRepeatsS?: number;
  /** Newest items shown; the excess goes in multiples of the template's trimStep. */
  readonly itemsMax: number;
}

export type Segment = TextSegment | ValueSegment | UserSegment | HistorySegment;

export interface PromptTemplate {
  readonly name: string;
  readonly levels: readonly LevelForm[];
  readonly itemPrefix: Affix;
  readonly itemSuffix: Affix;
  /** Text appended to the prompt before decoding begins. */
  readonly answerPrefix: string;
  /** Token texts that end every path and are scored. */
  readonly answerTerminal: readonly string[];
  /** Norm of scores where a request names none; absent: the service's own. */
  readonly answerNorm?: ScoreNorm;
  readonly segments: readonly Segment[];
  readonly promptTokensMax: number;
  /** Oldest history items are dropped in multiples of this. */
  readonly trimStep: number;
  /** SHA-256 of the template's canonical JSON, hexadecimal. */
  readonly digest: string;
}

/** Keys of the profile or scene slots, in the order of the segments. */
export function slotKeys(template: PromptTemplate, kind: 'profile' | 'scene'): string[] {
  const keys = template.segments.flatMap((segment) => (segment.kind === kind ? [segment.key] : []));
  return [...new Set(keys)];
}
