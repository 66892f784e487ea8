import type { RelevanceProfile } from '@tessera/contracts';
import type { Engine } from '@tessera/engine';
import type { Cancellation, TesseraError } from '@tessera/errors';
import type { ItemText } from '@tessera/prompt';

/** The part of the engine that pairs are scored with. */
export type RelevanceEngine = Pick<Engine, 'model' | 'relevance' | 'stats'>;

/** Scorer of texts, by whatever model. */
/** Documents waiting or running: two requests of full size; one more is refused. */
export const QUEUE_DOCUMENTS_MAX = 2048;

export interface RelevanceScorer {
  /** The text of an item of the catalogue. */
  readonly itemText: ItemText;
  /** @throws TesseraError ADAPTER_NOT_FOUND naming `field` where calls cannot name the adapter */
  checkAdapter(name: string, field: string): void;
  /** Profile of this node for a gateway that splits calls. */
  profile(): RelevanceProfile;
  /**
   * Rejects with REQUEST_INVALID naming the field, with ADAPTER_NOT_FOUND, and where `failures` is
   * `whole` with what the first document without a score failed with.
   */
  score(request: RelevanceRequest, context: RelevanceContext): Promise<RelevanceAnswer>;
}

export interface RelevanceLimits {
  readonly documentsMax: number;
  readonly promptTokensMax: number;
  /** Requests to the engine that are submitted together. */
  readonly requestsAtOnce: number;
}

export interface RelevanceRequest {
  readonly query: string;
  /** Left out: the template's. */
  readonly instruction?: string | undefined;
  /** Texts, or why there is none. */
  readonly documents: readonly (string | TesseraError)[];
  /** Treatment of a document that is too long: its end is left out, or it is refused. */
  readonly tooLong: 'cut' | 'refuse';
  /**
   * Effect of a document that has no score: `each`: others have theirs; `whole`: the call fails.
   */
  readonly failures: 'each' | 'whole';
  readonly priority: 'high' | 'normal' | 'low';
  /** Name of an adapter; left out, '' or `base`: the model alone. */
  readonly adapter?: string | undefined;
}

export interface RelevanceContext {
  readonly signal?: Cancellation | undefined;
  /** Remaining time, microseconds. */
  readonly budgetUs: number;
}

/** Outcome of a document: a score, or the reason for none. */
export type RelevanceOutcome =
  | {
      readonly score: number;
      /** Tokens of its prompt, and of these the document's own. */
      readonly promptTokens: number;
      readonly documentTokens: number;
      /** Tokens at the end of the document that were left out so that the prompt fits. */
      readonly cutTokens: number;
    }
  | { readonly error: TesseraError };

export interface RelevanceAnswer {
  /** Per document, in the order of the request. */
  readonly outcomes: readonly RelevanceOutcome[];
  /** Tokens of all prompts that have a score, each document's counted whole. */
  readonly promptTokens: number;
  /** Tokens computed for this call; what prompts share is counted once. */
  readonly computedTokens: number;
  readonly modelDigest: string;
  readonly template: string;
  /** Digest; '': the model alone. */
  readonly adapter: string;
}
