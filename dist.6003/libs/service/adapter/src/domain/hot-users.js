/** Users whose visits are counted at most. */ const HOT_USERS_TRACKED = 4096;
/**
 * The most frequent of the users seen last: a user who was away while as many others were seen
 * is forgotten, and the count with it.
 */ export class HotUsers {
    capacity;
    /** The one seen last is the last. */ visits = new Map();
    constructor(capacity = HOT_USERS_TRACKED){
        this.capacity = capacity;
    }
    seen(userId) {
        const before = this.visits.get(userId) ?? 0;
        this.visits.delete(userId);
        this.visits.set(userId, before + 1);
        if (this.visits.size <= this.capacity) return;
        const [oldest] = this.visits.keys();
        if (oldest !== undefined) this.visits.delete(oldest);
    }
    /** Most visits first, of equals who was seen last. */ hottest(count, isWanted = ()=>true) {
        return [
            ...this.visits
        ].reverse().filter(([userId])=>isWanted(userId)).sort(([, a], [, b])=>b - a).slice(0, count).map(([userId])=>userId);
    }
}

//# sourceMappingURL=hot-users.js.map