export { endProcess, sendAll } from "./channel.js";
export { startLimited } from "./child-limits.js";
export { ChildLink, CLOSE_MS } from "./child-link.js";
export { serveCalls } from "./child-server.js";
export { jsonRows } from "./json-rows.js";
export { receivedError, sentError } from "./sent-error.js";
export { WriteQueue } from "./write-queue.js";

//# sourceMappingURL=index.js.map