export {
  type Condition,
  type ConditionReading,
  type ConditionSource,
  type ConditionState,
  Conditions,
} from './conditions.js';
export {
  isRepairCutOff,
  refuseCutOff,
  repairedStore,
  restoreMark,
} from './cut-off-stores.js';
export { closing, Drain, type DrainReport, type DrainStep } from './drain.js';
export { outliveOutput } from './lost-output.js';
export { Readiness, type ReadinessState } from './readiness.js';
export { closeFilesToOthers, runProcess, serviceVersion } from './run-process.js';
export { drainOnStopSignals, STOP_SIGNALS } from './stop-signals.js';
