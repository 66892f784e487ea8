export { EXPORT_FORMATS, InspectionStore } from "./domain/inspection-store.js";
export { askedAgain } from "./domain/recorded-recall.js";
export { parseWatchedUsers } from "./domain/sampling.js";
export { InspectedRecalls } from "./inspected-recalls.js";
export { ChildInspectionStore } from "./outside/child-inspection-store.js";
export { FactAnalysis } from "./outside/fact-analysis.js";
export { serveLauncher } from "./process/launcher-server.js";
export { SQL_LENGTH_MAX } from "./process/queries.js";
export { serveQuery } from "./process/query-worker.js";
export { serveRecorder } from "./process/recorder-server.js";

//# sourceMappingURL=index.js.map