export { AdapterAudits } from "./adapter-audits.js";
export { AdapterEdge } from "./adapter-edge.js";
export { readJsonRecall } from "./handlers/requests.js";
export { ANNOUNCEMENTS_PATTERN, FetchSource } from "./kafka/adapter-topic.controller.js";
export { CATALOGUE_CHANGES_PATTERN } from "./kafka/catalogue-topic.controller.js";
export { RecallAudits } from "./kafka/recall-audits.js";
export { RECALL_REQUESTS_PATTERN, RecallTopicSettings } from "./kafka/recall-topic.controller.js";
export { scoreTexts } from "./relevance-edge.js";
export { RemoteBehaviours } from "./remote-behaviours.js";
export { RetrievalModule, retrievalMethods } from "./retrieval.module.js";
export { WeightsEdge } from "./weights-edge.js";
export { EMBEDDING_ROUTES, EMBEDDING_SCHEMAS } from "./wire/embedding-schemas.js";
export { openApiOfRpcs } from "./wire/json-form.js";
export { postPaths } from "./wire/json-schemas.js";
export { parseRerank } from "./wire/rerank.js";
export { RERANK_ROUTES, RERANK_SCHEMAS } from "./wire/rerank-schemas.js";

//# sourceMappingURL=index.js.map