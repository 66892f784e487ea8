import { TesseraError } from "../../../ops/errors/src/index.js";
import { AnswerLimit } from "./answer-limit.js";
import { ClassMix } from "./class-mix.js";
/**
 * Admission of the calls of one queue, before anything is computed for them.
 *
 *   refused   <=>  (places taken + 1) / answers a second * margin > time left
 *             or   classes take turns, and the class has used its share
 *             or   places taken >= inFlightMax
 *
 * The rate of answers is measured while there is a backlog (AnswerLimit); the engine judges each
 * request that it is given once more, by its work. Both are needed: the engine's wait takes running
 * requests for a queue though they share passes, and alone it answered 81 % in time at three times
 * the capacity, with this limit 98 %.
 */ export class EdgeAdmission {
    settings;
    limit;
    mix = new ClassMix();
    constructor(settings){
        this.settings = settings;
        this.limit = new AnswerLimit(settings.nowMs);
    }
    /** Calls that have a place. */ get inFlight() {
        return this.limit.inFlight;
    }
    /** Milliseconds that a call which came now would wait; 0 where nothing is known of it. */ get waitMs() {
        return this.limit.waitMs;
    }
    forecast(cls) {
        return this.settings.forecast(cls);
    }
    /**
   * Judges a call whose message is still to come and whose class is not known yet, by time alone.
   * @throws TesseraError ENGINE_OVERLOADED
   */ check(leftMs) {
        const { neededMs } = this.limit;
        if (neededMs <= leftMs) return;
        // It is demand all the same, of the class that recent calls make most likely.
        this.limit.refuses(this.mix.next(), leftMs);
        throw this.tooLong(neededMs, leftMs);
    }
    /** @throws TesseraError ENGINE_OVERLOADED with a hint when to ask again */ admit(cls, leftMs) {
        this.mix.note(cls);
        const { inFlightMax } = this.settings;
        if (this.inFlight >= inFlightMax) {
            const message = `too many calls: expected fewer than ${inFlightMax} at once`;
            throw this.refusal(message, this.waitMs / inFlightMax);
        }
        const { neededMs } = this.limit;
        const slot = this.limit.admit(cls, leftMs);
        if (isRefused(slot)) {
            if (neededMs > leftMs) throw this.tooLong(neededMs, leftMs);
            const afterMs = Math.ceil(slot.retryAfterMs);
            const message = `overloaded: priority ${CLASS_NAMES[cls]} used its share`;
            throw this.refusal(`${message}; retry after ${afterMs} ms`, afterMs);
        }
        return {
            giveBack: (end)=>{
                if (end === 'refused') slot.noteRefused();
                slot.end(end !== 'gone');
            }
        };
    }
    tooLong(waitMs, leftMs) {
        const expected = `expected wait ${Math.ceil(waitMs)} ms`;
        const message = `queue too long: ${expected}, deadline in ${Math.floor(leftMs)} ms`;
        return this.refusal(message, waitMs - leftMs);
    }
    refusal(message, afterMs) {
        this.settings.onRefused?.();
        const retryAfterMs = Math.max(1, Math.ceil(afterMs));
        return new TesseraError('ENGINE_OVERLOADED', message, {
            retryAfterMs
        });
    }
}
const CLASS_NAMES = [
    'high',
    'normal',
    'low'
];
const isRefused = (slot)=>'retryAfterMs' in slot;

//# sourceMappingURL=edge-admission.js.map