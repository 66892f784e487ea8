import { ERROR_TRAILERS, errorBody } from "../../../ops/errors/src/index.js";
/** Metadata takes printable ASCII only; anything else is percent-encoded. */ function printable(text) {
    return /^[\x20-\x7e]*$/.test(text) ? text : encodeURIComponent(text.toWellFormed());
}
/** Details of an error beside its status, as trailers of the call by their names. */ export function errorTrailers(error) {
    const { code, field, retryAfterMs } = errorBody(error).error;
    const hint = retryAfterMs === undefined ? undefined : String(retryAfterMs);
    return {
        [ERROR_TRAILERS.code]: code,
        ...field === undefined ? {} : {
            [ERROR_TRAILERS.field]: printable(field)
        },
        ...hint === undefined ? {} : {
            [ERROR_TRAILERS.retryAfterMs]: hint,
            [ERROR_TRAILERS.pushbackMs]: hint
        }
    };
}

//# sourceMappingURL=error-trailers.js.map