export {
  type AdmissionPlace,
  type AdmissionSettings,
  EdgeAdmission,
  type Forecast,
  type PriorityClass,
} from './edge-admission.js';
