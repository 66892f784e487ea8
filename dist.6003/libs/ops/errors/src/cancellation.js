/**
 * The caller's wish to go on, as far as anybody here needs it: any AbortSignal is one. Where calls
 * are short and many an edge has one that costs less.
 */ export { };

//# sourceMappingURL=cancellation.js.map