import { behaviourKey, cutKey, eventKey, readBehaviourKey, windowRange } from "./embedded-keys.js";
const SCAN_LIMIT = 10_000;
/** The behaviour, or that one was cut, and the mark of its event. */ const keysOf = (userId, { key })=>[
        key,
        eventKey(userId, readBehaviourKey(key).eventId)
    ];
/** Reads the windows of users and says what leaves them. Writes nothing. */ export class EmbeddedWindows {
    store;
    retention;
    constructor(store, retention){
        this.store = store;
        this.retention = retention;
    }
    /** Per window all behaviours of a user, and the keys of all that there is of them. */ async ofUser(userId) {
        const all = (letter)=>this.eachWindow((window)=>this.scanAll(windowRange(userId, window, 0, Number.POSITIVE_INFINITY, letter)));
        const [byWindow, cut] = await Promise.all([
            all('w'),
            all('c')
        ]);
        const keys = [
            ...byWindow,
            ...cut
        ].flat().flatMap((entry)=>keysOf(userId, entry));
        return {
            byWindow,
            keys
        };
    }
    /**
   * Behaviours of users that a clock dated which was ahead: they are of now, so that later ones
   * come behind them.
   */ async redated(users, latestMs, nowMs) {
        const windows = this.retention.windows.map((_, window)=>window);
        const places = users.flatMap((userId)=>windows.map((window)=>({
                    userId,
                    window
                })));
        const ranges = places.map(({ userId, window })=>{
            const ahead = windowRange(userId, window, latestMs + 1, Number.POSITIVE_INFINITY);
            return Object.assign(ahead, {
                limit: SCAN_LIMIT,
                direction: 'ascending'
            });
        });
        const found = await this.store.read({
            keys: [],
            ranges
        });
        const changes = {
            erased: [],
            put: []
        };
        places.forEach(({ userId, window }, index)=>{
            for (const { key, value } of found.entries(index)){
                const { arrival, eventId } = readBehaviourKey(key);
                const place = {
                    window,
                    timeMs: nowMs
                };
                changes.erased.push(key);
                changes.put.push({
                    key: behaviourKey(userId, place, arrival, eventId),
                    value
                });
            }
        });
        return changes;
    }
    /**
   * Notes what leaves the windows of a user. Of several behaviours of one time the first to arrive
   * leave first; their events stay known while that is the time of the first that is left, since
   * one that is sent again is not the newest.
   * @param counts behaviours per window
   * @param oldest per window the first millisecond that is kept; what is older leaves
   * @returns how many of each window leave, and the keys of their events
   */ async trim(userId, counts, oldest, changes) {
        const left = await this.eachWindow((window)=>this.leaving(userId, window, counts[window] ?? 0, oldest[window] ?? 0));
        const events = [];
        for (const [window, { gone, firstMs }] of left.entries()){
            if (gone.length === 0) continue;
            const cuts = await this.scanAll(windowRange(userId, window, 0, firstMs, 'c'));
            changes.erased.push(...cuts.flatMap((entry)=>keysOf(userId, entry)));
            for (const { key } of gone){
                const { timeMs, eventId } = readBehaviourKey(key);
                const event = eventKey(userId, eventId);
                events.push(event);
                changes.erased.push(key);
                const cut = {
                    key: cutKey(userId, {
                        window,
                        timeMs
                    }, eventId),
                    value: Buffer.of()
                };
                if (timeMs === firstMs) changes.put.push(cut);
                else changes.erased.push(event);
            }
        }
        return {
            goneCounts: left.map(({ gone })=>gone.length),
            events
        };
    }
    async scanAll(range) {
        const found = [];
        const { to } = range;
        for(let { from } = range;;){
            const page = {
                from,
                to,
                limit: SCAN_LIMIT,
                direction: 'ascending'
            };
            const part = await this.store.scan(page);
            found.push(...part);
            const last = part.at(-1);
            if (part.length < SCAN_LIMIT || last === undefined) return found;
            from = Buffer.concat([
                last.key,
                Buffer.of(0)
            ]);
        }
    }
    /** Behaviours that are too old or beyond the count, oldest first. */ async leaving(userId, window, count, oldestMs) {
        const gone = await this.scanAll(windowRange(userId, window, 0, oldestMs));
        const excess = count - (this.retention.windows[window]?.behavioursMax ?? 0);
        if (excess <= gone.length) return {
            gone,
            firstMs: oldestMs
        };
        const whole = windowRange(userId, window, 0, Number.POSITIVE_INFINITY);
        const found = await this.store.scan({
            ...whole,
            limit: excess + 1,
            direction: 'ascending'
        });
        const first = found[excess];
        const firstMs = first === undefined ? oldestMs : readBehaviourKey(first.key).timeMs;
        return {
            gone: found.slice(0, excess),
            firstMs
        };
    }
    eachWindow(act) {
        return Promise.all(this.retention.windows.map((_, window)=>act(window)));
    }
}

//# sourceMappingURL=embedded-windows.js.map