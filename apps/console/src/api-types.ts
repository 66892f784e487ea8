/** Answers of the console's API; its pages read the same types. */

import type { AdapterState, CanaryReport, ClickRate, RuleVerdict } from '@tessera/adapter';
import type {
  AdPage,
  AnalysisAbout,
  AnalysisItem,
  ChangePart,
  CompositionPage,
  Estimate,
  Estimates,
  ExportJob,
  ItemsPage,
  Mark,
  OutcomeRow,
  OutcomesPage,
  OverviewFigures,
  OverviewPage,
  Rate,
  ReachPage,
  ReachRow,
  SchemaPage,
  UnreachedPage,
  UserChangePage,
  VersionsPage,
} from '@tessera/analysis';
import type { Landing } from '@tessera/catalogue';
import type { ClusterState, ShownNode } from '@tessera/client';
import type {
  ComparisonSummary,
  Note,
  Pulse,
  QueryResult,
  RecallSummary,
  RecordedChange,
  RecordedRecall,
  SavedSet,
  StoreState,
} from '@tessera/inspection';
import type { Certificate, DescribedItem, ExplainAnswer } from '@tessera/recall';
import type { Visitor } from './console-access.js';
import type { Comparison, Distribution } from './domain/compare.js';
import type { Neighbour } from './domain/nearest.js';

export type { Comparison, Distribution } from './domain/compare.js';
export type {
  AdPage,
  AnalysisAbout,
  AnalysisItem,
  CanaryReport,
  Certificate,
  ChangePart,
  ClickRate,
  ClusterState,
  ComparisonSummary,
  CompositionPage,
  DescribedItem,
  Estimate,
  Estimates,
  ExplainAnswer,
  ExportJob,
  ItemsPage,
  Landing,
  Mark,
  Note,
  OutcomeRow,
  OutcomesPage,
  OverviewFigures,
  OverviewPage,
  Pulse,
  QueryResult,
  Rate,
  ReachPage,
  ReachRow,
  RecallSummary,
  RecordedChange,
  RecordedRecall,
  RuleVerdict,
  SavedSet,
  SchemaPage,
  ShownNode,
  StoreState,
  UnreachedPage,
  UserChangePage,
  VersionsPage,
  Visitor,
};

/** How one may log in; null: nobody has to. */
export interface LoginState {
  /** Null: somebody who has to log in first. */
  readonly visitor: Visitor | null;
  readonly ways: { readonly token: boolean; readonly oidc: boolean } | null;
}

export interface OidcBegun {
  /** Address to send the browser to. */
  readonly url: string;
}

export interface About {
  readonly service: string;
  readonly state: string;
  readonly visitor: Visitor;
  readonly model: {
    readonly family: string;
    readonly parameterCount: number;
    readonly computeType: string;
    readonly instructionSet: string;
    readonly digest: string;
  };
  readonly catalogue: {
    readonly digest: string;
    readonly itemCount: number;
    readonly pathCount: number;
    readonly depth: number;
    readonly sequence: number;
    readonly liveItemCount: number;
  };
  readonly promptTemplate: { readonly name: string; readonly digest: string };
  readonly valuations: readonly { readonly name: string; readonly hasHeads: boolean }[];
  readonly isRecording: boolean;
  readonly canErase: boolean;
}

/** A question in SQL that an analyst has kept for all. */
export interface SavedQuestion {
  readonly name: string;
  readonly author: string;
  readonly timeMs: number;
  readonly sql: string;
}

/** Names of the nodes of the tree, after what the items below have in common. */
export interface TreeNames {
  /** The attribute whose commonest value names a node; '' where no attribute is a text. */
  readonly attribute: string;
  /** Names by path, codes joined by `-`. */
  readonly names: Readonly<Record<string, { readonly value: string; readonly share: number }>>;
  /** False: only the first items of a large catalogue were counted. */
  readonly isWhole: boolean;
}

/** Place of an item in the tree. */
export interface ItemPlace extends DescribedItem {
  /** Items with the most first codes in common. */
  readonly neighbours: readonly Neighbour[];
  /** False: only the first items of a large catalogue were looked at. */
  readonly isWhole: boolean;
}

/** A line of the list of recorded recalls. */
export interface ListedRecall extends RecallSummary {
  /** The node that recorded it; '' where there is no cluster. */
  readonly node: string;
}

/** A question that could not be asked, and the reason. */
export interface Unreached {
  /** A node, or `gateway`. */
  readonly node: string;
  readonly reason: string;
}

export interface RecallList {
  /** In the order that is asked for; times are by the clock of the node that recorded each. */
  readonly recalls: readonly ListedRecall[];
  /** Nodes whose recalls are missing from the list. */
  readonly unreached: readonly Unreached[];
}

/** A recorded recall with what people read of it. */
export interface RecallPage {
  /** The node that recorded it; '' where there is no cluster. */
  readonly node: string;
  /** That is the node that was asked: notes are taken there alone. */
  readonly isHere: boolean;
  readonly recall: RecordedRecall;
  /** Known items of the answer and of the history, by item ID. */
  readonly described: Readonly<Record<string, DescribedItem>>;
  /** Number of the change that `described` is as of; null: they are today's. */
  readonly describedAt: number | null;
  /** Items whose title or attributes are others today, or that have gone. */
  readonly changedSince: readonly string[];
  readonly notes: readonly Note[];
  /** Versions that are no longer served: what is stored is shown, and nothing can be replayed. */
  readonly goneVersions: readonly string[];
}

export interface TriedRecall {
  /** ID of the record; '' where nothing is recorded. */
  readonly id: string;
}

/** Outcomes of the texts to score, in the order in which they were given. */
export interface ScoredDocument {
  /** '' where the text was given. */
  readonly itemId: string;
  /** Whole; '' where the item has none. */
  readonly text: string;
  /** Null where it has none. */
  readonly score: number | null;
  /** Tokens of its prompt, and of these the document's own. */
  readonly promptTokens: number;
  readonly documentTokens: number;
  /** Tokens at the document's end that were left out: nothing else of a prompt ever is. */
  readonly cutTokens: number;
  /** Why it has no score. */
  readonly error: { readonly code: string; readonly message: string } | null;
}

export interface RelevancePage {
  /** Digest of the weights that scored. */
  readonly model: string;
  readonly template: string;
  /** Digest; '': the model alone. */
  readonly adapter: string;
  /** Tokens of all prompts, each counted whole, and of those the computed ones. */
  readonly promptTokens: number;
  readonly computedTokens: number;
  readonly totalUs: number;
  readonly documents: readonly ScoredDocument[];
}

export interface KvChainView {
  readonly version: string;
  readonly isRetired: boolean;
  readonly tokens: number;
  readonly deviceTokens: number;
  readonly hostTokens: number;
  readonly diskTokens: number;
  readonly durableTokens: number;
  /** Versions of the adapter between the one that computed the oldest tokens and this one. */
  readonly versionsBack: number;
}

export interface UserPage {
  readonly userId: string;
  readonly profile: Readonly<Record<string, string>>;
  /** Oldest first, the newest of them. */
  readonly behaviours: readonly {
    readonly itemId: string;
    readonly action: string;
    readonly time: number;
    readonly title: string;
    readonly sid: readonly number[];
  }[];
  readonly chains: readonly KvChainView[];
  /** The node that keeps these chains; '' where there is no cluster. */
  readonly node: string;
  /** Why that is not the owner of the user; '' where it is. */
  readonly fault: string;
}

export interface CataloguePage {
  readonly sequence: number;
  readonly liveItemCount: number;
  readonly changedItemCount: number;
  readonly bundleUuid: string;
  readonly generations: readonly {
    readonly firstSequence: number;
    readonly lastSequence: number;
    readonly logBytes: number;
    readonly baseDigest: string;
  }[];
}

/** Lines of a comparison, as they come. */
export type ComparisonLine =
  | { readonly kind: 'progress'; readonly done: number; readonly total: number }
  | ({
      readonly kind: 'user';
      readonly userId: string;
      /** How each side was searched. */
      readonly certificates: { readonly left: Certificate; readonly right: Certificate };
    } & Comparison)
  | { readonly kind: 'failed'; readonly userId: string; readonly message: string }
  | {
      readonly kind: 'summary';
      /** ID of the saved comparison; '' where nothing is saved. */
      readonly id: string;
      readonly users: number;
      readonly failed: number;
      readonly overlap: number;
      readonly rankShift: number;
      readonly gained: number;
      readonly lost: number;
      readonly attributes: Distribution;
    };

/** A comparison that was saved, as it was answered. */
export interface ComparisonPage extends ComparisonSummary {
  readonly sides: ComparisonSides;
  readonly lines: readonly ComparisonLine[];
  readonly notes: readonly Note[];
}

/** The settings of both sides: fields of a recall over HTTP, and the version of the catalogue. */
export interface ComparisonSides {
  readonly left: Readonly<Record<string, unknown>>;
  readonly right: Readonly<Record<string, unknown>>;
}

/** A version of an adapter, as it is known now. */
export interface AdapterView {
  readonly name: string;
  readonly digest: string;
  readonly state: AdapterState;
  /** Why it is rejected or retired; '' where nothing went wrong. */
  readonly reason: string;
  readonly remark: string;
  readonly pushedBy: string;
  readonly holder: string;
  readonly learnedUntilMs: number;
  readonly leaseUntilMs: number;
  readonly receivedMs: number;
  readonly changedMs: number;
  readonly isPinned: boolean;
  readonly isLoaded: boolean;
  /** The version that a rollback of the name activates. */
  readonly isPredecessor: boolean;
  readonly arenaBytes: number;
  readonly fileBytes: number;
  /** Share of the users, in (0, 1) for a canary; 0 for others. */
  readonly share: number;
  /** Findings of the engine; null: it was never loaded. */
  readonly facts: {
    readonly rankMax: number;
    readonly targetCount: number;
    readonly replacedRows: number;
    readonly largestNorm: number;
    readonly heads: readonly string[];
    readonly isActivated: boolean;
  } | null;
  /** How it fares, or fared, beside the active version. */
  readonly report?: CanaryReport;
}

export interface CanaryView {
  readonly name: string;
  readonly digest: string;
  readonly share: number;
  readonly changedMs: number;
  /** Absent until the first recall. */
  readonly report?: CanaryReport;
}

export interface AdaptersPage {
  /** False where no adapters are kept. */
  readonly isKept: boolean;
  readonly defaultName: string;
  /** Versions by name, newest first. */
  readonly versions: readonly AdapterView[];
  readonly titles: Readonly<Record<string, string>>;
  readonly arena: { readonly usedBytes: number; readonly maxBytes: number };
  readonly disk: { readonly usedBytes: number; readonly maxBytes: number };
}

export interface AdapterChange {
  readonly timeMs: number;
  readonly action: string;
  readonly actor: string;
  /** '' where it was not done in the console. */
  readonly role: string;
  readonly name: string;
  readonly digest: string;
  readonly outcome: string;
  readonly detail: string;
}

export interface AdapterChanges {
  /** Newest first. */
  readonly changes: readonly AdapterChange[];
  /** Older ones are in the file of audits. */
  readonly isWhole: boolean;
}

export interface ActivatedVersion {
  readonly warmedUsers: number;
  /** Absent where it was not compared. */
  readonly goldenOverlap?: number;
}

export interface ClusterPage {
  /** HOST:PORT of the gateway; '' where the configuration names none. */
  readonly gateway: string;
  /** Null where the gateway could not be asked. */
  readonly table: ClusterState | null;
  readonly fault: string;
}

export interface LivePage {
  readonly pulses: readonly Pulse[];
  readonly engine: { readonly queued: number; readonly running: number };
  readonly store: StoreState | undefined;
  readonly canaries: readonly CanaryView[];
}
