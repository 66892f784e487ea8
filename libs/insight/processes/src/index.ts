export { AnswerWatch } from './answer-watch.js';
export { type Channel, endProcess, sendAll } from './channel.js';
export { type ChildLimits, dataBytesLeft, startLimited } from './child-limits.js';
export { ChildLink, CLOSE_MS } from './child-link.js';
export { serveCalls } from './child-server.js';
export { jsonRows } from './json-rows.js';
export { receivedError, type SentError, sentError } from './sent-error.js';
export { WriteQueue } from './write-queue.js';
