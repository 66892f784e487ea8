/** The calls of a world to the service that it uses; a bench or a test gives another. */

export interface WorldItem {
  readonly itemId: string;
  readonly sid: readonly number[];
  readonly title: string;
  readonly attributes: {
    readonly category?: unknown;
    readonly advertiser?: unknown;
    readonly bid?: unknown;
    readonly discount?: unknown;
  };
  readonly paused: boolean;
}

export interface WorldRecall {
  /** Of the visit; distinct in the run. */
  readonly visit: string;
  readonly userId: string;
  readonly daypart: string;
  readonly resultCount: number;
  /** One place is drawn among fresh ads. */
  readonly explores: boolean;
  /** Some places are drawn among all ads; never with `explores`. */
  readonly drawsAll?: boolean;
  /** Its ads are ranked by the heads of the service, where it has some. */
  readonly ranks?: boolean;
}

export interface WorldAnswer {
  /** Best first. */
  readonly itemIds: readonly string[];
  /** Digest of the adapter version that answered; '': the base model. */
  readonly version: string;
}

export interface WorldBehaviour {
  readonly visit?: string;
  readonly userId: string;
  readonly itemId: string;
  readonly action: 'impression' | 'click' | 'purchase';
  readonly daypart: string;
  readonly position?: number;
  /** Distinct among the behaviours of a user with an item and action, where there is no visit. */
  readonly number?: number;
}

export type WorldChange =
  | { readonly op: 'pause' | 'resume' | 'remove'; readonly itemId: string }
  | { readonly op: 'set'; readonly itemId: string; readonly attributes: object }
  | {
      readonly op: 'upsert';
      readonly itemId: string;
      readonly sid: readonly number[];
      readonly title: string;
      readonly attributes: object;
    };

export interface WorldRanking {
  readonly userId: string;
  readonly daypart: string;
  /** Ads that are recalled and ranked. */
  readonly count: number;
}

export interface RankedAd {
  readonly itemId: string;
  /** Answer of the head `click`. */
  readonly click: number;
  /** Place by the recall's score, from 1. */
  readonly recallRank: number;
}

/** A service whose heads are judged. */
export interface RankingService {
  /** Ads by expected value, best first; undefined: there are no heads, or no such valuation. */
  ranked(question: WorldRanking): Promise<readonly RankedAd[] | undefined>;
}

/** Every call rejects with a TesseraError; a retryable one means that the service is away. */
export interface WorldService {
  items(): Promise<readonly WorldItem[]>;
  recall(question: WorldRecall): Promise<WorldAnswer>;
  append(behaviours: readonly WorldBehaviour[]): Promise<void>;
  /** All or none; each item is named once. */
  apply(changes: readonly WorldChange[]): Promise<void>;
  /** Of the active version that follows; undefined: none does. */
  learnedUntilMs(): Promise<number | undefined>;
}
