/** The parts of a push; ends early where the client goes away. */ export { };

//# sourceMappingURL=push-parts.js.map