import { TesseraError } from "../../../../ops/errors/src/index.js";
const NEXT = {
    away: [
        'fetching',
        'catching up',
        'stopped',
        'closed'
    ],
    fetching: [
        'away',
        'catching up',
        'closed'
    ],
    'catching up': [
        'fetching',
        'serving',
        'stopped',
        'unfit',
        'closed'
    ],
    serving: [
        'stopped',
        'unfit',
        'closed'
    ],
    stopped: [
        'closed'
    ],
    unfit: [
        'closed'
    ],
    closed: []
};
/** Faults of a node's own state: with the one of a snapshot it is well again. */ const OWN = new Set([
    'LOG_TRIMMED',
    'LOG_INCOMPLETE',
    'STATE_DIFFERENT'
]);
/** The state of a node. Listeners hear of a fault whenever it comes, also before they listened. */ export class Life {
    current = 'away';
    ended;
    listeners = [];
    get state() {
        return this.current;
    }
    /** Why it is stopped or unfit. */ get fault() {
        return this.ended;
    }
    /** @throws TesseraError INTERNAL for a step that there is not */ to(state) {
        if (state === this.current) return;
        if (!NEXT[this.current].includes(state)) {
            const message = `node: expected a step from ${this.current}, got one to ${state}`;
            throw new TesseraError('INTERNAL', message);
        }
        this.current = state;
    }
    /** A lasting fault; the first one counts. */ fail(fault) {
        const state = OWN.has(fault.code) ? 'unfit' : 'stopped';
        if (!NEXT[this.current].includes(state)) return;
        this.current = state;
        this.ended = fault;
        for (const tell of this.listeners)tell(fault);
    }
    onFault(tell) {
        this.listeners.push(tell);
        if (this.ended !== undefined) tell(this.ended);
    }
    /** @throws TesseraError the fault */ checkFollowing() {
        if (this.ended !== undefined) throw this.ended;
    }
}

//# sourceMappingURL=life.js.map