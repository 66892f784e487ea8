export type { PriorityClass } from './class-shares.js';
export { type Admitted, EdgeAdmission, type Refused } from './edge-admission.js';
export { LoopWait } from './loop-wait.js';
