/** Bytes of blocks that are on their way at once: twice what a fast network has in flight. */ const IN_FLIGHT_BYTES_MAX = 8 * 1024 * 1024;
/**
 * Reads that are on their way: as many as their bytes allow, at least one; others wait in the order
 * in which they came, and none of it counts as the store's time. A block is taken to be as large as
 * the largest that has come.
 */ export class ReadWindow {
    bytesMax;
    underWay = 0;
    blockBytes = IN_FLIGHT_BYTES_MAX / 2;
    hasCome = false;
    waiting = new Set();
    constructor(bytesMax = IN_FLIGHT_BYTES_MAX){
        this.bytesMax = bytesMax;
    }
    /** Resolves when the read may go, which leave() ends; false where that took too long. */ enter(mostMs) {
        if (this.hasRoom && this.waiting.size === 0) {
            this.underWay += 1;
            return Promise.resolve(true);
        }
        return new Promise((resolve)=>{
            const go = ()=>{
                this.waiting.delete(go);
                clearTimeout(timer);
                this.underWay += 1;
                resolve(true);
            };
            const timer = setTimeout(()=>{
                this.waiting.delete(go);
                resolve(false);
            }, mostMs);
            this.waiting.add(go);
        });
    }
    /** A read has ended, however; undefined: no block came. */ leave(bytes) {
        this.underWay -= 1;
        if (bytes !== undefined) {
            this.blockBytes = this.hasCome ? Math.max(this.blockBytes, bytes) : bytes;
            this.hasCome = true;
        }
        for (const go of this.waiting){
            if (!this.hasRoom) return;
            go();
        }
    }
    get hasRoom() {
        return this.underWay === 0 || (this.underWay + 1) * this.blockBytes <= this.bytesMax;
    }
}

//# sourceMappingURL=read-window.js.map