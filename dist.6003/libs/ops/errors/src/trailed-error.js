import { ERROR_TRAILERS, isErrorCode } from "./codes.js";
import { TesseraError } from "./tessera-error.js";
/** The error that a refusal's trailers carry. */ export function trailedError({ message, trailer, fallback, cause }) {
    const code = trailer(ERROR_TRAILERS.code) ?? '';
    const retryAfter = trailer(ERROR_TRAILERS.retryAfterMs);
    return new TesseraError(isErrorCode(code) ? code : fallback, message, {
        field: trailer(ERROR_TRAILERS.field),
        retryAfterMs: retryAfter === undefined ? undefined : Number(retryAfter),
        cause
    });
}

//# sourceMappingURL=trailed-error.js.map