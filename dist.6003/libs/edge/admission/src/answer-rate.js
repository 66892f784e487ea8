import { MILLISECONDS_PER_SECOND } from "../../../ops/units/src/index.js";
/** The rate is that of the windows of the last second at least, and of so many answers, ... */ const SPAN_MS_MIN = 1000;
const ANSWERS_MIN = 64;
/** ... but of no longer ago than this. */ const SPAN_MS_MAX = 5000;
const msOf = (windows)=>windows.reduce((sum, { ms })=>sum + ms, 0);
const answersOf = (windows)=>windows.reduce((sum, { answered })=>sum + answered, 0);
/** The newest windows of together so many milliseconds at least, or all. */ function newest(windows, ms) {
    let first = windows.length;
    for(let total = 0; total < ms && first > 0; total += windows[first]?.ms ?? 0)first -= 1;
    return windows.slice(first);
}
/**
 * Answers a second that a process is good for, from windows of time. A window with a backlog shows
 * the capacity, any other window a lower bound of it: without that a rate that was measured too low
 * would never be corrected, since it keeps the backlog away. Pure.
 */ export class AnswerRate {
    backlogged = [];
    recent = [];
    rate = Number.POSITIVE_INFINITY;
    /** Infinity before anything was answered with a backlog. */ get perSecond() {
        return this.rate;
    }
    note(window, hasBacklog) {
        this.recent = newest([
            ...this.recent,
            window
        ], SPAN_MS_MIN);
        if (hasBacklog) this.noteCapacity(window);
        const ms = msOf(this.recent);
        if (ms < SPAN_MS_MIN) return;
        const lowest = answersOf(this.recent) * MILLISECONDS_PER_SECOND / ms;
        if (lowest > this.rate) {
            this.rate = lowest;
            this.backlogged = this.recent;
        }
    }
    noteCapacity(window) {
        this.backlogged = [
            ...this.backlogged,
            window
        ];
        while(this.reachesWithoutOldest())this.backlogged = this.backlogged.slice(1);
        const answered = answersOf(this.backlogged);
        // Nothing was answered yet: nothing is known.
        if (answered > 0) this.rate = answered * MILLISECONDS_PER_SECOND / msOf(this.backlogged);
    }
    reachesWithoutOldest() {
        const rest = this.backlogged.slice(1);
        const ms = msOf(rest);
        return ms > SPAN_MS_MAX || ms >= SPAN_MS_MIN && answersOf(rest) >= ANSWERS_MIN;
    }
}

//# sourceMappingURL=answer-rate.js.map