/** Sources of exposures: of each recall exactly one of them counts. */ export { };

//# sourceMappingURL=analysis-store.js.map