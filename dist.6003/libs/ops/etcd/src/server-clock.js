/** A server whose clock is seen so far behind was set back. */ const BACK_MS = 2000;
/**
 * The clock of a server, by the `Date` of its answers (RFC 9110, 6.6.1), which has whole seconds:
 * the latest of all that were seen is at most a second behind it. The wall clock of this process
 * has no part in it.
 */ export class ServerClock {
    aheadMs = Number.NEGATIVE_INFINITY;
    /** @param dateMs of an answer that has just come; NaN: it had none */ note(dateMs) {
        const aheadMs = dateMs - performance.now();
        if (Number.isNaN(aheadMs)) return;
        const isSetBack = aheadMs < this.aheadMs - BACK_MS;
        this.aheadMs = isSetBack ? aheadMs : Math.max(this.aheadMs, aheadMs);
    }
    /** 0 before the first answer. */ get nowMs() {
        return Number.isFinite(this.aheadMs) ? Math.floor(performance.now() + this.aheadMs) : 0;
    }
}

//# sourceMappingURL=server-clock.js.map