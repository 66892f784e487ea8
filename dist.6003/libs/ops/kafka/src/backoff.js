import { setTimeout as sleep } from "node:timers/promises";
const FIRST_MS = 100;
const LAST_MS = 5000;
/** Milliseconds before attempt `attempt` + 1: doubling, bounded. */ export function backoffMs(attempt) {
    return Math.min(LAST_MS, FIRST_MS * 2 ** Math.min(attempt, 16));
}
/**
 * Tries until it succeeds or the signal aborts; null then. `onFailure` is called with every failure
 * before the wait.
 */ export async function untilDone(act, signal, onFailure) {
    for(let attempt = 0; !signal.aborted; attempt += 1){
        try {
            return await act();
        } catch (error) {
            onFailure(error, attempt);
            await sleep(backoffMs(attempt), undefined, {
                signal
            }).catch(()=>undefined);
        }
    }
    return null;
}

//# sourceMappingURL=backoff.js.map