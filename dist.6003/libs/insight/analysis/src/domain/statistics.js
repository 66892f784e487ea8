/** Quantile of the normal distribution that leaves 2.5 % above it. */ export const Z = 1.959_964;
/** Wilson's interval (1927): with few trials neither below 0 nor above 1. */ export function rateOf(successes, trials) {
    if (trials === 0) return {
        successes,
        trials,
        rate: 0,
        low: 0,
        high: 0
    };
    const rate = successes / trials;
    const square = Z * Z / trials;
    const middle = (rate + square / 2) / (1 + square);
    const half = Z / (1 + square) * Math.sqrt(rate * (1 - rate) / trials + square / (4 * trials));
    return {
        successes,
        trials,
        rate,
        low: successes === 0 ? 0 : Math.max(0, middle - half),
        high: successes === trials ? 1 : Math.min(1, middle + half)
    };
}
/** Gini coefficient of numbers; each stands there with how often it occurs. */ export function giniOfGroups(groups) {
    const ascending = groups.filter(([value])=>value > 0).sort(([a], [b])=>a - b);
    let [place, total, ranked] = [
        0,
        0,
        0
    ];
    for (const [value, count] of ascending){
        ranked += value * (count * place + count * (count + 1) / 2);
        total += value * count;
        place += count;
    }
    const count = groups.reduce((sum, [, own])=>sum + own, 0);
    return giniOf(count, place, total, ranked);
}
/**
 * Gini coefficient of numbers of which most are 0.
 * @param count of all numbers
 * @param positive how many are above 0
 * @param total their sum
 * @param ranked sum of each times its place among the positive ones, ascending, from 1
 */ export function giniOf(count, positive, total, ranked) {
    if (count === 0 || total === 0) return 0;
    const weighted = ranked + (count - positive) * total;
    return 2 * weighted / (count * total) - (count + 1) / count;
}

//# sourceMappingURL=statistics.js.map