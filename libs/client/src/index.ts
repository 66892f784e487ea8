export {
  CHANNEL_OPTIONS,
  type Connection,
  channelCredentials,
  PLAIN,
  peerConnection,
  tokenHeaders,
} from './connection.js';
export {
  type Asked,
  ServiceClient,
  type ServiceClientOptions,
  type ServiceName,
} from './service-client.js';
export { TesseraClient } from './tessera-client.js';
export { DEFAULT_TOPICS, TopicClient, type TopicClientOptions } from './topic-client.js';
