export type { AdmissionPlace } from './answer-limit.js';
export type { PriorityClass } from './class-shares.js';
export {
  type AdmissionSettings,
  type ClassForecast,
  EdgeAdmission,
  endOf,
  type Refusal,
} from './edge-admission.js';
export { type Caller, HeldCallers } from './held-callers.js';
