/** Milliseconds; nobody who waits for an operation of seconds feels them. */ const BUSY_PAUSE_MS = 250;
/**
 * Milliseconds before an edge answers with an error. Operations of which only so many run are long
 * and rare, and callers that ask again at once, whatever they are answered, would each take a turn
 * of the thread that recalls need: their next call comes after this.
 */ export function refusalPauseMs({ code }) {
    return code === 'OPERATION_BUSY' ? BUSY_PAUSE_MS : 0;
}

//# sourceMappingURL=refusal-pause.js.map