/** Limits of a pass of an encoder. */ export const PASS_LIMITS = {
    /** Texts of a pass. */ textsMax: 256,
    /**
   * Predicted microseconds of a pass of several texts, so that a call that arrives waits for one
   * short pass; a single long text may take longer.
   */ timeTargetUs: 50_000
};
/** Limits of a request, and of all that wait. */ export const TEXT_LIMITS = {
    /** Texts waiting for a model: eight requests of full size; one that exceeds it is refused. */ queueTextsMax: 16_384,
    /** Texts of a request. */ requestTextsMax: 2048,
    /** UTF-8 bytes of a text: beyond what any encoder reads. */ textBytesMax: 65_536
};

//# sourceMappingURL=embedding-choices.js.map