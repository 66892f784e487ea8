export { Relevance } from './domain/relevance.js';
export type {
  RelevanceAnswer,
  RelevanceContext,
  RelevanceOutcome,
  RelevanceRequest,
} from './domain/relevance-types.js';
export { loadRelevance } from './outside/relevance-folder.js';
