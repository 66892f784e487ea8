/** Hands over what one side puts, one at a time, to another side that takes it when it can. */ export class RecordFeed {
    put;
    failure;
    isClosed = false;
    wake = ()=>undefined;
    /** Resolves when the item was taken, or never will be. */ give(item) {
        if (this.isClosed) return Promise.resolve();
        return new Promise((taken)=>{
            this.put = {
                item,
                taken
            };
            this.wake();
        });
    }
    /** Makes the next read reject with the error. */ fail(error) {
        this.failure ??= {
            error
        };
        this.wake();
    }
    /** Undefined where nothing comes within the time, in milliseconds, or ever. */ async take(patienceMs) {
        if (this.isIdle()) await this.change(patienceMs);
        if (this.failure !== undefined) throw this.failure.error;
        const { put } = this;
        this.put = undefined;
        put?.taken();
        return put?.item;
    }
    /** Ends all reads. */ close() {
        this.isClosed = true;
        this.put?.taken();
        this.put = undefined;
        this.wake();
    }
    isIdle() {
        return this.put === undefined && this.failure === undefined && !this.isClosed;
    }
    change(patienceMs) {
        return new Promise((resolve)=>{
            const timer = setTimeout(resolve, patienceMs);
            this.wake = ()=>{
                clearTimeout(timer);
                resolve();
            };
        });
    }
}

//# sourceMappingURL=record-feed.js.map