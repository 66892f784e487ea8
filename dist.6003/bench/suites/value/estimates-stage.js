import { estimateTarget } from "../../../libs/insight/analysis/src/index.js";
import { seededRandom } from "../../../libs/testing/src/index.js";
import { drawShop, simulatedLog, TARGETS, truth } from "./simulated-shop.js";
const RUNS = {
    quick: 200,
    full: 1000
};
const USERS = 600;
const SEED = 55;
/** Shares of intervals that contain the truth, and the bias in its standard errors. */ export const COVERAGE = {
    low: 0.93,
    high: 0.97
};
export const BIAS_MAX = 2;
const ESTIMATORS = [
    'weighted',
    'normalised',
    'doublyRobust'
];
/** Estimators held against a shop whose truth is known, over so many logs of it. */ export function judgeEstimates(target, runs, users) {
    const shop = drawShop(seededRandom(SEED));
    const wanted = truth(shop, target);
    const random = seededRandom(SEED + 1 + TARGETS.indexOf(target));
    const found = Array.from({
        length: runs
    }, ()=>{
        const { estimates } = estimateTarget(simulatedLog(shop, target, users, random));
        // One rare draw may carry so much weight that nothing is told.
        return estimates ?? [];
    }).flat();
    return ESTIMATORS.map((estimator)=>({
            target,
            estimator,
            truth: wanted,
            refused: runs - found.length,
            ...judged(found.map((estimates)=>estimates[estimator]), wanted)
        }));
}
function judged(found, wanted) {
    const runs = found.length;
    const mean = (values)=>values.reduce((sum, one)=>sum + one, 0) / runs;
    const errors = found.map(({ value })=>value - wanted);
    const bias = mean(errors);
    const variance = mean(errors.map((error)=>(error - bias) ** 2)) * (runs / (runs - 1));
    return {
        coverage: mean(found.map(({ low, high })=>low <= wanted && wanted <= high ? 1 : 0)),
        biasSigmas: Math.abs(bias) / Math.sqrt(variance / runs),
        width: mean(found.map(({ low, high })=>(high - low) / 2 / wanted))
    };
}
/** Estimates of `npm run outcomes` against the truth. */ export async function estimatesStage({ quick, say }) {
    const runs = quick ? RUNS.quick : RUNS.full;
    say(`${runs} logs of ${USERS} users of a simulated shop`);
    return TARGETS.flatMap((target)=>judgeEstimates(target, runs, USERS)).flatMap((one)=>{
        const name = `estimate of another ${one.target}, ${one.estimator}`;
        const contain = {
            name: `${name}: intervals with the truth`,
            value: 100 * one.coverage,
            unit: '%'
        };
        return [
            {
                ...contain,
                bar: 100 * COVERAGE.low,
                bound: 'at-least'
            },
            {
                ...contain,
                bar: 100 * COVERAGE.high,
                bound: 'at-most'
            },
            {
                name: `${name}: bias`,
                value: one.biasSigmas,
                unit: 'sigma',
                bar: BIAS_MAX
            },
            {
                name: `${name}: half an interval`,
                value: 100 * one.width,
                unit: '%',
                bar: null
            },
            {
                name: `${name}: refused`,
                value: one.refused,
                unit: 'logs',
                bar: null
            }
        ].map((row)=>({
                bound: 'at-most',
                ...row
            }));
    });
}

//# sourceMappingURL=estimates-stage.js.map