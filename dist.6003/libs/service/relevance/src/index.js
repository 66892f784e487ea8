export { labelTokens } from "./domain/label-tokens.js";
export { Relevance } from "./domain/relevance.js";
export { QUEUE_DOCUMENTS_MAX } from "./domain/relevance-types.js";
export { isCrossEncoder, openCrossEncoder } from "./outside/cross-encoder.js";
export { loadRelevance } from "./outside/relevance-folder.js";

//# sourceMappingURL=index.js.map