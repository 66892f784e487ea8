/** The catalogue that changes, beside what one would do without one. */ import { nativeResults } from "./native-bench.js";
const VISIBLE_TARGET_US = 50_000;
const VISIBLE_MOST_US = 1_000_000;
export function nativeWords({ quick, items }) {
    return [
        ...quick ? [
            '--quick'
        ] : [],
        '--items',
        String(items)
    ];
}
/**
 * Each step beside its two peers: a snapshot built anew for the change or the predicate, and
 * filtering after a search that knows nothing of it.
 */ export async function liveRows(form) {
    const { items, say } = form;
    say(`changes and eligibility over ${items} SIDs`);
    const live = await nativeResults('live_bench', nativeWords(form));
    const prefix = `live ${items} SIDs: `;
    const figure = (name)=>live.find((result)=>result.name === prefix + name)?.value ?? Number.NaN;
    return live.map((result)=>row(result, prefix, figure));
}
/** Ratios to what stands for the same thing without changes, and the bars of change to visible. */ function row(result, prefix, figure) {
    const name = result.name.slice(prefix.length);
    if (name.startsWith('change to visible')) {
        const bar = name.endsWith('median') ? VISIBLE_TARGET_US : VISIBLE_MOST_US;
        return {
            ...result,
            bar,
            bound: 'at-most'
        };
    }
    const width = /^step, width (\d+), (?!no predicate$)/.exec(name)?.[1];
    if (width !== undefined) {
        const value = result.value / figure(`step, width ${width}, no predicate`);
        return {
            ...result,
            ratio: {
                value,
                to: 'no predicate'
            },
            bar: null
        };
    }
    if (name === 'building anew') {
        const value = result.value * 1e6 / figure('change to visible, alone, median');
        return {
            ...result,
            ratio: {
                value,
                to: 'a change'
            },
            bar: null
        };
    }
    return {
        ...result,
        bar: null
    };
}

//# sourceMappingURL=catalogue-live.js.map