/** Chooses the kept ones of all behaviours ever sent: the rule restated over all of them. */ const DAY_MS = 86_400_000;
/** As they are sent to the service; ages are far from those that the traffic draws. */ export const RETENTION = 'buy=4; view|hover=5,30d; *=8';
const WINDOWS = [
    {
        actions: [
            'buy'
        ],
        count: 4,
        ageMs: Number.POSITIVE_INFINITY
    },
    {
        actions: [
            'view',
            'hover'
        ],
        count: 5,
        ageMs: 30 * DAY_MS
    }
];
const OTHERS = {
    actions: [],
    count: 8,
    ageMs: Number.POSITIVE_INFINITY
};
export class BehaviourModel {
    events = new Map();
    erasedUntilMs = new Map();
    /** However often; an event ID says all that the event is. */ add(behaviour) {
        this.events.set(JSON.stringify([
            behaviour.userId,
            behaviour.eventId
        ]), behaviour);
    }
    /** Events of the user up to this time count no more. */ erase(userId, untilMs) {
        this.erasedUntilMs.set(userId, untilMs);
    }
    get userIds() {
        return [
            ...new Set([
                ...this.events.values()
            ].map(({ userId })=>userId))
        ].sort();
    }
    /** Oldest first. */ kept(userId, nowMs) {
        const erased = this.erasedUntilMs.get(userId) ?? Number.NEGATIVE_INFINITY;
        const own = [
            ...this.events.values()
        ].filter((event)=>event.userId === userId && event.timeMs > erased);
        return [
            ...WINDOWS,
            OTHERS
        ].flatMap((window)=>{
            const inside = own.filter(({ action, timeMs })=>windowOf(action) === window && timeMs >= nowMs - window.ageMs);
            return inside.sort(byTimeThenId).slice(-window.count);
        }).sort(byTimeThenId);
    }
}
const windowOf = (action)=>WINDOWS.find(({ actions })=>actions.includes(action)) ?? OTHERS;
/** Event IDs are ASCII: characters lie in the order of their bytes. */ function byTimeThenId(a, b) {
    return a.timeMs - b.timeMs || (a.eventId < b.eventId ? -1 : 1);
}

//# sourceMappingURL=behaviour-model.js.map