/** Entries of one call: a node refuses more, and a gateway does not cut more into parts. */ export const BEHAVIOURS_PER_CALL_MAX = 10_000;
export const RECALLS_PER_CALL_MAX = 256;

//# sourceMappingURL=entries-max.js.map