export { Erasures } from './erasures.js';
export { type PendingErasure, PendingErasures } from './pending-erasures.js';
