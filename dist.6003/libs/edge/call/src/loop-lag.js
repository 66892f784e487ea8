import { monitorEventLoopDelay } from "node:perf_hooks";
const RESOLUTION_MS = 5;
const WINDOW_MS = 200;
const NANOSECONDS_PER_MILLISECOND = 1e6;
/** Share of the lag before that a quiet window keeps. */ const KEPT = 0.9;
/**
 * How late the event loop comes round: a call waits for it before it is read, and its answer before
 * it is written. Neither wait is seen by the engine, whose threads may hold all cores.
 */ let LoopLag = class LoopLag {
    histogram;
    lagMs = 0;
    /** Milliseconds of late; starts to measure when it is asked first. */ get ms() {
        if (this.histogram === undefined) this.start();
        return this.lagMs;
    }
    start() {
        const histogram = monitorEventLoopDelay({
            resolution: RESOLUTION_MS
        });
        histogram.enable();
        this.histogram = histogram;
        setInterval(()=>{
            // The longest, since a call that meets it is late.
            const delayMs = histogram.max / NANOSECONDS_PER_MILLISECOND - RESOLUTION_MS;
            this.lagMs = Math.max(delayMs, this.lagMs * KEPT, 0);
            histogram.reset();
        }, WINDOW_MS).unref();
    }
};
/** Of this process. */ export const LOOP_LAG = new LoopLag();

//# sourceMappingURL=loop-lag.js.map