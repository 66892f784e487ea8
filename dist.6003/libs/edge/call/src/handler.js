/** By path of the method, as on the wire. */ export { };

//# sourceMappingURL=handler.js.map