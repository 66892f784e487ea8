/** Changes of a batch that are listed by item; the others are counted. */ export const CHANGES_TOLD_MAX = 50;

//# sourceMappingURL=applied-batch.js.map