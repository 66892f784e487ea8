import { setTimeout as after } from "node:timers/promises";
import { FakeEngine } from "../../../libs/testing/src/index.js";
/**
 * An engine that computes nothing: every recall has the same answer after a fixed delay. What a
 * service with it cannot serve is the limit of the service itself.
 */ export class DelayEngine extends FakeEngine {
    delayMs;
    prepared;
    constructor(delayMs){
        super({
            maxPositions: 4096
        }), this.delayMs = delayMs;
    }
    async recall(request, signal) {
        this.prepared ??= super.recall(request, signal);
        const answer = await this.prepared;
        await after(this.delayMs);
        return answer;
    }
}

//# sourceMappingURL=delay-engine.js.map