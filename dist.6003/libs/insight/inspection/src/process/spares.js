/** Of the database once it is loaded, before it has read anything. */ const DATABASE_BYTES = 96 * 2 ** 20;
/** Milliseconds that a process waits for a query that may follow. */ const WAITS_MS = 600_000;
/** Queries of one process: what it has mislaid of its memory comes back. */ const USES_MAX = 50;
/** A process that is started and has nothing to do yet. */ export class SpareProcess {
    listener;
    child;
    isGone = false;
    /** Queries that it has answered. */ useCount = 0;
    constructor({ launcher, program, rules }){
        const { memoryBytes, diskBytes } = rules;
        const limits = {
            dataBytes: memoryBytes + DATABASE_BYTES,
            fileBytes: diskBytes
        };
        this.child = launcher.start(program, limits, {
            onMessage: (message)=>this.listener?.onMessage(message),
            onEnd: (reason)=>{
                this.isGone = true;
                this.listener?.onEnd(reason);
            },
            onLost: (error)=>{
                this.isGone = true;
                this.listener?.onLost(error);
            }
        });
    }
    warm() {
        this.child.send({
            kind: 'warm'
        });
    }
    serve(listener) {
        this.listener = listener;
        this.useCount += 1;
        return this.child;
    }
}
/**
 * One process is kept ready while analysts ask: a process takes longer to start than most queries
 * take to answer. One that has answered in good order is kept for the next: each query has a
 * database of its own in it, which is closed before the answer is sent.
 */ export class Spares {
    parts;
    spare;
    timer;
    isClosed = false;
    constructor(parts){
        this.parts = parts;
    }
    take() {
        const { spare } = this;
        this.spare = undefined;
        clearTimeout(this.timer);
        return spare === undefined || spare.isGone ? new SpareProcess(this.parts) : spare;
    }
    /** One that is done, in good order. False: it is not wanted any more. */ giveBack(done) {
        const isWanted = this.spare === undefined || this.spare.isGone;
        if (!isWanted || done.isGone || done.useCount >= USES_MAX || this.isClosed) return false;
        this.keep(done);
        return true;
    }
    /** For the next query, if there is one soon. */ prepare() {
        if (this.isClosed || this.spare !== undefined && !this.spare.isGone) return;
        try {
            const fresh = new SpareProcess(this.parts);
            fresh.warm();
            this.keep(fresh);
        } catch  {
        // The launcher is closed: there is no next query.
        }
    }
    keep(spare) {
        this.spare = spare;
        clearTimeout(this.timer);
        this.timer = setTimeout(()=>this.end(), WAITS_MS);
        this.timer.unref();
    }
    /** No query comes any more. */ close() {
        this.isClosed = true;
        this.end();
    }
    end() {
        clearTimeout(this.timer);
        this.spare?.serve({
            onMessage: noop,
            onEnd: noop,
            onLost: noop
        }).kill();
        this.spare = undefined;
    }
}
function noop() {}

//# sourceMappingURL=spares.js.map