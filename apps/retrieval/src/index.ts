export { fromServer } from './http/error-filter.js';
export { acceptOnlyJson } from './http/json-body.js';
export {
  RECALL_REQUESTS_PATTERN,
  RecallTopicSettings,
} from './kafka/recall-topic.controller.js';
export { RecallEdge } from './recall-edge.js';
export { RetrievalModule, type RetrievalOptions } from './retrieval.module.js';
export { ServedCatalogues } from './served-catalogues.js';
export { ServedVersions } from './served-versions.js';
