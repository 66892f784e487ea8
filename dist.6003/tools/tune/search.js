/** In the order in which they are tried, each with those before it as they were chosen. */ const ORDER = [
    'threadCount',
    'batchRequestsMax',
    'batchRowsMax',
    'prefillChunkTokens'
];
/** Of two settings whose rates differ by less the one that takes less memory and time is taken. */ const INDIFFERENT = 0.02;
/** Settings that are measured again, in turns: the fastest of many was also the luckiest. */ const FINALISTS = 4;
const TURNS = 3;
/** `fitting`: requests whose keys and values the engine has memory for at a time. */ export function axesOf(cores, fitting) {
    const threads = [
        Math.max(1, cores - 1),
        cores
    ];
    return {
        threadCount: [
            ...new Set(threads)
        ],
        batchRequestsMax: [
            4,
            8,
            16,
            32,
            64
        ].filter((count)=>count === 4 || count <= fitting),
        batchRowsMax: [
            512,
            1024,
            2048
        ],
        prefillChunkTokens: [
            128,
            256,
            512
        ]
    };
}
/** The first of the fastest: lists go from less to more. */ export function chosen(measured) {
    const best = Math.max(...measured.map(({ rate })=>rate));
    const first = measured.find(({ rate })=>rate >= best * (1 - INDIFFERENT));
    if (first === undefined) throw new Error('expected a measured setting, got none');
    return first;
}
/** One axis after the other; everything that was measured, with the advice. */ export async function descend(start, axes, measure) {
    const measured = [];
    const rateOf = async (setting)=>{
        const known = measured.find((one)=>isSame(one.setting, setting));
        if (known !== undefined) return known;
        const fresh = {
            setting,
            rate: await measure(setting)
        };
        measured.push(fresh);
        return fresh;
    };
    let advice = await rateOf(start);
    for (const key of ORDER){
        const along = [];
        for (const value of axes[key])along.push(await rateOf({
            ...advice.setting,
            [key]: value
        }));
        advice = chosen(along);
    }
    return {
        advice: chosen(await again(finalists(measured, advice), measure)),
        measured
    };
}
/** The fastest, and the one that was chosen among them; from less to more. */ export function finalists(measured, advice) {
    const fastest = measured.toSorted((a, b)=>b.rate - a.rate).slice(0, FINALISTS);
    const all = fastest.some(({ setting })=>isSame(setting, advice.setting)) ? fastest : [
        ...fastest,
        advice
    ];
    return all.map(({ setting })=>setting).sort((a, b)=>sizeOf(a) - sizeOf(b));
}
/** Each setting's median of some turns: what else the machine does falls on all of them. */ export async function again(settings, measure) {
    const rates = settings.map(()=>[]);
    for(let turn = 0; turn < TURNS; turn += 1){
        for (const [i, setting] of settings.entries())rates[i]?.push(await measure(setting));
    }
    const median = (of)=>of.toSorted((a, b)=>a - b)[TURNS >> 1] ?? 0;
    return settings.map((setting, i)=>({
            setting,
            rate: median(rates[i] ?? [])
        }));
}
/** Measurements of finalists at most. */ export const FINAL_MEASUREMENTS_MAX = TURNS * (FINALISTS + 1);
/** Measurements of a search along these axes at most. */ export function measurementsMax(axes) {
    return 1 + Object.values(axes).flat().length + FINAL_MEASUREMENTS_MAX;
}
/** Memory and time of a pass grow with each of them; threads count most. */ const sizeOf = (of)=>Math.log2(of.batchRowsMax) + Math.log2(of.batchRequestsMax) + Math.log2(of.prefillChunkTokens) + 64 * of.threadCount;
/** Every combination. */ export function grid(axes) {
    return axes.threadCount.flatMap((threadCount)=>axes.batchRequestsMax.flatMap((batchRequestsMax)=>axes.batchRowsMax.flatMap((batchRowsMax)=>axes.prefillChunkTokens.map((prefillChunkTokens)=>({
                        threadCount,
                        batchRequestsMax,
                        batchRowsMax,
                        prefillChunkTokens
                    })))));
}
export function isSame(a, b) {
    return ORDER.every((key)=>a[key] === b[key]);
}

//# sourceMappingURL=search.js.map