/** Result of an entry. */ /** Newest entries whose keys are known: a change that is repeated behind them counts again. */ export const KEYS_KEPT = 4096;
/**
 * Keys of the newest entries, by which one that is repeated is known again. A function of those
 * entries alone: which ones count must not depend on when a node was started.
 */ export class KeyWindow {
    kept = new Map();
    /** Outcome of the first entry of this key, if one is within the window before `offset`. */ of(key, offset) {
        const known = this.kept.get(key);
        return known !== undefined && known.newest >= offset - KEYS_KEPT ? known.outcome : undefined;
    }
    /** @param newest offset of the entry that bears the key; the outcome may be an older one's */ put(key, outcome, newest = outcome.offset) {
        this.kept.delete(key);
        this.kept.set(key, {
            outcome,
            newest
        });
        for (const [oldest, { newest: last }] of this.kept){
            if (last >= newest - KEYS_KEPT) break;
            this.kept.delete(oldest);
        }
    }
}

//# sourceMappingURL=key-window.js.map