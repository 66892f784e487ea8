export { Call } from "./call.js";
export { plain, service } from "./service.js";
export { submissionOf } from "./submission.js";

//# sourceMappingURL=index.js.map