import { ERROR_TRAILERS, isErrorCode, TesseraError } from "../../libs/ops/errors/src/index.js";
/** A refusal in the words of the service, with the field it names. */ export function callError(error) {
    if (error instanceof TesseraError) return error;
    const trailer = (name)=>error.metadata?.get(name)[0]?.toString();
    const code = trailer(ERROR_TRAILERS.code) ?? '';
    return new TesseraError(isErrorCode(code) ? code : 'ENGINE_UNAVAILABLE', error.details, {
        field: trailer(ERROR_TRAILERS.field),
        cause: error
    });
}

//# sourceMappingURL=call-error.js.map