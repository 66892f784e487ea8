/** How far a node is in the log of its cluster, as it says itself. */ /** Of a node that follows none. */ export const NO_LOG = {
    identity: '',
    offset: 0,
    digest: '',
    fault: '',
    isStopped: false
};
/** Milliseconds within which a node has to be where another one was. */ const GRACE_MS = 3000;
/**
 * Nodes that do not serve what the log of their cluster says: they follow another log than the one
 * that was seen first, say so themselves, or are not yet where another node was some seconds ago.
 * Nodes that stopped, because the log lost what they have applied, are never up beside one with
 * another state: the state with the most entries serves. Pure but for the time given.
 */ export class LogProgress {
    identity;
    /** Offsets that some node had reached, ascending in both. */ reached = [];
    /** @returns those that get no requests now, and why */ note(all, nowMs) {
        const words = [
            ...all.values()
        ];
        const isKnown = words.some(({ identity })=>identity === this.identity);
        if (!isKnown) {
            const fit = words.filter(({ fault })=>fault === '');
            this.identity = (fit.find(({ identity })=>identity !== '') ?? fit[0])?.identity;
            this.reached.length = 0;
        }
        const own = words.filter(({ identity })=>identity === this.identity);
        const expected = this.expectedOffset(Math.max(0, ...own.map(({ offset })=>offset)), nowMs);
        const served = servedBeside(own.filter(({ fault })=>fault === ''));
        const lags = new Map();
        for (const [name, word] of all){
            const lag = lagOf(word, this.identity ?? word.identity, expected, served);
            if (lag !== undefined) lags.set(name, lag);
        }
        return lags;
    }
    /** The offset that was reached by somebody before the grace began. */ expectedOffset(offset, nowMs) {
        if (offset > (this.reached.at(-1)?.offset ?? -1)) this.reached.push({
            atMs: nowMs,
            offset
        });
        const isOld = (at)=>(this.reached[at]?.atMs ?? nowMs) <= nowMs - GRACE_MS;
        while(isOld(1))this.reached.shift();
        return isOld(0) ? this.reached[0]?.offset ?? 0 : 0;
    }
}
/** The state that serves while a node has stopped; undefined: none has, all follow the log. */ function servedBeside(words) {
    if (!words.some(({ isStopped })=>isStopped)) return undefined;
    // Of one offset those that stopped: they have what was acknowledged.
    const order = [
        ...words
    ].sort((a, b)=>b.offset - a.offset || Number(b.isStopped) - Number(a.isStopped) || (a.digest < b.digest ? -1 : 1));
    return order[0];
}
function lagOf(word, identity, offset, served) {
    const kind = 'log';
    if (word.fault !== '') return {
        kind,
        expected: 'the state that it says',
        got: word.fault
    };
    if (word.identity !== identity) {
        const shown = (one)=>one || 'none';
        return {
            kind,
            expected: shown(identity),
            got: shown(word.identity)
        };
    }
    const stateOf = (one)=>`entry ${one.offset}, state ${one.digest}`;
    if (served !== undefined) {
        // Two that follow one log differ by what they have yet to read.
        const isLike = served.isStopped || word.isStopped ? stateOf(word) === stateOf(served) : true;
        if (!isLike) return {
            kind,
            expected: stateOf(served),
            got: stateOf(word)
        };
    }
    if (word.offset >= offset || word.isStopped) return undefined;
    return {
        kind,
        expected: `entry ${offset}`,
        got: `entry ${word.offset}`
    };
}

//# sourceMappingURL=log-progress.js.map