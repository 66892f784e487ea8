import { CLOCK } from "../../../ops/units/src/index.js";
const PERIOD_MS = 10_000;
/** Shows and logs a clock that jumped, by which something is removed. @returns the end of it */ export function watchClock(conditions, log) {
    const read = ()=>CLOCK.reading();
    conditions.add({
        name: 'clock',
        kind: 'dependency',
        isNeeded: false,
        read
    });
    let wasOk = true;
    const timer = setInterval(()=>{
        const { state, reason } = read();
        if (wasOk === (state === 'ok')) return;
        wasOk = !wasOk;
        if (wasOk) log.info({}, 'the clock is right again');
        else log.warn({}, reason);
    }, PERIOD_MS);
    timer.unref();
    return ()=>clearInterval(timer);
}

//# sourceMappingURL=watch-clock.js.map