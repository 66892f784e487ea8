import { randomUUID } from "node:crypto";
import { TesseraError } from "../../../ops/errors/src/index.js";
import { PulseMeter } from "./domain/pulse.js";
import { reasonToRecord } from "./domain/sampling.js";
/** How many pulses are held here: those of the last hour come from the store. */ const PULSES_HELD = 720;
/**
 * The recalls of a service with a witness beside them: some are recorded, all are counted in
 * pulses. A recall that is not recorded costs a comparison and a few additions.
 */ export class InspectedRecalls {
    parts;
    meter;
    held = [];
    timer;
    constructor(parts){
        this.parts = parts;
        this.meter = new PulseMeter(parts.nowMs());
        this.timer = setInterval(()=>this.pulse(), parts.pulseMs);
        this.timer.unref();
    }
    /** Answers as the service does; nothing that is only recorded is in the answer. */ async recall(request, context) {
        const { answer } = await this.run(request, context, 'served');
        return answer;
    }
    /** The same for a recall that is tried in the console, which is always recorded. */ async try(request, context) {
        const { onTried } = this.parts;
        try {
            const tried = await this.run({
                ...request,
                wantsSight: true
            }, context, 'console');
            onTried?.(request, tried.answer);
            return tried;
        } catch (thrown) {
            onTried?.(request, TesseraError.from(thrown));
            throw thrown;
        }
    }
    /** Pulses since then, oldest first. */ async pulsesSince(fromMs) {
        const kept = await this.parts.store?.pulses(fromMs) ?? [];
        const known = new Set(kept.map((pulse)=>pulse.timeMs));
        const own = this.held.filter(({ timeMs })=>timeMs >= fromMs && !known.has(timeMs));
        return [
            ...kept,
            ...own
        ].sort((a, b)=>a.timeMs - b.timeMs);
    }
    close() {
        clearInterval(this.timer);
    }
    async run(request, context, source) {
        const { serving, store, rules, draw, nowMs } = this.parts;
        const asked = {
            isAskedFor: request.wantsSight ?? false,
            userId: request.userId
        };
        const reason = store === undefined ? undefined : reasonToRecord(asked, rules, draw());
        const { wantsSight: _asked, ...plain } = request;
        const wanted = reason === undefined ? plain : {
            ...plain,
            wantsSight: true
        };
        const id = reason === undefined ? '' : randomUUID();
        const { erasures } = serving;
        const { mark } = erasures;
        const keep = (outcome)=>{
            // Nothing of a user is recorded who was erased since: not even that there was one.
            if (reason === undefined || erasures.isErasedSince(request.userId, mark)) return false;
            this.meter.record();
            const recall = {
                id,
                timeMs: nowMs(),
                source,
                reason,
                request: plain,
                outcome
            };
            return store?.offer(recall) ?? false;
        };
        try {
            const seen = await serving.recall(wanted, context);
            this.meter.answer(seen);
            const isKept = keep({
                answer: seen
            });
            const { sight: _sight, ...answer } = seen;
            return {
                answer,
                recordId: isKept ? id : ''
            };
        } catch (thrown) {
            const { code, message } = TesseraError.from(thrown);
            this.meter.refusal(code);
            keep({
                code,
                message
            });
            throw thrown;
        }
    }
    pulse() {
        const { nowMs, catalogueSequence, store } = this.parts;
        const now = nowMs();
        const pulse = this.meter.end(now, catalogueSequence());
        this.meter = new PulseMeter(now);
        this.held.push(pulse);
        if (this.held.length > PULSES_HELD) this.held.shift();
        store?.offerPulse(pulse);
    }
}

//# sourceMappingURL=inspected-recalls.js.map