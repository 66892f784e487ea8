import { setTimeout as sleep } from "node:timers/promises";
import { TesseraError } from "../../../libs/ops/errors/src/index.js";
import { Random } from "../../models/random.js";
/** Keeps so many calls under way until the time is over, then lets them end. Calls a second. */ export async function closedLoop(inFlight, milliseconds, call) {
    let next = 0;
    const started = performance.now();
    const work = async ()=>{
        do await call(next++);
        while (performance.now() - started < milliseconds)
    };
    await Promise.all(Array.from({
        length: inFlight
    }, work));
    return 1000 * next / (performance.now() - started);
}
/** Calls arrive at random (Poisson) at that rate, whatever is still under way. */ export async function openLoop(perSecond, milliseconds, seed, call) {
    const random = new Random(seed);
    const latencies = [];
    const asked = [];
    let refused = 0;
    const started = performance.now();
    const ask = async (at, arrival)=>{
        try {
            await call(at);
            latencies.push(performance.now() - arrival);
        } catch (error) {
            if (!isRefusal(error)) throw error;
            refused += 1;
        }
    };
    for(let arrival = started; arrival < started + milliseconds;){
        await sleep(Math.max(arrival - performance.now(), 0));
        asked.push(ask(asked.length, arrival));
        arrival -= Math.log(1 - random.uniform()) * 1000 / perSecond;
    }
    await Promise.all(asked);
    return {
        latencies,
        refused,
        rate: 1000 * latencies.length / (performance.now() - started)
    };
}
function isRefusal(error) {
    return error instanceof TesseraError && (error.code === 'ENGINE_OVERLOADED' || error.code === 'DEADLINE_EXCEEDED');
}

//# sourceMappingURL=in-flight.js.map