export type {
  FactBehaviour,
  FactOutcome,
  FactSink,
  FactState,
} from './domain/fact-store.js';
export { READ_TABLES, type RowTableName, STILL_SEQ } from './domain/fact-tables.js';
export { type OutcomeRules, parseOutcomes } from './domain/outcome-rules.js';
export { answeredBy, type EndedRecall, predicateIdOf, RecallIds } from './domain/recall-facts.js';
export { ItemFeed } from './item-feed.js';
export { ChildFactStore, type FactStoreOptions } from './outside/child-fact-store.js';
export { factFolders } from './outside/fact-folder.js';
export { OPEN_RECALLS, ROLLED_RECALLS, viewStatements } from './outside/fact-views.js';
export { FactWriter } from './outside/fact-writer.js';
export { PredicateFeed } from './predicate-feed.js';
export { serveFacts } from './process/facts-server.js';
