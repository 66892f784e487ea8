// Generated from proto/ by tools/generate.mjs. Do not edit.
/** Services by their full names; a method has its request and its answer. */ export { };

//# sourceMappingURL=services.js.map