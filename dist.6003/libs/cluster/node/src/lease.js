import { LEASE_MS } from "../../log/src/index.js";
/** The other nodes do not count on this one. */ const LAPSED = Number.NEGATIVE_INFINITY;
/**
 * How long others wait for this node. After it expires they stop waiting; until the node has caught
 * up again it must not use what it keeps of users. All times are of performance.now().
 */ export class Lease {
    log;
    until = LAPSED;
    /** The end of the log when the node was counted again. */ caughtUpAt = Number.POSITIVE_INFINITY;
    isEnded = false;
    constructor(log){
        this.log = log;
    }
    holds(offset) {
        return performance.now() < this.until && offset >= this.caughtUpAt;
    }
    /** Rejects as the log does. */ async renew(position) {
        if (this.isEnded) return;
        const begun = performance.now();
        if (begun >= this.until) this.caughtUpAt = Number.POSITIVE_INFINITY;
        const until = Math.min(await this.log.say(position), begun + LEASE_MS);
        // Read the end of the log after reporting: later acknowledgements include this node.
        if (this.caughtUpAt === Number.POSITIVE_INFINITY) {
            this.caughtUpAt = (await this.log.bounds()).end;
        }
        this.until = this.isEnded ? LAPSED : until;
    }
    end() {
        this.isEnded = true;
        this.until = LAPSED;
    }
}

//# sourceMappingURL=lease.js.map