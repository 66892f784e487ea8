export type { Cancellation } from './cancellation.js';
export {
  ERROR_TABLE,
  ERROR_TRAILERS,
  type ErrorCode,
  type ErrorRow,
  FAULTS,
  GRPC_STATUS,
  isErrorCode,
  NATIVE_ERRORS,
  SERVICE_ERRORS,
  UNREAD_REQUESTS,
} from './codes.js';
export { expecting, idExpected, isBlank, shown } from './expecting.js';
export { finiteJson } from './finite-json.js';
export { isConnectionLost } from './lost-connection.js';
export { refusalPauseMs } from './refusal-pause.js';
export {
  type ErrorBody,
  errorBody,
  TesseraError,
  type TesseraErrorOptions,
} from './tessera-error.js';
export { type TrailedRefusal, trailedError } from './trailed-error.js';
export { visible } from './visible.js';
export {
  JSON_DEPTH_MAX,
  JSON_MEMBERS_MAX,
  JSON_VALUES_MAX,
  jsonFault,
  parseJson,
} from './written-json.js';
