/** From one bundle to the next: '' follows any. */ export { };

//# sourceMappingURL=ordered-changes.js.map