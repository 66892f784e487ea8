import { queueCapacityFor } from "../../libs/engine/src/index.js";
import { TesseraError } from "../../libs/ops/errors/src/index.js";
import { createRecallRuntime } from "../../libs/service/recall/src/index.js";
/** Callers for each place of a batch: the next request waits when one ends. */ const CALLERS_PER_PLACE = 2;
/** The middle one counts: what else the machine does falls on one of them. */ const WINDOWS = 3;
const MIDDLE = 1;
const WARM_UP_SHARE = 0.25;
const BUDGET_US = 600e6;
const MS_PER_SECOND = 1000;
/** Context of a call that nobody waits for: it is measured, however long it takes. */ export const unhurried = ()=>({
        signal: new AbortController().signal,
        budgetUs: BUDGET_US
    });
/** A recall by history with the configured defaults; items that are unknown are left out. */ export const requestOf = (history, { widths, search })=>({
        requestId: '',
        history,
        search,
        widths,
        profile: {},
        scene: {},
        resultCount: 0,
        itemsPerSid: 0,
        skipUnknownItems: true
    });
/**
 * Recalls a second of a service that has only this to do, by histories that nobody has asked for
 * before: nothing is found in the KV pool. 0 where the machine lacks the memory for the setting.
 */ export async function throughput(options, setting, load) {
    const callers = setting.batchRequestsMax * CALLERS_PER_PLACE;
    const engine = {
        ...options.engine,
        ...setting
    };
    const queueCapacity = Math.max(engine.queueCapacity, queueCapacityFor(callers));
    const runtime = await orNothing(createRecallRuntime({
        ...options,
        engine: {
            ...engine,
            queueCapacity
        }
    }));
    if (runtime === undefined) return 0;
    try {
        await answered(runtime, load, callers, load.seconds * WARM_UP_SHARE);
        const seconds = load.seconds / WINDOWS;
        const rates = [];
        for(let window = 0; window < WINDOWS; window++){
            rates.push(await answered(runtime, load, callers, seconds) / seconds);
        }
        return rates.toSorted((a, b)=>a - b)[MIDDLE] ?? 0;
    } finally{
        await runtime.close();
    }
}
async function orNothing(made) {
    try {
        return await made;
    } catch (thrown) {
        if (TesseraError.from(thrown).code === 'ENGINE_OVERLOADED') return undefined;
        throw thrown;
    }
}
/** Recalls that were answered within so many seconds. */ async function answered(runtime, load, callers, seconds) {
    const { histories } = load;
    const end = performance.now() + seconds * MS_PER_SECOND;
    let count = 0;
    let next = 0;
    const call = async ()=>{
        while(performance.now() < end){
            const at = next++;
            const whole = histories[at % histories.length] ?? [];
            // Another beginning each time round: what runs together shares no prompt.
            const history = whole.slice(Math.floor(at / histories.length) % Math.max(1, whole.length));
            await runtime.serving.recall(requestOf(history, load), unhurried());
            if (performance.now() < end) count += 1;
        }
    };
    await Promise.all(Array.from({
        length: callers
    }, call));
    return count;
}

//# sourceMappingURL=throughput.js.map