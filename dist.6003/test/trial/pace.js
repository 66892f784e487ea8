/**
 * The only clock of the trial: how fast producers write and for how long something is away are part
 * of what is drawn. Nothing is waited for here; that is `until` of libs/testing.
 */ export { setTimeout as pace } from "node:timers/promises";

//# sourceMappingURL=pace.js.map