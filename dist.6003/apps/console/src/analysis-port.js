/** The facts of recalls, as the console asks them. */ export { };

//# sourceMappingURL=analysis-port.js.map