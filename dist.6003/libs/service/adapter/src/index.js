export { CANARY_RULES, DEFAULT_ADAPTER, DEFAULT_RANKING, FETCH_TIMEOUT_MS, NORM_MAX, RANK_MAX, VERSION_BYTES_MAX } from "./adapter-choices.js";
export { Adapters } from "./adapters.js";
export { BASE_LEASE } from "./domain/adapter-choice.js";
export { ranksApart } from "./domain/adapter-engine.js";
export { fileBytes, filesFound } from "./domain/adapter-version.js";
export { AnnouncedVersions } from "./outside/announced-versions.js";
export { fetchedParts } from "./outside/fetched-folder.js";
export { hashOf } from "./outside/regular-file.js";
export { S3Store } from "./outside/s3-store.js";
export { repairRegistry } from "./repair-registry.js";
export { ServedWeights } from "./served-weights.js";

//# sourceMappingURL=index.js.map