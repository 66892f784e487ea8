import { quantile } from "../../result.js";
import { engineBoundKeys } from "../overload/goodput.js";
import { LoadChild } from "../overload/load-child.js";
import { ServedProcess } from "../overload/served-process.js";
import { asked } from "./asked.js";
const CALLERS = 16;
const WARM_SECONDS = 8;
/** One service: alone, as many as it can, and half of that at an even pace. */ export async function served({ quick, say }) {
    const service = await ServedProcess.start({});
    const load = new LoadChild();
    const seconds = quick ? 6 : 30;
    try {
        say('warming up');
        await asked(load, service, {
            closed: {
                callers: CALLERS
            },
            seconds: WARM_SECONDS
        });
        await asked(load, service, {
            closed: {
                callers: 1
            },
            seconds: WARM_SECONDS / 2
        });
        say('one recall at a time');
        const alone = await asked(load, service, {
            closed: {
                callers: 1
            },
            seconds
        });
        say(`${CALLERS} recalls in flight`);
        const full = await asked(load, service, {
            closed: {
                callers: CALLERS
            },
            seconds
        });
        const rate = full.recallsPerSecond / 2;
        say(`half load, ${rate.toFixed(0)} recalls/s`);
        const half = await asked(load, service, {
            open: {
                rate
            },
            seconds
        });
        return [
            ...aloneRows(alone),
            ...fullRows(full),
            ...halfRows(half)
        ];
    } finally{
        await load.stop();
        await service.stop();
    }
}
/** The same of a model whose arithmetic is the limit, at half of what the service can. */ export async function engineBoundHalf({ quick, say }) {
    const service = await ServedProcess.start(engineBoundKeys(say));
    const load = new LoadChild();
    const seconds = quick ? 15 : 60;
    try {
        say('warming up');
        const full = await asked(load, service, {
            closed: {
                callers: CALLERS
            },
            seconds: WARM_SECONDS
        });
        const rate = full.recallsPerSecond / 2;
        say(`half load, ${rate.toFixed(1)} recalls/s`);
        const { answers } = await asked(load, service, {
            open: {
                rate
            },
            seconds
        });
        const row = (share, bar)=>({
                name: `engine-bound, half load: outside the engine, ${share === 0.5 ? 'median' : 'p99'}`,
                value: quantile(pluck(answers, outsideEngine), share),
                unit: 'ms',
                bar,
                bound: 'at-most'
            });
        return [
            row(0.5, 1.5),
            row(0.99, 6)
        ];
    } finally{
        await load.stop();
        await service.stop();
    }
}
const pluck = (answers, of)=>answers.map(of);
const outsideEngine = ({ ms, engineMs })=>ms - engineMs;
function aloneRows({ answers, mainThreadMsPerRecall }) {
    const name = 'alone';
    const latency = (share)=>quantile(pluck(answers, ({ ms })=>ms), share);
    const outside = pluck(answers, ({ recallMs, arithmeticMs })=>1 - arithmeticMs / recallMs);
    return [
        {
            name: `${name}: latency, median`,
            value: latency(0.5),
            unit: 'ms',
            bar: null
        },
        {
            name: `${name}: latency, p99`,
            value: latency(0.99),
            unit: 'ms',
            bar: null
        },
        {
            name: `${name}: outside the engine, median`,
            unit: 'ms',
            bar: null,
            value: quantile(pluck(answers, outsideEngine), 0.5)
        },
        {
            name: `${name}: recall outside arithmetic, median`,
            unit: 'share',
            bar: 0.25,
            value: quantile(outside, 0.5),
            bound: 'at-most'
        },
        cpuRow(name, mainThreadMsPerRecall)
    ];
}
function cpuRow(name, value) {
    return {
        name: `${name}: CPU of the main thread, a recall`,
        value,
        unit: 'ms',
        bar: null
    };
}
function fullRows({ recallsPerSecond, mainThreadMsPerRecall }) {
    const name = `${CALLERS} in flight`;
    return [
        {
            name: `${name}: throughput`,
            value: recallsPerSecond,
            unit: 'recalls/s',
            bar: null
        },
        cpuRow(name, mainThreadMsPerRecall)
    ];
}
function halfRows({ answers, mainThreadMsPerRecall }) {
    const name = 'half load';
    const row = (what, of, share)=>({
            name: `${name}: ${what}, ${share === 0.5 ? 'median' : 'p99'}`,
            value: quantile(pluck(answers, of), share),
            unit: 'ms',
            bound: 'at-most'
        });
    const stages = ({ ms, stagesMs })=>ms - stagesMs;
    return [
        {
            ...row('outside the engine', outsideEngine, 0.5),
            bar: null
        },
        {
            ...row('outside the engine', outsideEngine, 0.99),
            bar: null
        },
        {
            ...row('outside what the engine itself measures', stages, 0.5),
            bar: null
        },
        {
            ...row('outside what the engine itself measures', stages, 0.99),
            bar: null
        },
        cpuRow(name, mainThreadMsPerRecall)
    ];
}

//# sourceMappingURL=served.js.map