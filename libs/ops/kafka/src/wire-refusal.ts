import type { WireRecallRefusal } from '@tessera/contracts';
import { errorBody, type TesseraError } from '@tessera/errors';

/** Why there is no answer, as the topics tell it. */
export function wireRefusal(error: TesseraError): WireRecallRefusal {
  const { code, message, field = '', retryAfterMs = 0 } = errorBody(error).error;
  return { code, message, field, retryable: error.retryable, retryAfterMs };
}
