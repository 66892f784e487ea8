export { DECLARED_TYPES, NOTHING, REACH_LIMITS, TERM_FUNCTIONS, TEXT_COMPUTE_TYPES, TREE_OUTCOMES, TREE_SLOTS } from "../../../native/ts/index.js";
export { EVERY_ITEM, NO_ELIGIBILITY, NO_ITEM, NO_POLICY } from "./catalogue.js";
export { configNote } from "./config-note.js";
export { Engine } from "./engine.js";
export { ENGINE_CHOICES, engineLimits, kvOptions, queueCapacityFor, scalesIn } from "./engine-limits.js";
export { lockFile } from "./folder-lock.js";
export { headPool, NOTHING_FOUND } from "./kv-pool.js";
export { measureScales } from "./measure-scales.js";
export { readModelShape } from "./model-shape.js";
export { buildCatalogue, openCatalogue } from "./native-catalogue.js";
export { NativeEmbedder } from "./native-embedder.js";
export { NativeEngine } from "./native-engine.js";
export { NO_TIMINGS } from "./no-timings.js";
export { OrderedStore, repairChanges, repairStore, StoreReading } from "./ordered-store.js";
export { closeStoreLink, makeStoreLink, openStoreLink } from "./store-link.js";
export { configureTasks, taskDepths } from "./tasks.js";
export { NOTHING_HELD } from "./tickets.js";

//# sourceMappingURL=index.js.map