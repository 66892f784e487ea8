import { TesseraError } from "../../../libs/ops/errors/src/index.js";
/** Milliseconds after which what could not be finished is tried again. */ const RETRY_MS = 10_000;
/**
 * Behaviours, profile, prompts, keys and values, recorded recalls, here and in the other processes:
 * nothing is left of a user when it resolves, and nothing comes back behind it. A store that
 * cannot be reached is named in the refusal; its part stays pending over restarts and is retried.
 */ export class UserErasure {
    parts;
    running = new Set();
    timer;
    retrying;
    constructor(parts){
        this.parts = parts;
        this.timer = setInterval(()=>void this.retry(), RETRY_MS);
        this.timer.unref();
    }
    /** How many do not hold everywhere, of those that nobody waits for. */ get pendingCount() {
        return this.parts.pending.list().filter(({ userId })=>!this.running.has(userId)).length;
    }
    /** Rejects with STORE_UNAVAILABLE naming what could not be reached; may be repeated. */ async erase(userId) {
        const { pending, nowMs } = this.parts;
        const erasure = {
            userId,
            atMs: nowMs(),
            offset: 0,
            withBehaviours: true,
            withRecords: true
        };
        await pending.put(erasure);
        return this.finish(erasure);
    }
    /** Tries to finish what is pending, one after the other; never rejects. */ retry() {
        this.retrying ??= this.retryAll().finally(()=>{
            this.retrying = undefined;
        });
        return this.retrying;
    }
    async close() {
        clearInterval(this.timer);
        await this.retrying;
    }
    async retryAll() {
        const { pending, log } = this.parts;
        for (const erasure of pending.list()){
            if (this.running.has(erasure.userId)) continue;
            try {
                await this.finish(erasure);
                log.info({}, 'an erasure that was pending holds everywhere');
            } catch (thrown) {
                log.warn({
                    err: thrown
                }, 'an erasure is still pending');
            }
        }
    }
    /** Behaviours go first, since the rest is made from them and would otherwise come back. */ async finish(erasure) {
        const { behaviours, pending } = this.parts;
        const { userId, atMs, withBehaviours } = erasure;
        this.running.add(userId);
        try {
            let known = false;
            if (withBehaviours) {
                known = await behaviours.erase(userId, atMs);
                // Again would take away what the user has done since.
                await pending.put(Object.assign({}, erasure, {
                    withBehaviours: false
                }));
            }
            const recalls = await this.spread(userId);
            await pending.remove(erasure);
            return {
                known,
                recalls
            };
        } finally{
            this.running.delete(userId);
        }
    }
    /** Everything is tried, whatever fails. */ async spread(userId) {
        const { follower, eraseRecalls } = this.parts;
        const failures = [];
        const attempt = async (act)=>act().catch((thrown)=>{
                failures.push(TesseraError.from(thrown));
                return undefined;
            });
        await attempt(()=>follower.erase(userId));
        const recalls = await attempt(async ()=>await eraseRecalls?.(userId) ?? 0);
        const [first] = failures;
        if (first === undefined) return recalls ?? 0;
        const reasons = failures.map(({ message })=>message).join('; ');
        const message = `erasure: expected it to hold everywhere, got: ${reasons}; it is tried again`;
        throw new TesseraError('STORE_UNAVAILABLE', message, {
            cause: first
        });
    }
}

//# sourceMappingURL=user-erasure.js.map