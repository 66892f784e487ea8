export { HttpJson } from './http-json.js';
export type { JsonForm } from './message-plan.js';
