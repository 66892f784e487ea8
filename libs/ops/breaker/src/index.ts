export { StoreBreaker, type StoreReach } from './store-breaker.js';
