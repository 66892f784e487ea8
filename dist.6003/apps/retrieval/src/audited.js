/** A request and its outcome. */ export { };

//# sourceMappingURL=audited.js.map