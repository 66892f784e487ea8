/**
 * Answers of each operation of the console. tools/console-answers.mjs makes schemas of it
 * (`npm run generate`), which the OpenAPI document shows and the integration tests hold answers to.
 */

import type {
  About,
  ActivatedVersion,
  AdapterChanges,
  AdaptersPage,
  AdPage,
  AnalysisAbout,
  CataloguePage,
  ClusterPage,
  ComparisonPage,
  ComparisonSummary,
  CompositionPage,
  DescribedItem,
  ExplainAnswer,
  ExportJob,
  ItemPlace,
  ItemsPage,
  Landing,
  LivePage,
  LoginState,
  Note,
  OidcBegun,
  OutcomesPage,
  OverviewPage,
  QueryResult,
  ReachPage,
  RecallList,
  RecallPage,
  RecordedChange,
  RelevancePage,
  SavedQuestion,
  SavedSet,
  SchemaPage,
  TreeNames,
  TriedRecall,
  UnreachedPage,
  UserChangePage,
  UserPage,
  VersionsPage,
} from './api-types.js';
import type { ImportState } from './imports.js';
import type { TablePage } from './table-types.js';

/** Removed notes, sets and the like; false: there was none. */
interface Removed {
  readonly removed: boolean;
}

/** Answers by `METHOD path`, as in openapi.ts. Answers that are streamed have no schema. */
export interface ConsoleAnswers {
  readonly 'get login': LoginState;
  readonly 'post login': LoginState;
  readonly 'delete login': LoginState;
  readonly 'post login/oidc': OidcBegun;
  readonly 'get about': About;
  readonly 'get cluster': ClusterPage;
  readonly 'get live': LivePage;
  readonly 'get recalls': RecallList;
  readonly 'post recalls': TriedRecall;
  readonly 'get recalls/{id}': RecallPage;
  readonly 'post recalls/{id}/explain': ExplainAnswer;
  readonly 'post recalls/{id}/notes': Note;
  readonly 'delete recalls/{id}/notes/{note}': Removed;
  readonly 'post relevance': RelevancePage;
  readonly 'get users': { readonly userIds: readonly string[] };
  readonly 'get users/{id}': UserPage;
  readonly 'delete users/{id}': { readonly known: boolean; readonly recalls: number };
  readonly 'get items': { readonly items: readonly DescribedItem[]; readonly isWhole: boolean };
  readonly 'get catalogue': CataloguePage;
  readonly 'get catalogue/changes': { readonly changes: readonly RecordedChange[] };
  readonly 'get catalogue/names': TreeNames;
  readonly 'get items/{id}/place': ItemPlace;
  readonly 'post catalogue/landing': Landing;
  readonly 'post catalogue/roll-back': { readonly sequence: number };
  readonly 'post catalogue/imports': { readonly id: string };
  readonly 'post catalogue/imports/{id}/lines': ImportState;
  readonly 'post catalogue/imports/{id}/apply': ImportState & { readonly sequence: number };
  readonly 'delete catalogue/imports/{id}': Removed;
  readonly 'get adapters': AdaptersPage;
  readonly 'get adapters/changes': AdapterChanges;
  readonly 'post adapters/{name}/{digest}/activate': ActivatedVersion;
  readonly 'post adapters/{name}/roll-back': {
    /** Digests; '' where none serves, or none did. */
    readonly serves: string;
    readonly replaced: string;
  };
  readonly 'post adapters/{name}/{digest}/pin': { readonly isPinned: boolean };
  readonly 'delete adapters/{name}/{digest}/pin': { readonly isPinned: boolean };
  readonly 'delete adapters/{name}/{digest}': Removed;
  readonly 'get comparisons': { readonly comparisons: readonly ComparisonSummary[] };
  readonly 'get comparisons/{id}': ComparisonPage;
  readonly 'delete comparisons/{id}': Removed;
  readonly 'post comparisons/{id}/notes': Note;
  readonly 'delete comparisons/{id}/notes/{note}': Removed;
  readonly 'post sql': QueryResult;
  readonly 'get analysis/about': AnalysisAbout;
  readonly 'get analysis/schema': SchemaPage;
  readonly 'get analysis/overview': OverviewPage;
  readonly 'get analysis/composition': CompositionPage;
  readonly 'get analysis/reach': ReachPage;
  readonly 'get analysis/unreached': UnreachedPage;
  readonly 'get analysis/versions': VersionsPage;
  readonly 'get analysis/outcomes': OutcomesPage;
  readonly 'get analysis/tables/{name}': TablePage;
  readonly 'get analysis/ads/{id}': AdPage;
  readonly 'get analysis/items': ItemsPage;
  readonly 'get analysis/change': UserChangePage;
  readonly 'post exports': ExportJob;
  readonly 'get exports/{id}': ExportJob;
  readonly 'delete exports/{id}': Removed;
  readonly 'get sets': { readonly sets: readonly SavedSet[] };
  readonly 'post sets': SavedSet;
  readonly 'delete sets/{name}': Removed;
  readonly 'get questions': { readonly questions: readonly SavedQuestion[] };
  readonly 'post questions': SavedQuestion;
  readonly 'delete questions/{name}': Removed;
}
