import { setTimeout as sleep } from "node:timers/promises";
import { TesseraError } from "../../../ops/errors/src/index.js";
const ATTEMPTS_MAX = 4;
const FIRST_WAIT_MS = 20;
/** Milliseconds before the next attempt; null: it would not help, or come too late. */ export function waitBeforeRetry(error, attempt, leftMs) {
    if (!error.retryable || error.code === 'DEADLINE_EXCEEDED') return null;
    if (attempt + 1 >= ATTEMPTS_MAX) return null;
    const waitMs = error.retryAfterMs ?? FIRST_WAIT_MS * 2 ** attempt;
    return waitMs < leftMs ? waitMs : null;
}
/**
 * Attempts until one succeeds, none would help or the time is over. `act` gets the time that is
 * left.
 */ export async function withRetries(deadlineMs, act) {
    const until = performance.now() + deadlineMs;
    for(let attempt = 0;; attempt += 1){
        const leftMs = until - performance.now();
        try {
            return await act(leftMs);
        } catch (thrown) {
            const error = TesseraError.from(thrown);
            const waitMs = waitBeforeRetry(error, attempt, until - performance.now());
            if (waitMs === null) throw error;
            await sleep(waitMs);
        }
    }
}

//# sourceMappingURL=retry.js.map