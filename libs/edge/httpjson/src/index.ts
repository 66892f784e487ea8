export { HttpJson } from './http-json.js';
export { SERVICE_JSON } from './service-json.js';
