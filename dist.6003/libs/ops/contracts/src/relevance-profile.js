/** Report of a node that scores texts in `/health`. */ export { };

//# sourceMappingURL=relevance-profile.js.map