/** A recall on its way to the store: the answer as it was sent, nothing of it made ready yet. */ export { };

//# sourceMappingURL=recordable.js.map