/**
 * A call that scores documents, as its edge has it: nodes are asked for parts of it, and their
 * answers are put together in the caller's order.
 */ export { };

//# sourceMappingURL=scored-call.js.map