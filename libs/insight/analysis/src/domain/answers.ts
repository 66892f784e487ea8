/** Answers to the questions of analysts (docs/operate/analysis.md defines each figure). */

/** A share of successes with the bounds of its 95 % interval (Wilson 1927). */
export interface Rate {
  readonly successes: number;
  readonly trials: number;
  /** 0 without trials, as are the bounds. */
  readonly rate: number;
  readonly low: number;
  readonly high: number;
}

/** The facts that are kept, and how much of the traffic they have. */
export interface AnalysisAbout {
  /** False: no facts are kept here, and all else is empty. */
  readonly isKept: boolean;
  readonly store: 'duckdb' | 'clickhouse';
  /** Times of the oldest and the newest fact, milliseconds since 1970; 0 where there is none. */
  readonly keptFromMs: number;
  readonly keptToMs: number;
  readonly recalls: number;
  readonly behaviours: number;
  readonly bytes: number;
  readonly files: number;
  /** Milliseconds and bytes beyond which the oldest facts are deleted. */
  readonly keepMs: number;
  readonly keepBytes: number;
  /** Rows that were lost since the start of the process: the queue was full, or the disk. */
  readonly lost: readonly {
    /** '': a release before this one has lost them. */
    readonly table: string;
    readonly rows: number;
    /** Time of the first loss, milliseconds since 1970. */
    readonly sinceMs: number;
  }[];
  /** Why nothing is written now; '' where facts are written. */
  readonly fault: string;
  /** Shares of the recalls in facts, and recorded whole (tree, stages, history): 0..1. */
  readonly factShare: number;
  readonly recordShare: number;
  /** Keys of scenes and names of attributes that the facts have, for filters. */
  readonly sceneKeys: readonly string[];
  readonly attributes: readonly string[];
}

/** Figures of a span of time. */
export interface OverviewFigures {
  readonly recalls: number;
  readonly answered: number;
  readonly users: number;
  /** Refused recalls by error code. */
  readonly refused: Readonly<Record<string, number>>;
  /** Share of the live items that some recall had: 0..1. */
  readonly coverage: number;
  /** Gini coefficient of the exposure of live items: 0 (even) to 1. */
  readonly gini: number;
  readonly clickRate: Rate;
  /**
   * Mean Jaccard overlap of the same users' newest recalls here and in the span of equal length
   * before; null without such users.
   */
  readonly overlap: number | null;
}

/** A moment at which the service changed: an import, a roll-back, an activated version. */
export interface Mark {
  readonly timeMs: number;
  readonly kind: 'catalogue' | 'model' | 'adapter' | 'template';
  /** For people, e.g. `import: 60 added, 2 paused`. */
  readonly text: string;
  /** Items that changed, or changes where no item did; 0 for others. */
  readonly changes: number;
  /** Numbers of the last changes of the first and the last batch of its hour; 0 for others. */
  readonly firstSequence: number;
  readonly sequence: number;
  /** Digest of a version; '' for others. */
  readonly digest: string;
}

export interface OverviewPage {
  readonly fromMs: number;
  readonly toMs: number;
  readonly bucketMs: number;
  /** Clicks are of a panel: one user in so many; 1: of all recalls. */
  readonly oneIn: number;
  /** Size of the panel of overlaps: one user in so many. */
  readonly overlapOneIn: number;
  readonly liveItems: number;
  /** How items shown now are known: by impressions, or, without any, every recalled one counts. */
  readonly shownBy: 'impressions' | 'recalls';
  /** Actions of the span's behaviours where none is a click (`behaviours.clickActions`). */
  readonly otherActions: readonly string[];
  readonly now: OverviewFigures;
  /** Figures of the span of equal length before. */
  readonly before: OverviewFigures;
  readonly series: readonly (OverviewFigures & { readonly timeMs: number })[];
  readonly marks: readonly Mark[];
}

/** Values of an attribute in what was recalled. */
export interface CompositionPage {
  readonly attribute: string;
  readonly bucketMs: number;
  /** Most frequent first; '' for items without the attribute. */
  readonly values: readonly {
    readonly value: string;
    readonly items: number;
    readonly share: number;
  }[];
  /**
   * Gini coefficient of the recalled items by value, items never recalled included: 0 (even) to 1.
   */
  readonly gini: number;
  /** Items by value, in the order of `values`, in buckets that end where a mark is. */
  readonly series: readonly {
    readonly timeMs: number;
    readonly untilMs: number;
    readonly items: readonly number[];
  }[];
  /** Key of scenes that was asked for; '' where none was. */
  readonly sceneKey: string;
  /** Items by value of the scene, each in the order of `values`. */
  readonly matrix: readonly { readonly scene: string; readonly items: readonly number[] }[];
  readonly marks: readonly Mark[];
}

export interface ReachPage {
  /** `item`, or the name of an attribute. */
  readonly by: string;
  readonly fromMs: number;
  readonly atMs: number;
  readonly toMs: number;
  /** Reach of values is that of a panel: one user in so many; 1: of all recalls. */
  readonly oneIn: number;
  readonly recallsBefore: number;
  readonly recallsAfter: number;
  /** Largest change of the share first. */
  readonly rows: readonly ReachRow[];
  /** There are more rows. */
  readonly isCut: boolean;
}

export interface ReachRow {
  /** Item ID or value. */
  readonly key: string;
  /** Title of an item; '' for values. */
  readonly title: string;
  /** Recalls that had the item, or one with the value. */
  readonly before: number;
  readonly after: number;
  /** Share of the recalls in the span before: 0..1. */
  readonly shareBefore: number;
  readonly shareAfter: number;
  /** Since when none of its items is live, milliseconds since 1970; 0: some are. */
  readonly pausedMs: number;
}

/** Items that recalls could have had and none had. */
export interface UnreachedPage {
  readonly items: readonly {
    readonly itemId: string;
    readonly title: string;
    /** Recalls whose eligibility the item met. */
    readonly eligibleRecalls: number;
  }[];
  /** Values of an attribute that was asked for, those of most items first. */
  readonly values: readonly {
    readonly value: string;
    readonly items: number;
    /** Items with the value in all. */
    readonly live: number;
  }[];
  readonly total: number;
  readonly recalls: number;
  /** Recalls whose eligible items are not kept: none of them is counted above. */
  readonly unknownRecalls: number;
}

export interface VersionPair {
  readonly left: string;
  readonly right: string;
  /** With recalls of both under one model and one state of the catalogue. */
  readonly users: number;
  /** With recalls of both at any time of the span. */
  readonly usersOfBoth: number;
  /** Mean Jaccard overlap of the newest such recalls of a user; null without users. */
  readonly overlap: number | null;
  /** Users by overlap: [0, 0.1), ..., [0.9, 1]. */
  readonly histogram: readonly number[];
  /** Items that both recalls of a user have, by users; the most frequent. */
  readonly items: readonly SharedKey[];
  /** The values of such items. */
  readonly values: readonly SharedKey[];
}

export interface SharedKey {
  /** Item ID or value. */
  readonly key: string;
  /** Title of an item; '' for values. */
  readonly title: string;
  readonly count: number;
}

export interface VersionsPage {
  /** Span of the recalls that all but the pairs are about. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Digest of the canary that served meanwhile; '': the whole span that was asked for. */
  readonly canary: string;
  /** Outcome is of a panel: one user in so many; 1: of all recalls. */
  readonly oneIn: number;
  /** Size of the panel of overlaps: one user in so many. */
  readonly overlapOneIn: number;
  /** Most recalls first. */
  readonly versions: readonly {
    /** Digest; '' for the base model alone. */
    readonly adapter: string;
    readonly name: string;
    /** base, active, canary or named; the most frequent. */
    readonly arm: string;
    readonly recalls: number;
    readonly users: number;
  }[];
  /** Pairs of versions that the same users had, each once. */
  readonly pairs: readonly VersionPair[];
  /** Attribute that was asked for; '' where none was. */
  readonly attribute: string;
  readonly exposure: readonly {
    readonly adapter: string;
    readonly value: string;
    readonly items: number;
    readonly share: number;
  }[];
  readonly shownBy: 'impressions' | 'recalls';
  readonly outcome: readonly OutcomeRow[];
}

export interface OutcomeRow {
  readonly adapter: string;
  /** Position, from 1; 0: all together. */
  readonly position: number;
  readonly recalled: number;
  readonly impressions: number;
  readonly clicks: Rate;
  readonly conversions: Rate;
}

/** Reward of a recall, summed over its items, with the bounds of its 95 % interval. */
export interface Estimate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

export interface Estimates {
  /** Estimate of the logged answers. */
  readonly served: Estimate;
  /** Horvitz and Thompson 1952: each reward by target's over logged probability. */
  readonly weighted: Estimate;
  /** Estimate normalised by the sum of its weights (Hajek 1971). */
  readonly normalised: Estimate;
  /** A model of rewards, and the weighted errors of it (Robins, Rotnitzky and Zhao 1994). */
  readonly doublyRobust: Estimate;
  /** The doubly robust estimate less that of the logged answers, of the same users. */
  readonly gain: Estimate;
}

export interface Estimated {
  readonly recalls: number;
  readonly users: number;
  /** Sum of the rewards that were logged. */
  readonly rewards: number;
  /** Items of the target's answer, the mean. */
  readonly targetItems: number;
  /**
   * (sum of weights)^2 / sum of their squares, by users (Kish 1965): of drawn items, for fixed
   * places have a weight of 1. All users where the target has no others.
   */
  readonly effectiveUsers: number;
  /** Sum of the weights over its mean, the number of the target's items: about 1. */
  readonly balance: number;
  /** Null where fewer than EFFECTIVE_USERS_MIN users carry the weight. */
  readonly estimates: Estimates | null;
}

/** Rewards of a target on this traffic (docs/concepts/exploration.md). */
export interface OutcomesPage extends Estimated {
  /** Behaviour that earns an item 1: impression, click or conversion. */
  readonly reward: string;
  /** Recalls are of a panel: one user in so many; 1: all. */
  readonly oneIn: number;
  /** Recalls whose items have propensities. */
  readonly explored: number;
  /** Answered recalls that no estimate is of, by why. */
  readonly left: Readonly<Record<string, number>>;
  readonly effectiveUsersMin: number;
}

export interface AdPage {
  /** Null: the facts never had it. */
  readonly item: AnalysisItem | null;
  /** Oldest first. */
  readonly history: readonly AnalysisItem[];
  /** Outcome is of a panel, from which users are estimated: one in so many; 1: of all recalls. */
  readonly oneIn: number;
  readonly recalls: number;
  readonly users: number;
  readonly hours: readonly {
    readonly timeMs: number;
    readonly recalls: number;
    readonly users: number;
  }[];
  readonly byVersion: readonly { readonly adapter: string; readonly recalls: number }[];
  readonly byScene: readonly {
    readonly key: string;
    readonly value: string;
    readonly recalls: number;
  }[];
  /** Outcomes of the recalls that had it, by position and all together. */
  readonly outcome: readonly OutcomeRow[];
}

/** An item from a change of the catalogue on. */
export interface AnalysisItem {
  readonly itemId: string;
  readonly title: string;
  /** Codes joined by `-`. */
  readonly sid: string;
  /** Text of a JSON object. */
  readonly attributes: string;
  readonly isLive: boolean;
  readonly fromSequence: number;
  readonly fromMs: number;
}

export interface ItemsPage {
  readonly total: number;
  readonly items: readonly AnalysisItem[];
  /** Most frequent values of each attribute among the items that fit; on the first page alone. */
  readonly facets: readonly {
    readonly name: string;
    readonly values: readonly { readonly value: string; readonly count: number }[];
  }[];
}

/** Parts of what a recall depends on, that two recalls of a user may differ in. */
export type ChangePart = 'history' | 'catalogue' | 'adapter';

/** Why two recalls of a user differ. */
export interface UserChangePage {
  /** Jaccard distance of the two recalls as they were answered: 0..1. */
  readonly distance: number;
  /** Shapley shares of the parts; they and `rest` add up to the distance. */
  readonly shares: readonly {
    readonly part: ChangePart;
    readonly share: number;
    /** False: both recalls have the same, or one side cannot be asked. */
    readonly isAsked: boolean;
    /** Why it could not be asked; '' otherwise. */
    readonly reason: string;
  }[];
  /** The distance that the parts leave: another model, scene or a side that cannot be asked. */
  readonly rest: number;
  readonly gained: readonly string[];
  readonly lost: readonly string[];
  readonly corners: readonly {
    /** Parts that are those of the later recall. */
    readonly later: readonly ChangePart[];
    readonly itemIds: readonly string[];
  }[];
}

/** Tables that SQL can read. */
export interface SchemaPage {
  readonly tables: readonly {
    readonly name: string;
    readonly text: string;
    readonly columns: readonly {
      readonly name: string;
      readonly type: string;
      readonly text: string;
    }[];
  }[];
}

/** An export on its way. */
export interface ExportJob {
  readonly id: string;
  readonly state: 'running' | 'done' | 'failed';
  readonly format: 'csv' | 'parquet' | 'arrow';
  readonly bytes: number;
  readonly milliseconds: number;
  /** Message of a failed one; '' otherwise. */
  readonly message: string;
}
