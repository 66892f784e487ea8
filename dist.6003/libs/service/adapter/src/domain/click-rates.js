/** Click rates of two versions, and which of them is better as far as that is known. */ /** Share of the answers to known users of which an item was clicked. */ /** Quantile of the normal distribution for 95 %. */ const Z = 1.959963984540054;
const PERCENT = 100;
export function clickRate(clickedAnswers, userAnswers) {
    if (userAnswers === 0) return {
        userAnswers,
        clickedAnswers,
        rate: 0,
        low: 0,
        high: 1
    };
    const rate = clickedAnswers / userAnswers;
    const spread = Z ** 2 / userAnswers;
    const middle = (rate + spread / 2) / (1 + spread);
    const half = Z * Math.sqrt(rate * (1 - rate) / userAnswers + spread / (4 * userAnswers)) / (1 + spread);
    const low = clickedAnswers === 0 ? 0 : Math.max(0, middle - half);
    const high = clickedAnswers === userAnswers ? 1 : Math.min(1, middle + half);
    return {
        userAnswers,
        clickedAnswers,
        rate,
        low,
        high
    };
}
/** 95 % confidence interval of the difference of two rates (Newcombe 1998, from Wilson's). */ export function rateDifference(ours, theirs) {
    const difference = ours.rate - theirs.rate;
    return {
        low: difference - Math.hypot(ours.rate - ours.low, theirs.high - theirs.rate),
        high: difference + Math.hypot(ours.high - ours.rate, theirs.rate - theirs.low)
    };
}
const percent = (share)=>`${(PERCENT * share).toFixed(1)} %`;
const shown = ({ rate, low, high })=>`${percent(rate)} (${percent(low)} to ${percent(high)})`;
/** A plain sentence: which version is better by its clicks, or that it is not known yet. */ export function clickVerdict(canary, active) {
    const rates = `canary ${shown(canary)}, active ${shown(active)}`;
    if (canary.userAnswers === 0 || active.userAnswers === 0) {
        return `It is not known yet which version is clicked more: ${rates}.`;
    }
    const { low, high } = rateDifference(canary, active);
    if (low > 0) return `The canary is clicked more: ${rates}.`;
    if (high < 0) return `The active version is clicked more: ${rates}.`;
    return `It is not known yet which version is clicked more: ${rates}.`;
}

//# sourceMappingURL=click-rates.js.map