/** Vectors of texts, from which items get their semantic IDs. */ /** The encoders of this process. */ export { };

//# sourceMappingURL=text-embedder.js.map