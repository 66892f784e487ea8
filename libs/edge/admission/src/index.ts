export type { PriorityClass } from './class-shares.js';
export { type AdmissionSlot, EdgeAdmission, type Refused } from './edge-admission.js';
export { LoopWait } from './loop-wait.js';
