export type { PriorityClass } from './class-shares.js';
export {
  type AdmissionPlace,
  type AdmissionSettings,
  type ClassForecast,
  EdgeAdmission,
} from './edge-admission.js';
