/** How a version is tried where no caller waits: behind all who want answers. */ export { };

//# sourceMappingURL=adapter-probe.js.map