/** The engine's side of a store: calls that it makes, and where their ends go. Of one thread. */ export { };

//# sourceMappingURL=store-link.js.map