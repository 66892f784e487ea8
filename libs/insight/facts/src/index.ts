export type { FactBehaviour, FactOutcome, FactSink, FactState } from './domain/fact-store.js';
export { FACT_TABLES, STILL_SEQ } from './domain/fact-tables.js';
export { type OutcomeRules, parseOutcomes } from './domain/outcome-rules.js';
export { type EndedRecall, predicateIdOf } from './domain/recall-facts.js';
export { ItemFeed } from './item-feed.js';
export { ChildFactStore, type FactStoreOptions } from './outside/child-fact-store.js';
export { viewStatements } from './outside/fact-views.js';
export { PredicateFeed } from './predicate-feed.js';
export { serveFacts } from './process/facts-server.js';
