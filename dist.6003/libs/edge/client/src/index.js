export { clusterState, userRoute } from "./cluster-state.js";
export { CHANNEL_OPTIONS, channelCredentials, PLAIN, peerConnection, peerTls, tokenHeaders } from "./connection.js";
export { askEdge } from "./edge-call.js";
export { ServiceClient } from "./service-client.js";
export { TesseraClient } from "./tessera-client.js";
export { DEFAULT_TOPICS, TopicClient } from "./topic-client.js";

//# sourceMappingURL=index.js.map