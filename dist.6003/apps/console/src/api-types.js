/** Answers of the console's API; its pages read the same types. */ export { };

//# sourceMappingURL=api-types.js.map