/** Counts of calls that were split, since the gateway began. */ export class SplitTally {
    parts = {
        answered: 0,
        failed: 0
    };
    splitCalls = 0;
    spreadUs = 0;
    sharedTokens = 0;
    /** `endedMs`: when each part of a call was answered. */ noteCall(endedMs, sharedTokens) {
        this.sharedTokens += sharedTokens;
        if (endedMs.length < 2) return;
        this.splitCalls += 1;
        this.spreadUs += (Math.max(...endedMs) - Math.min(...endedMs)) * 1000;
    }
}

//# sourceMappingURL=split-counts.js.map