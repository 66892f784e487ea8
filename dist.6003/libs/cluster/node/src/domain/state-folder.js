/** A folder whose files are a part of the state that a log decides. */ export { };

//# sourceMappingURL=state-folder.js.map