// Generated from native/abi/limits.json by tools/generate.mjs. Do not edit.
/** Largest values that the engine takes. */ export const ENGINE_LIMITS = {
    threadCountMax: 256,
    queueCapacityMax: 1048576,
    batchRequestsMax: 1024,
    batchRowsMax: 65536,
    prefillChunkTokensMax: 65536,
    passTimeTargetUsMax: 60000000,
    promptTokensMax: 1048576,
    widthMax: 4096,
    rowBudgetMax: 65536,
    resultCountMax: 65536,
    scoreItemsMax: 65536,
    rankItemsMax: 16384,
    rankTokensMax: 32,
    terminalTokensMax: 8,
    labelTokensMax: 256,
    kvThreadsMax: 64,
    kvQueueMax: 1048576,
    versionsBackMax: 16
};

//# sourceMappingURL=engine-limits.js.map