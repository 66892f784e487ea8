import { createHash, randomBytes } from "node:crypto";
const ID_BYTES = 32;
const keyOf = (id)=>createHash('sha256').update(id).digest('base64url');
/**
 * Visitors who logged in, until the session ends, the process ends or they leave. The ID is all
 * that somebody has to show, so only its hash is kept.
 */ export class Sessions {
    limits;
    nowMs;
    /** By hash of the ID; the one used last is the last. */ held = new Map();
    constructor(limits, /** Milliseconds since 1970. */ nowMs){
        this.limits = limits;
        this.nowMs = nowMs;
    }
    get count() {
        return this.held.size;
    }
    /** Begins one and returns its ID. */ begin(holder) {
        const id = randomBytes(ID_BYTES).toString('base64url');
        const nowMs = this.nowMs();
        for (const [key, { endsMs }] of this.held)if (endsMs <= nowMs) this.held.delete(key);
        const [oldest] = this.held.keys();
        if (this.held.size >= this.limits.countMax && oldest !== undefined) this.held.delete(oldest);
        this.held.set(keyOf(id), {
            holder,
            endsMs: nowMs + this.limits.lifetimeMs
        });
        return id;
    }
    find(id) {
        const key = keyOf(id);
        const session = this.held.get(key);
        if (session === undefined) return undefined;
        this.held.delete(key);
        if (session.endsMs <= this.nowMs()) return undefined;
        this.held.set(key, session);
        return session.holder;
    }
    /** The holder of the session; undefined: there was none. */ end(id) {
        const holder = this.find(id);
        this.held.delete(keyOf(id));
        return holder;
    }
}

//# sourceMappingURL=sessions.js.map