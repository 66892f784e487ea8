export { readAnswerFacts, readCompletionHead, readFailure, readRankAnswer, readRecallAnswer, readRelevanceAnswer, readScoreAnswer, readStoreFound, writeAttributeDeclarations, writeChangeMessage, writeGivenCodebooks, writeRankRequest, writeReachRequest, writeRecallRequest, writeRelevanceRequest, writeRequestHead, writeRequestWork, writeScoreRequest, writeStoreBatch, writeStoreQuery, writeValueRequest } from "./generated/packed.js";
export { ABI_DIGEST, DECLARED_TYPES, NOTHING, REACH_LIMITS, REQUEST_KINDS, TERM_FUNCTIONS, TEXT_COMPUTE_TYPES, TREE_OUTCOMES, TREE_SLOTS } from "./generated/types.js";
export { loadAddon } from "./load.js";
export { PackedEntries, PackedReader, PackedWriter } from "./packed.js";

//# sourceMappingURL=index.js.map