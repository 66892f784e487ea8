/** Limits of a model of texts that a test opens: of one thread, few texts and short queues. */ export const TEXT_LIMITS = {
    threadCount: 1,
    tokensMax: 512,
    textsMax: 8,
    timeTargetUs: 1e6,
    queueTextsMax: 64,
    requestTextsMax: 16,
    textBytesMax: 4096
};

//# sourceMappingURL=text-limits.js.map