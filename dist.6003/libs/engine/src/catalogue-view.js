export { };

//# sourceMappingURL=catalogue-view.js.map