/** A part of the suite that can be asked for alone. */ export { };

//# sourceMappingURL=stage.js.map