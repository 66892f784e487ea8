/** Node's thread works for so long before sockets are read, and refusals written, again. */ const TURN_MS = 2;
/** Assumed length of an act before the first one was measured. */ const ACT_MS_FIRST = 0.5;
/** Of the measured cost of an act, for each turn. */ const FORGET = 0.8;
/**
 * Divides what comes in bursts into turns of the event loop. One read of a connection may bring a
 * hundred calls, one pass of the engine a hundred answers; were each handled where it is read,
 * whoever is to be refused would wait for all of them. The first of a turn runs at once, so
 * that a call that is alone waits for nothing. Answers go before calls: their work is done.
 *
 * An act's cost is that of its promises as well, which run after it returns; so it is measured from
 * turn to turn, and a turn takes as many acts as fit by that.
 */ export class Turns {
    nowMs;
    afterReading;
    onThrown;
    answers = {
        waiting: [],
        actMs: ACT_MS_FIRST
    };
    calls = {
        waiting: [],
        actMs: ACT_MS_FIRST
    };
    isInTurn = false;
    /** Acts of this turn; undefined once they were measured. */ ran;
    constructor(nowMs = ()=>performance.now(), afterReading = setImmediate, onThrown = throwLater){
        this.nowMs = nowMs;
        this.afterReading = afterReading;
        this.onThrown = onThrown;
    }
    /** Settles what a caller waits for. */ answer(act) {
        this.add(this.answers, act);
    }
    /** Begins a call that was let in. */ call(act) {
        this.add(this.calls, act);
    }
    add(queue, act) {
        if (this.isInTurn) {
            queue.waiting.push(act);
            return;
        }
        this.begin();
        this.runOne(act);
    }
    begin() {
        this.isInTurn = true;
        this.afterReading(()=>this.run());
        // In the same phase of the event loop, behind the promises of what the turn ran.
        this.afterReading(()=>this.measure());
    }
    run() {
        this.isInTurn = false;
        const queue = this.answers.waiting.length > 0 ? this.answers : this.calls;
        if (queue.waiting.length === 0) return;
        this.begin();
        const acts = queue.waiting.splice(0, Math.max(1, Math.floor(TURN_MS / queue.actMs)));
        this.ran = {
            queue,
            count: acts.length,
            startMs: this.nowMs()
        };
        for (const act of acts)this.runOne(act);
    }
    /** One that throws, which none should, keeps none of the others from its turn. */ runOne(act) {
        try {
            act();
        } catch (thrown) {
            this.onThrown(thrown);
        }
    }
    measure() {
        if (this.ran === undefined) return;
        const { queue, count, startMs } = this.ran;
        this.ran = undefined;
        const actMs = (this.nowMs() - startMs) / count;
        queue.actMs = queue.actMs * FORGET + actMs * (1 - FORGET);
    }
}
/** Where the process hears of what nothing catches. */ function throwLater(thrown) {
    queueMicrotask(()=>{
        throw thrown;
    });
}
/** Of this process: it has one event loop. */ export const turns = new Turns();

//# sourceMappingURL=turns.js.map