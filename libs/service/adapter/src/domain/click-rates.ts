/** Click rates of two versions, and which of them is better as far as that is known. */

/** Share of the answers to known users of which an item was clicked. */
export interface ClickRate {
  readonly userAnswers: number;
  readonly clickedAnswers: number;
  /** In 0..1; 0 where there are no answers. */
  readonly rate: number;
  /** 95 % confidence interval of it (Wilson 1927). */
  readonly low: number;
  readonly high: number;
}

/** Quantile of the normal distribution for 95 %. */
const Z = 1.959963984540054;
/**
 * For 99.9 %. A canary is looked at after each click, and the first look that finds it worse ends
 * it: at 95 % most canaries that are as good as the active version would end so. Answers to the
 * same user are alike besides, so that they count for fewer than they are.
 */
const Z_TO_END = 3.290526731491926;
const PERCENT = 100;

export function clickRate(clickedAnswers: number, userAnswers: number, z = Z): ClickRate {
  if (userAnswers === 0) return { userAnswers, clickedAnswers, rate: 0, low: 0, high: 1 };
  const rate = clickedAnswers / userAnswers;
  const spread = z ** 2 / userAnswers;
  const middle = (rate + spread / 2) / (1 + spread);
  const half =
    (z * Math.sqrt((rate * (1 - rate)) / userAnswers + spread / (4 * userAnswers))) / (1 + spread);
  const low = clickedAnswers === 0 ? 0 : Math.max(0, middle - half);
  const high = clickedAnswers === userAnswers ? 1 : Math.min(1, middle + half);
  return { userAnswers, clickedAnswers, rate, low, high };
}

/** Confidence interval of the difference of two rates (Newcombe 1998), by their own intervals. */
export function rateDifference(ours: ClickRate, theirs: ClickRate): { low: number; high: number } {
  const difference = ours.rate - theirs.rate;
  return {
    low: difference - Math.hypot(ours.rate - ours.low, theirs.high - theirs.rate),
    high: difference + Math.hypot(ours.high - ours.rate, theirs.rate - theirs.low),
  };
}

/** Interval of the difference at 99.9 %, by which a canary ends. */
export function differenceToEnd(ours: ClickRate, theirs: ClickRate): { low: number; high: number } {
  const [a, b] = [ours, theirs].map(({ clickedAnswers, userAnswers }) =>
    clickRate(clickedAnswers, userAnswers, Z_TO_END),
  ) as [ClickRate, ClickRate];
  return rateDifference(a, b);
}

const percent = (share: number) => `${(PERCENT * share).toFixed(1)} %`;
const shown = ({ rate, low, high }: ClickRate) =>
  `${percent(rate)} (${percent(low)} to ${percent(high)})`;

/** A plain sentence: which version is better by its clicks, or that it is not known yet. */
export function clickVerdict(canary: ClickRate, active: ClickRate): string {
  const rates = `canary ${shown(canary)}, active ${shown(active)}`;
  if (canary.userAnswers === 0 || active.userAnswers === 0) {
    return `It is not known yet which version is clicked more: ${rates}.`;
  }
  const { low, high } = rateDifference(canary, active);
  if (low > 0) return `The canary is clicked more: ${rates}.`;
  if (high < 0) return `The active version is clicked more: ${rates}.`;
  return `It is not known yet which version is clicked more: ${rates}.`;
}
