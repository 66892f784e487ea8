export { HttpJson } from './http-json.js';
export { OR_INTEGER } from './json-schemas.js';
export { idIn, memberOf, numberIn, wellFormed } from './read-json.js';
export { SERVICE_JSON } from './service-json.js';
