/** A batch of an import: it has everything of the import up to a position. */ export { };

//# sourceMappingURL=import-mark.js.map