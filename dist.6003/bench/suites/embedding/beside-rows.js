import { quantile } from "../../result.js";
const BAR = 1.2;
const QUANTILES = [
    [
        'p50',
        0.5
    ],
    [
        'p99',
        0.99
    ]
];
/** Recalls under each load over those of the first, which is none. One refused never ended. */ export function besideRows(all) {
    const alone = all[0];
    if (alone === undefined) return [];
    const recalls = QUANTILES.flatMap(([name, share])=>{
        const base = quantile(latencies(alone), share);
        return all.map((one)=>{
            const value = quantile(latencies(one), share);
            const row = {
                name: `recall, ${one.load}: ${name}`,
                value,
                unit: 'ms'
            };
            if (one === alone) return {
                ...row,
                bar: null
            };
            const ratio = {
                value: value / base,
                to: alone.load
            };
            return {
                ...row,
                ratio,
                bar: BAR,
                bound: 'at-most'
            };
        });
    });
    const counts = all.map((one)=>({
            name: `recall, ${one.load}: answered`,
            value: one.turns.reduce((sum, turn)=>sum + turn.latencies.length, 0),
            unit: 'recalls',
            bar: null
        }));
    const texts = all.slice(1).map((one)=>({
            name: `texts, ${one.load}`,
            value: quantile(one.textRates, 0.5),
            unit: 'texts/s',
            bar: null
        }));
    return [
        ...recalls,
        ...counts,
        ...texts
    ];
}
function latencies({ turns }) {
    return turns.flatMap(({ latencies: own, refused })=>[
            ...own,
            ...new Array(refused).fill(Number.POSITIVE_INFINITY)
        ]);
}

//# sourceMappingURL=beside-rows.js.map