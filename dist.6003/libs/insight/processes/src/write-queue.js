/**
 * A bounded queue whose elements are gathered for a while and then written together, on a turn of
 * their own. An offer never waits: an element that does not fit is refused, and one that cannot be
 * written is given up.
 */ export class WriteQueue {
    options;
    waiting = [];
    running;
    /** Ends the gathering; undefined where nothing is gathered. */ wake;
    closed = false;
    taken = 0;
    done = 0;
    waiters = [];
    constructor(options){
        this.options = options;
    }
    get length() {
        return this.waiting.length;
    }
    offer(element) {
        if (this.closed || this.waiting.length >= this.options.waitingMax) return false;
        this.waiting.push(element);
        this.taken += 1;
        if (this.waiting.length >= this.options.batchMax) this.wake?.();
        this.running ??= this.writeAll().finally(()=>{
            this.running = undefined;
        });
        return true;
    }
    /** Resolves when all that was taken before has been written or given up; gathers no longer. */ settled() {
        if (this.done === this.taken) return Promise.resolve();
        this.wake?.();
        return new Promise((resolve)=>{
            this.waiters.push({
                upTo: this.taken,
                resolve
            });
        });
    }
    /** Takes nothing any more, and writes what it has. */ async close() {
        this.closed = true;
        await this.settled();
    }
    async writeAll() {
        const { batchMax, write, onWritten, onFailed } = this.options;
        while(this.waiting.length > 0){
            if (this.waiters.length === 0 && this.waiting.length < batchMax) await this.gathered();
            const batch = this.waiting.slice(0, batchMax);
            this.waiting = this.waiting.slice(batchMax);
            await write(batch).then(()=>onWritten(batch.length), (thrown)=>onFailed(batch.length, thrown));
            this.done += batch.length;
            while((this.waiters[0]?.upTo ?? Number.POSITIVE_INFINITY) <= this.done){
                this.waiters.shift()?.resolve();
            }
        }
    }
    gathered() {
        return new Promise((resolve)=>{
            const timer = setTimeout(()=>this.wake?.(), this.options.gatherMs);
            timer.unref();
            this.wake = ()=>{
                clearTimeout(timer);
                this.wake = undefined;
                resolve();
            };
        });
    }
}

//# sourceMappingURL=write-queue.js.map