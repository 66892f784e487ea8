/** Opaque handles: what one holds is released when it is closed, or with the last that names it. */ /** Of a folder that this process alone uses. */ export { };

//# sourceMappingURL=handles.js.map