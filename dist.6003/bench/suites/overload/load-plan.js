/** Requests to the generator's process and its answers; both cross as JSON. */ export { };

//# sourceMappingURL=load-plan.js.map