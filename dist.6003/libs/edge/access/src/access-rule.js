/** Requirements of a method or route for its caller; the rows are in libs/edge/methods. */ export { };

//# sourceMappingURL=access-rule.js.map