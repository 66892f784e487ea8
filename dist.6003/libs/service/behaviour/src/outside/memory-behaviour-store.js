import { BehaviourStore } from "../domain/behaviour-store.js";
/** Users held in memory, as read from a file at the start. */ export class MemoryBehaviourStore extends BehaviourStore {
    users;
    constructor(users){
        super(), this.users = users;
    }
    get userCount() {
        return this.users.size;
    }
    entries() {
        return this.users.entries();
    }
    async history(userId, limit) {
        const user = this.users.get(userId);
        if (user === undefined) return null;
        return limit > 0 ? user.behaviours.slice(-limit) : [];
    }
    async profile(userId) {
        return this.users.get(userId)?.profile ?? null;
    }
    async userIds(limit, prefix = '') {
        const ids = [];
        for (const id of this.users.keys()){
            if (ids.length >= limit) break;
            if (id.startsWith(prefix)) ids.push(id);
        }
        return ids;
    }
}

//# sourceMappingURL=memory-behaviour-store.js.map