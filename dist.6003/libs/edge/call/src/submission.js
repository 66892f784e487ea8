import { WAIT_FOR } from "../../../ops/contracts/src/index.js";
import { expecting } from "../../../ops/errors/src/index.js";
const invalid = expecting('REQUEST_INVALID');
/** Names of metadata and headers: who repeats a change under one key changes nothing. */ const KEY = 'idempotency-key';
/** Header: the event that the answer to a change waits for. */ const WAITS = 'tessera-wait-for';
const isWaitFor = (text)=>WAIT_FOR.includes(text);
/**
 * How a caller wants a change taken.
 * @param get first value of a metadata or header field
 * @throws TesseraError REQUEST_INVALID
 */ export function submissionOf(get) {
    const key = get(KEY);
    const waitFor = get(WAITS);
    if (waitFor !== undefined && !(typeof waitFor === 'string' && isWaitFor(waitFor))) {
        throw invalid(WAITS, `one of ${WAIT_FOR.join(', ')}`, String(waitFor));
    }
    return {
        ...typeof key === 'string' && {
            key
        },
        ...waitFor !== undefined && {
            waitFor
        }
    };
}

//# sourceMappingURL=submission.js.map