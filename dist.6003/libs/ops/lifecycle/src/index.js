export { Conditions } from "./conditions.js";
export { closing, Drain } from "./drain.js";
export { resolvePort } from "./free-port.js";
export { Readiness } from "./readiness.js";
export { closeFilesToOthers, runProcess, serviceVersion } from "./run-process.js";
export { drainOnStopSignals, STOP_SIGNALS } from "./stop-signals.js";

//# sourceMappingURL=index.js.map