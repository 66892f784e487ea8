export {
  type AdmissionPlace,
  type AdmissionSettings,
  type ClassForecast,
  EdgeAdmission,
  type Forecast,
  type PriorityClass,
} from './edge-admission.js';
