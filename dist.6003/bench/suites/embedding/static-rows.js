import { quantile } from "../../result.js";
/** Of the time in BF16. */ const BAR = 0.6;
const REFERENCE = 'bf16';
const BARRED = 'w8a8-static';
/** The time of each type over that of BF16: the median of the rounds' ratios. */ export function staticRows(prefix, all, cosines) {
    const wide = all.find(({ type })=>type === REFERENCE);
    const times = all.map(({ type, milliseconds })=>{
        const row = {
            name: `${prefix}: ${type}, time`,
            value: quantile(milliseconds, 0.5),
            unit: 'ms'
        };
        if (wide === undefined || type === REFERENCE) return {
            ...row,
            bar: null
        };
        const ratios = milliseconds.map((own, round)=>own / wide.milliseconds[round]);
        const ratio = {
            value: quantile(ratios, 0.5),
            to: REFERENCE
        };
        return {
            ...row,
            ratio,
            bar: type === BARRED ? BAR : null,
            bound: 'at-most'
        };
    });
    const first = all[0]?.type ?? '';
    return [
        ...times,
        ...cosines.map(({ type, value })=>({
                name: `${prefix}: ${type}, lowest cosine to ${first}`,
                value,
                unit: '',
                bar: null
            }))
    ];
}

//# sourceMappingURL=static-rows.js.map