/** A recall whose items have propensities, and a target that it is weighed for. */ export { };

//# sourceMappingURL=logged-recall.js.map