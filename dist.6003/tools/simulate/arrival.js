/** A request of a trace or of drawn users. */ export { };

//# sourceMappingURL=arrival.js.map