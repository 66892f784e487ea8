/** Where what is too large for an entry lies, under a name that its content or offset gives. */ export { };

//# sourceMappingURL=entry-store.js.map