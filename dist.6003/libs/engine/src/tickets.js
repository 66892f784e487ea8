import { isErrorCode, TesseraError } from "../../ops/errors/src/index.js";
import { PackedReader, REQUEST_KINDS, readCompletionHead, readFailure } from "../../../native/ts/index.js";
import { turns } from "../../ops/turns/src/index.js";
import { MICROSECONDS_PER_MILLISECOND } from "../../ops/units/src/index.js";
const TICKETS = 2 ** 32;
/** Of an engine that no request is under way in. */ export const NOTHING_HELD = {
    tickets: 0,
    reservedTickets: 0,
    inFlight: 0,
    prefetches: 0,
    leases: 0
};
/** Requests still waiting for their completion, by ticket. */ export class Tickets {
    waiting = new Map();
    /** Of requests that are still being made. */ reserved = new Set();
    next = 1;
    /** A ticket that nobody else has. */ take() {
        while(this.waiting.has(this.next) || this.reserved.has(this.next))this.step();
        const ticket = this.next;
        this.step();
        return ticket;
    }
    step() {
        this.next = (this.next + 1) % TICKETS;
    }
    /** A pass may complete a hundred requests: each is settled in its turn of the event loop. */ settle(words, codes) {
        const completions = new PackedReader(words);
        for (const first of completions.records()){
            const { ticket } = readCompletionHead(completions.open(first));
            const waiting = this.waiting.get(ticket);
            this.waiting.delete(ticket);
            if (waiting !== undefined) {
                turns.answer(()=>settleOne(waiting, completions.open(first), codes));
            }
        }
    }
}
function settleOne(waiting, completion, codes) {
    const { status, kind } = readCompletionHead(completion);
    const code = codes[status] ?? 'INTERNAL';
    if (code === 'OK' && REQUEST_KINDS[kind] === waiting.kind.name) {
        waiting.resolve(completion);
        return;
    }
    if (code === 'OK') {
        const message = `completion: expected one of ${waiting.kind.name}, got kind ${kind}`;
        waiting.reject(new TesseraError('INTERNAL', message));
        return;
    }
    const { message, retryAfterUs } = readFailure(completion);
    waiting.reject(new TesseraError(isErrorCode(code) ? code : 'INTERNAL', message, retryHint(retryAfterUs)));
}
/** The engine's hint, rounded up; none where it gave none. */ export function retryHint(retryAfterUs) {
    return retryAfterUs === 0 ? {} : {
        retryAfterMs: Math.ceil(retryAfterUs / MICROSECONDS_PER_MILLISECOND)
    };
}

//# sourceMappingURL=tickets.js.map