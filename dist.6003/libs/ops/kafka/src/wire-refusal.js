import { errorBody } from "../../errors/src/index.js";
/** Why there is no answer, as the topics tell it. */ export function wireRefusal(error) {
    const { code, message, field = '', retryAfterMs = 0 } = errorBody(error).error;
    return {
        code,
        message,
        field,
        retryable: error.retryable,
        retryAfterMs
    };
}

//# sourceMappingURL=wire-refusal.js.map