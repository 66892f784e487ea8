import type { PassCost } from './pass-cost.js';

export interface PassBounds {
  readonly tokensMax: number;
  readonly textsMax: number;
  /** Microseconds that a pass is predicted to take at most; one text always goes. */
  readonly timeTargetUs: number;
}

export interface FilledPass {
  /** Texts of the next pass, from the first that waits on. */
  readonly texts: number;
  /** Their multiplications. */
  readonly work: number;
}

/** The texts that go together next: in the order of their arrival, by predicted time. */
export function fillPass(
  waiting: readonly { readonly tokens: ArrayLike<number> }[],
  cost: PassCost,
  { tokensMax, textsMax, timeTargetUs }: PassBounds,
): FilledPass {
  let [texts, tokens, work] = [0, 0, 0];
  for (const { tokens: own } of waiting) {
    const next = work + cost.workOf(own.length);
    const isFull =
      texts === textsMax || tokens + own.length > tokensMax || cost.predictUs(next) > timeTargetUs;
    if (texts > 0 && isFull) break;
    texts += 1;
    tokens += own.length;
    work = next;
  }
  return { texts, work };
}
