export { labelTokens } from './domain/label-tokens.js';
export type { NamedAdapters } from './domain/named-adapters.js';
export { Relevance } from './domain/relevance.js';
export {
  QUEUE_DOCUMENTS_MAX,
  type RelevanceAnswer,
  type RelevanceContext,
  type RelevanceOutcome,
  type RelevanceRequest,
  type RelevanceScorer,
} from './domain/relevance-types.js';
export { isCrossEncoder, isNamedCrossEncoder, openCrossEncoder } from './outside/cross-encoder.js';
export { loadRelevance } from './outside/relevance-folder.js';
