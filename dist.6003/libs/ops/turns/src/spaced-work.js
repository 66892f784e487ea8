/** Of the time, the share that the work may take. */ const SHARE = 20;
/** Milliseconds that at least lie between two runs: what becomes due meanwhile is done together. */ const GATHER_MS = 1000;
/** Milliseconds until a run that failed is tried again. */ const RETRY_MS = 10_000;
function afterMs(ms, act) {
    const timer = setTimeout(act, ms);
    timer.unref();
    return ()=>clearTimeout(timer);
}
/**
 * Work that takes long and may wait: it runs soon after it has become due, and then no sooner than
 * twenty times as long as it took. So what is due is done within twenty runs' time and a second.
 */ export class SpacedWork {
    parts;
    isDue = false;
    isClosed = false;
    running;
    endWait;
    pauseMs = GATHER_MS;
    constructor(parts){
        this.parts = parts;
    }
    /** Something is to be done. */ due() {
        this.isDue = true;
        this.wait();
    }
    /** All that is due has been done; rejects where it cannot be, and it stays due. */ async done() {
        await this.running?.catch(()=>undefined);
        if (this.isDue) await this.run();
    }
    /** Nothing is begun from now on, but by done(). */ async close() {
        this.isClosed = true;
        this.endWait?.();
        this.endWait = undefined;
        await this.running?.catch(()=>undefined);
    }
    wait() {
        const isBusy = this.running !== undefined || this.endWait !== undefined;
        if (!this.isDue || this.isClosed || isBusy) return;
        const { after = afterMs, onFault } = this.parts;
        this.endWait = after(this.pauseMs, ()=>{
            this.endWait = undefined;
            this.run().catch(onFault);
        });
    }
    run() {
        this.running ??= this.runNow().finally(()=>{
            this.running = undefined;
            this.wait();
        });
        return this.running;
    }
    async runNow() {
        this.isDue = false;
        const beganMs = performance.now();
        try {
            await this.parts.work();
            this.pauseMs = Math.max(GATHER_MS, (performance.now() - beganMs) * (SHARE - 1));
        } catch (thrown) {
            this.isDue = true;
            this.pauseMs = RETRY_MS;
            throw thrown;
        }
    }
}

//# sourceMappingURL=spaced-work.js.map