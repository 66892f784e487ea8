import { TesseraError } from "../../../ops/errors/src/index.js";
export function sentError(thrown) {
    const { code, message, field = '' } = TesseraError.from(thrown);
    return {
        code,
        message,
        field
    };
}
export function receivedError({ code, message, field }) {
    return new TesseraError(code, message, field === '' ? {} : {
        field
    });
}

//# sourceMappingURL=sent-error.js.map