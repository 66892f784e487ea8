/** Port: takes facts and never waits, and never throws. */ export { };

//# sourceMappingURL=fact-store.js.map