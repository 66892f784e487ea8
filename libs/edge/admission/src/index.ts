export type { PriorityClass } from './class-shares.js';
export {
  type AdmissionPlace,
  type AdmissionSettings,
  type ClassForecast,
  EdgeAdmission,
  endOf,
  type Refusal,
} from './edge-admission.js';
export { type Caller, HeldCallers } from './held-callers.js';
