import type { EngineRelevanceRequest } from '@tessera/engine';
import { joined } from './joined-tokens.js';
import type { LabelStop } from './label-paths.js';

/** Common work of all requests of a call. */
export interface CallWork
  extends Pick<EngineRelevanceRequest, 'scoreNorm' | 'priority' | 'budgetUs' | 'adapter'> {
  /** First tokens of every prompt of the template, which the pool keeps between calls. */
  readonly headTokens: number;
}

/** A prompt, and its first tokens that the one before it has as well. */
interface Pair {
  readonly tokens: Int32Array;
  readonly sibling: number;
}

/** Requests of one prompt: one for each stop of the labels. */
export function pairRequests(
  { tokens, sibling }: Pair,
  stops: readonly LabelStop[],
  { headTokens, scoreNorm, priority, budgetUs, adapter }: CallWork,
): readonly EngineRelevanceRequest[] {
  const kv = { userId: '', prefixTokens: headTokens, keepTokens: headTokens };
  return stops.map(({ prefix, tokens: labelTokens }) => ({
    promptTokens: prefix.length === 0 ? tokens : joined([tokens, prefix]),
    labelTokens,
    siblingTokens: prefix.length === 0 ? sibling : tokens.length,
    scoreNorm,
    priority,
    budgetUs,
    adapter,
    kv,
  }));
}
