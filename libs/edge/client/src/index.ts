export {
  type ClusterState,
  clusterState,
  type ShownNode,
  type UserRoute,
  userRoute,
} from './cluster-state.js';
export {
  CHANNEL_OPTIONS,
  type Connection,
  channelCredentials,
  PLAIN,
  peerConnection,
  peerTls,
  tokenHeaders,
} from './connection.js';
export { askEdge, type EdgeCall } from './edge-call.js';
export { RetryBudget } from './retries.js';
export {
  type Asked,
  ServiceClient,
  type ServiceClientOptions,
  type ServiceName,
} from './service-client.js';
export { errorOf } from './service-error.js';
export { TesseraClient } from './tessera-client.js';
export { DEFAULT_TOPICS, TopicClient, type TopicClientOptions } from './topic-client.js';
