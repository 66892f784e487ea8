/** Mulberry32 (Tommy Ettinger): numbers of [0, 1) that a seed decides. */ export function seeded(seed) {
    let state = seed;
    return ()=>{
        state = state + 0x6d2b79f5 | 0;
        let mixed = Math.imul(state ^ state >>> 15, state | 1);
        mixed ^= mixed + Math.imul(mixed ^ mixed >>> 7, mixed | 61);
        return ((mixed ^ mixed >>> 14) >>> 0) / 2 ** 32;
    };
}
/** Time to the next of events that come at `perSecond` on average, in microseconds. */ export const untilNextUs = (random, perSecond)=>-Math.log(1 - random()) * 1e6 / perSecond;

//# sourceMappingURL=seeded.js.map