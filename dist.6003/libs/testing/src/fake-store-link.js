/** The engine's side of a store, in memory: tests make its calls. */ export class FakeStoreLink {
    /** Calls that ended more than once, or that were none. */ endedTwice = [];
    isAvailable = false;
    calls = [];
    carried = new Map();
    waiting = new Map();
    each;
    /** @param bytes of a write or publish; left out: the engine gives it up at once */ call(asked, bytes) {
        const id = this.calls.length;
        const rest = {
            version: '',
            block: '',
            replaces: '',
            gone: [],
            at: 0
        };
        const call = {
            ...rest,
            ...asked,
            id
        };
        this.calls.push(call);
        if (bytes !== undefined) this.carried.set(id, bytes);
        return new Promise((resolve)=>{
            this.waiting.set(id, resolve);
            this.each?.(call);
        });
    }
    kindOf(id) {
        return this.calls[id]?.kind;
    }
    serve(each) {
        this.each = each;
    }
    bytes(id) {
        return this.carried.get(id);
    }
    end(id, status, bytes, text) {
        const resolve = this.waiting.get(id);
        if (resolve === undefined) this.endedTwice.push(id);
        this.waiting.delete(id);
        const copy = bytes && Uint8Array.from(bytes);
        resolve?.({
            status,
            ...copy && {
                bytes: copy
            },
            ...text !== undefined && {
                text
            }
        });
    }
    setAvailable(isAvailable) {
        this.isAvailable = isAvailable;
    }
    close() {
        this.each = undefined;
    }
}

//# sourceMappingURL=fake-store-link.js.map