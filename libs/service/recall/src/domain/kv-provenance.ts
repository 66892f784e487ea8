import { type EngineAppended, type KvPrefetch, type KvUse, NOTHING_FOUND } from '@tessera/engine';
import type { Prompt } from '@tessera/prompt';
import type { KvProvenance, RecallContext, UserSource } from './recall-types.js';

/** @param answer undefined where the engine was not asked */
export function provenanceOf(
  promptTokens: number,
  answer: EngineAppended | undefined,
): KvProvenance {
  const kv = answer?.kv ?? NOTHING_FOUND;
  const { tiers, waitUs, lossy, inheritedTokens, versionsBack } = kv;
  const sharedTokens = answer?.prefixReusedTokens ?? 0;
  const foundTokens = tiers.reduce((sum, { tokens }) => sum + tokens, 0);
  const savedTokens = foundTokens + sharedTokens;
  const computedTokens = answer === undefined ? 0 : promptTokens - savedTokens;
  return {
    waitUs,
    lossy,
    inheritedTokens,
    versionsBack,
    tokensByTier: Object.fromEntries(tiers.map(({ tier, tokens }) => [tier, tokens])),
    sharedTokens,
    computedTokens,
    savedTokens,
  };
}

/**
 * A user's prompt is kept for that user; one from an explicit history leaves the static text
 * alone. What the service asks for itself warms up a version or compares it: that is computed
 * under it.
 */
export function kvUseOf(
  { userId }: UserSource,
  { isOwn = false }: Pick<RecallContext, 'isOwn'>,
  prompt: Prompt,
  prefetch: KvPrefetch | undefined,
): KvUse {
  if (userId === undefined) return staticKvUse(prompt);
  const { prefixTokens, keepTokens } = prompt;
  const use = { userId, prefixTokens, keepTokens, wantsExact: isOwn };
  return prefetch === undefined ? use : { ...use, prefetch };
}

/** Of a prompt that is no user's: the static text that all begin with. */
export function staticKvUse({ prefixTokens }: Prompt): KvUse {
  return { userId: '', prefixTokens, keepTokens: prefixTokens };
}
