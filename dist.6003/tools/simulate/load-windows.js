const WINDOW_US = 10_000_000;
/** Load of one phase over time, as the mean of each window of ten seconds. */ export class LoadWindows {
    sums = [];
    /** So much from one time to another. */ add(fromUs, toUs, load) {
        for(let us = fromUs; us < toUs;){
            const window = Math.floor(us / WINDOW_US);
            const until = Math.min(toUs, (window + 1) * WINDOW_US);
            this.sums[window] = (this.sums[window] ?? 0) + load * (until - us);
            us = until;
        }
    }
    /** Of the whole windows until a time, each divided by `capacity`. */ loads(untilUs, capacity) {
        const count = Math.floor(untilUs / WINDOW_US);
        return Array.from({
            length: count
        }, (_, at)=>(this.sums[at] ?? 0) / WINDOW_US / capacity);
    }
}
export function variance(values) {
    const mean = values.reduce((sum, value)=>sum + value, 0) / values.length;
    return values.reduce((sum, value)=>sum + (value - mean) ** 2, 0) / values.length;
}

//# sourceMappingURL=load-windows.js.map