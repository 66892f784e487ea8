import { TesseraError } from "../../../ops/errors/src/index.js";
import { MICROSECONDS_PER_MILLISECOND } from "../../../ops/units/src/index.js";
import { LOOP_LAG } from "./loop-lag.js";
/**
 * One call: the caller, the time it has, whether it is still wanted, its trace and its place in
 * admission. Made by the edge that received it, which also ends it; times are of performance.now().
 */ export class Call {
    parts;
    edge;
    caller;
    signal;
    trace;
    field;
    arrivedMs = performance.now();
    deadlineMs;
    place;
    hasEnded = false;
    constructor(parts){
        this.parts = parts;
        const { edge, caller, signal, trace, field, transportMs, limits } = parts;
        this.edge = edge;
        this.caller = caller;
        this.signal = signal;
        this.trace = trace;
        this.field = field;
        const silentMs = transportMs === Number.POSITIVE_INFINITY;
        const leftMs = silentMs ? limits.defaultDeadlineMs : transportMs;
        this.deadlineMs = this.arrivedMs + Math.min(leftMs, limits.deadlineMsMax);
    }
    /**
   * Microseconds in which the answer has to be there so that it is written before the deadline: the
   * event loop's lag counts twice, before the call was read and before the answer is written, and
   * as half of the time at most. Always finite, negative once the time has passed.
   */ get leftUs() {
        const leftMs = this.deadlineMs - performance.now();
        const lagMs = Math.min(2 * LOOP_LAG.ms, Math.max(0, leftMs) / 2);
        return Math.floor((leftMs - lagMs) * MICROSECONDS_PER_MILLISECOND);
    }
    /** One of several requests in this call: in its time, with a place in admission of its own. */ part() {
        return new Call({
            ...this.parts,
            transportMs: this.deadlineMs - performance.now()
        });
    }
    /**
   * Takes the time that the body of the request names; undefined: it names none. The shorter of
   * transport and body counts.
   * @throws TesseraError REQUEST_INVALID
   */ limit(deadlineMs) {
        if (deadlineMs === undefined) return;
        const { transportMs, limits } = this.parts;
        if (deadlineMs > limits.deadlineMsMax || deadlineMs < 1) {
            const expected = `expected 1..${limits.deadlineMsMax}, got ${deadlineMs}`;
            throw new TesseraError('REQUEST_INVALID', `deadlineMs: ${expected}`, {
                field: 'deadlineMs'
            });
        }
        this.deadlineMs = this.arrivedMs + Math.min(transportMs, deadlineMs);
    }
    /**
   * Takes a place in admission, once; `end` gives it back.
   * @throws TesseraError ENGINE_OVERLOADED with a hint when to ask again
   */ admit(cls) {
        if (this.place !== undefined || this.hasEnded) return;
        const leftMs = this.leftUs / MICROSECONDS_PER_MILLISECOND;
        this.place = this.parts.admission?.admit(cls, leftMs);
    }
    /** Runs `act`, with which the call ends: answered, or refused as it rejects. */ async during(act) {
        try {
            const answer = await act();
            this.end();
            return answer;
        } catch (thrown) {
            this.end(TesseraError.from(thrown));
            throw thrown;
        }
    }
    /**
   * Gives back what the call holds; `error`: its refusal, left out where it was answered.
   * Idempotent.
   */ end(error) {
        this.hasEnded = true;
        const isRefused = error !== undefined && NOT_SERVED.has(error.code);
        this.place?.giveBack(this.signal.aborted ? 'gone' : isRefused ? 'refused' : 'answered');
        this.place = undefined;
    }
}
/** Codes of calls for which there was no time or no room. */ const NOT_SERVED = new Set([
    'ENGINE_OVERLOADED',
    'DEADLINE_EXCEEDED'
]);

//# sourceMappingURL=call.js.map