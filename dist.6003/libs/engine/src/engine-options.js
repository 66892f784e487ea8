/** How an engine is opened; without `kv` nothing is kept between requests. */ export { };

//# sourceMappingURL=engine-options.js.map