export { ProgramThread } from "./program-thread.js";

//# sourceMappingURL=index.js.map