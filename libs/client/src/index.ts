export {
  type Connection,
  channelCredentials,
  PLAIN,
  peerConnection,
  tokenHeaders,
} from './connection.js';
export { type Asked, TesseraClient } from './tessera-client.js';
export { DEFAULT_TOPICS, TopicClient, type TopicClientOptions } from './topic-client.js';
