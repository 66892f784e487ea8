/**
 * The functions of the addon, in the order in which native/src/bridge registers them (those of the
 * ordered store are in store-abi.ts). Free functions, handle first, flat data; no optional
 * properties, no defaults. native/abi describes their arguments and results; the types, readers and
 * writers of both sides are generated from it.
 *
 * Inputs are copied during the call; the caller may reuse its arrays at once. Outputs are ordinary
 * objects and arrays.
 * Times cross as a remaining budget in microseconds, never as a wall clock.
 */ export { };

//# sourceMappingURL=abi.js.map