import { Random } from "../../models/random.js";
import { quantile } from "../../result.js";
const RESAMPLES = 2000;
const OUTSIDE = 0.025;
/**
 * Interval that 95 % of the ratios of two sums lie in, where users are drawn anew with replacement,
 * the same ones on both sides (Efron 1979).
 */ export function ratioInterval(above, below, seed) {
    const random = new Random(seed);
    const ratios = Array.from({
        length: RESAMPLES
    }, ()=>{
        let [sumAbove, sumBelow] = [
            0,
            0
        ];
        for(let draw = 0; draw < above.length; draw += 1){
            const user = random.below(above.length);
            sumAbove += above[user];
            sumBelow += below[user];
        }
        return sumAbove / sumBelow;
    });
    return {
        low: quantile(ratios, OUTSIDE),
        high: quantile(ratios, 1 - OUTSIDE)
    };
}
/**
 * Each value over the quantile of the `memory` values before it, by which the engine predicts rows;
 * values without so many before them are left out.
 */ export function overPredicted(values, memory, share) {
    return values.slice(memory).map((value, at)=>value / quantile(values.slice(at, at + memory), share));
}

//# sourceMappingURL=resampling.js.map