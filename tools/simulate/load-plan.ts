/**
 * Load or compute, as native/src/kv/load_plan.cc decides it: how many of the blocks that lie below
 * the memory are worth waiting for. Its spec has the cases of native/src/kv/slot_test.cc.
 */

/** Tiers below the memory. */
export type LowerTier = 'disk' | 'shared';

export interface LoadRates {
  /** Bytes per microsecond out of each; 0: endless. */
  readonly bytesPerUs: Readonly<Record<LowerTier, number>>;
  readonly tokenUs: number;
  /** More per token and token of context before it. */
  readonly pairUs: number;
}

export interface LoadQuestion {
  /** There already. */
  readonly memoryTokens: number;
  readonly promptTokens: number;
  /** Tier of each block behind those, in order. */
  readonly missing: readonly LowerTier[];
  readonly blockTokens: number;
  readonly blockBytes: number;
  /** Until the request has its turn: loads cost nothing so far. */
  readonly hiddenUs: number;
  /** Of other loads that are before this one. */
  readonly queuedBytes: Readonly<Record<LowerTier, number>>;
}

export interface LoadPlan {
  /** To load of `missing`, from the front. */
  readonly blocks: number;
  /** Of those, hidden or not. */
  readonly loadUs: number;
  /** Exposed load and compute of what is left. */
  readonly predictedUs: number;
  /** With nothing loaded. */
  readonly computeAllUs: number;
}

/** Prefill of what is behind `context` tokens: every token sees those before it. */
export function computeUs(
  context: number,
  prompt: number,
  { tokenUs, pairUs }: Pick<LoadRates, 'tokenUs' | 'pairUs'>,
): number {
  const fresh = Math.max(0, prompt - context);
  return fresh * tokenUs + fresh * (context + fresh / 2) * pairUs;
}

/** The number of blocks for which the prediction is smallest; the larger one of equals. */
export function planLoad(question: LoadQuestion, rates: LoadRates): LoadPlan {
  const { memoryTokens, promptTokens, missing, blockTokens, blockBytes, hiddenUs } = question;
  const computeAllUs = computeUs(memoryTokens, promptTokens, rates);
  let best = { blocks: 0, loadUs: 0, predictedUs: computeAllUs };
  let loadUs = 0;
  for (const [at, tier] of missing.entries()) {
    const rate = rates.bytesPerUs[tier];
    const isFirst = at === 0 || missing[at - 1] !== tier;
    const bytes = (isFirst ? question.queuedBytes[tier] : 0) + blockBytes;
    if (rate > 0) loadUs += bytes / rate;
    const context = Math.min(promptTokens, memoryTokens + blockTokens * (at + 1));
    const exposedUs = Math.max(0, loadUs - hiddenUs);
    const predictedUs = exposedUs + computeUs(context, promptTokens, rates);
    if (predictedUs <= best.predictedUs) best = { blocks: at + 1, loadUs, predictedUs };
  }
  const { blocks, predictedUs } = best;
  return { blocks, loadUs: best.loadUs, predictedUs, computeAllUs };
}
