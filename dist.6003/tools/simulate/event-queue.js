import { LeastFirst } from "./least-first.js";
/** Events in the order of their time; of equal times in the order in which they were added. */ export class EventQueue {
    /** Microseconds since the first arrival. */ nowUs = 0;
    events = new LeastFirst();
    at(us, act) {
        this.events.add(Math.max(us, this.nowUs), act);
    }
    /** Until nothing is left. */ run() {
        for(;;){
            const us = this.events.leastKey;
            const act = this.events.take();
            if (act === undefined) return;
            this.nowUs = us;
            act();
        }
    }
}

//# sourceMappingURL=event-queue.js.map