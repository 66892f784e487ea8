import { ERROR_TABLE } from "./codes.js";
/**
 * Bytes of UTF-8 that callers get of a message and of a field's path. Both may quote the request;
 * over gRPC they are headers, and clients drop answers whose headers are too long (8 KiB at some).
 */ const MESSAGE_BYTES_MAX = 2048;
const FIELD_BYTES_MAX = 256;
const CUT = '...';
const UTF8 = new TextEncoder();
const CUT_TEXT = new Uint8Array(MESSAGE_BYTES_MAX);
/** The text, or as much of its begin as so many bytes hold. */ function cutTo(bytesMax, text) {
    if (text.length * 3 <= bytesMax) return text;
    const { read } = UTF8.encodeInto(text, CUT_TEXT.subarray(0, bytesMax));
    if (read === text.length) return text;
    const kept = UTF8.encodeInto(text, CUT_TEXT.subarray(0, bytesMax - CUT.length)).read;
    return `${text.slice(0, kept)}${CUT}`;
}
/** The one error that crosses a lib's face. The message says what was expected and what it got. */ export class TesseraError extends Error {
    code;
    field;
    retryAfterMs;
    constructor(code, message, options = {}){
        super(message, options.cause === undefined ? undefined : {
            cause: options.cause
        });
        this.name = 'TesseraError';
        this.code = code;
        if (options.field !== undefined) this.field = options.field;
        if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs;
    }
    get row() {
        return ERROR_TABLE[this.code];
    }
    get retryable() {
        return this.row.retryable;
    }
    /** Any thrown value as a TesseraError; what is not one becomes INTERNAL and keeps its cause. */ static from(thrown) {
        if (thrown instanceof TesseraError) return thrown;
        const message = thrown instanceof Error ? thrown.message : String(thrown);
        return new TesseraError('INTERNAL', message, {
            cause: thrown
        });
    }
}
/** The body for callers: an INTERNAL fault keeps its details for the log, long texts are cut. */ export function errorBody(error) {
    return {
        error: {
            code: error.code,
            message: error.code === 'INTERNAL' ? 'internal error' : cutTo(MESSAGE_BYTES_MAX, error.message),
            ...error.field === undefined ? {} : {
                field: cutTo(FIELD_BYTES_MAX, error.field)
            },
            retryable: error.retryable,
            ...error.retryAfterMs === undefined ? {} : {
                retryAfterMs: error.retryAfterMs
            }
        }
    };
}

//# sourceMappingURL=tessera-error.js.map