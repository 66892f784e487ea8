import { MICROSECONDS_PER_MILLISECOND } from "../../../../ops/units/src/index.js";
/**
 * Predicted microseconds of the parts that a node has: those of one router, and what the node has
 * said that it has beyond them. Work is done as time goes by, the oldest first. Owner: whoever
 * routes; single-threaded.
 */ export class PredictedWork {
    parts = new Set();
    /** Of other routers, and of the node itself. */ foreignUs = 0;
    steppedMs = 0;
    /** Until the node has done what it has. */ backlogUs(nowMs) {
        this.step(nowMs);
        return this.ownUs() + this.foreignUs;
    }
    /** A part of so many microseconds begins. @returns what ends it */ begin(us, nowMs) {
        this.step(nowMs);
        const part = {
            leftUs: us
        };
        this.parts.add(part);
        return (endMs)=>{
            this.step(endMs);
            this.parts.delete(part);
        };
    }
    /** The node has said how much it has, of all routers together. */ state(us, nowMs) {
        this.step(nowMs);
        this.foreignUs = Math.max(0, us - this.ownUs());
    }
    ownUs() {
        let us = 0;
        for (const { leftUs } of this.parts)us += leftUs;
        return us;
    }
    step(nowMs) {
        let doneUs = Math.max(0, nowMs - this.steppedMs) * MICROSECONDS_PER_MILLISECOND;
        this.steppedMs = Math.max(this.steppedMs, nowMs);
        for (const part of this.parts){
            const us = Math.min(part.leftUs, doneUs);
            part.leftUs -= us;
            doneUs -= us;
        }
        this.foreignUs = Math.max(0, this.foreignUs - doneUs);
    }
}

//# sourceMappingURL=predicted-work.js.map