import { computeUs } from "./load-plan.js";
import { stepUs } from "./model-costs.js";
/**
 * All but `none` refuse a request at arrival whose first step would be late, and one with a
 * complete prompt that finds no place for its answer in time. `present` refuses at arrival too
 * where all places are taken then; `predicted` where none will be free in time.
 */ export const ADMISSIONS = [
    'none',
    'late',
    'present',
    'predicted'
];
const NO_TIERS = {
    memoryBytes: 0,
    diskBytes: 0,
    diskBytesPerUs: 0,
    sharedBytes: 0,
    sharedBytesPerUs: 0,
    linkBytesPerUs: 0,
    writeBytesPerUs: 0
};
/** One node without tiers, which refuses no request; a simulation names what it changes. */ export function plainOptions(workload, costs) {
    return {
        nodes: 1,
        answerNodes: 0,
        costs,
        sizes: NO_TIERS,
        policy: 'router',
        admission: 'none',
        firstLimitUs: defaultFirstLimitUs(workload, costs),
        answersMax: defaultAnswersMax(workload, costs),
        splitTokens: 0,
        deaths: [],
        seed: 1,
        warmUpUs: 0,
        planned: new Set()
    };
}
/** Published objectives: the first step within 10 times of unloaded, a step within 5. */ const FIRST_STEP_FACTOR = 10;
const STEP_FACTOR = 5;
/** Of a workload's mean prompt, computed alone and from nothing. */ export function defaultFirstLimitUs({ arrivals }, costs) {
    let sum = 0;
    for (const { promptTokens } of arrivals)sum += computeUs(0, promptTokens, costs);
    return FIRST_STEP_FACTOR * sum / arrivals.length;
}
/** Answers behind the workload's mean prompt whose steps take five times one's alone. */ export function defaultAnswersMax({ arrivals }, costs) {
    let tokens = 0;
    for (const { promptTokens } of arrivals)tokens += promptTokens;
    const us = stepUs(costs, tokens / arrivals.length);
    return Math.max(1, Math.floor((STEP_FACTOR * (costs.passUs + us) - costs.passUs) / us));
}

//# sourceMappingURL=options.js.map