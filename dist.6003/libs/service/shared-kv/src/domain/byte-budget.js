/**
 * Bytes a second, given out in the order in which they are asked for. After a pause a second's
 * worth is there at once; a value that is larger still goes, and those behind it wait longer.
 */ export class ByteBudget {
    bytesPerSecond;
    /** When all that was asked for is paid. */ paidMs = Number.NEGATIVE_INFINITY;
    waiting = new Set();
    isClosed = false;
    /** @param bytesPerSecond Infinity: nothing waits */ constructor(bytesPerSecond){
        this.bytesPerSecond = bytesPerSecond;
    }
    /** False: the budget was closed meanwhile. */ async take(bytes) {
        const nowMs = performance.now();
        const burstMs = 1000;
        this.paidMs = Math.max(this.paidMs, nowMs - burstMs) + bytes / this.bytesPerSecond * 1000;
        const waitMs = this.paidMs - nowMs;
        if (waitMs > 0 && !this.isClosed) await this.pause(waitMs);
        return !this.isClosed;
    }
    /** Ends the waits of all. */ close() {
        this.isClosed = true;
        for (const { timer, end } of this.waiting){
            clearTimeout(timer);
            end();
        }
        this.waiting.clear();
    }
    pause(waitMs) {
        return new Promise((resolve)=>{
            const wait = {
                timer: setTimeout(()=>end(), waitMs),
                end: resolve
            };
            const end = ()=>{
                this.waiting.delete(wait);
                resolve();
            };
            this.waiting.add(wait);
        });
    }
}

//# sourceMappingURL=byte-budget.js.map