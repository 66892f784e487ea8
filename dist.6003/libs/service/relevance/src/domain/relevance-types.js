/** Scorer of texts, by whatever model. */ /** Documents waiting or running: two requests of full size; one more is refused. */ export const QUEUE_DOCUMENTS_MAX = 2048;

//# sourceMappingURL=relevance-types.js.map