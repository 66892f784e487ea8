import { TesseraError } from "../../../libs/ops/errors/src/index.js";
/**
 * Users that wait for their keys and values at most; further ones are computed at their next visit.
 */ const FOLLOWED_USERS_MAX = 1000;
/**
 * Lets the KV pool follow the behaviours: a user whom the pool holds gets the keys and values of
 * what is new before the next visit, one user at a time and behind every recall. Losing one of
 * these costs a visit its time and nothing else, so what does not fit is dropped and counted.
 */ export class KvFollower {
    parts;
    waiting = new Set();
    isRunning = false;
    constructor(parts){
        this.parts = parts;
    }
    /** Users whose behaviours are stored now. */ follow(userIds) {
        for (const userId of new Set(userIds)){
            if (!this.parts.pools.mayHold(userId)) continue;
            if (this.waiting.size < FOLLOWED_USERS_MAX) this.waiting.add(userId);
            else this.parts.metrics.countFollowed('dropped');
        }
        if (!this.isRunning) void this.run();
    }
    /** Forgets the keys and values of a user in every tier. */ async erase(userId) {
        this.waiting.delete(userId);
        await this.parts.pools.erase(userId, this.parts.budgetMs);
    }
    /** Between the last user and the end nothing is awaited: who is added then begins a new run. */ async run() {
        this.isRunning = true;
        for (const userId of this.waiting){
            this.waiting.delete(userId);
            await this.appendFor(userId);
        }
        this.isRunning = false;
    }
    async appendFor(userId) {
        const { pools, metrics, log, budgetMs } = this.parts;
        try {
            await pools.append(userId, budgetMs);
            metrics.countFollowed('appended');
        } catch (thrown) {
            const { code } = TesseraError.from(thrown);
            metrics.countFollowed('failed');
            log.debug({
                code
            }, 'the KV pool could not follow a user');
        }
    }
}

//# sourceMappingURL=kv-follower.js.map