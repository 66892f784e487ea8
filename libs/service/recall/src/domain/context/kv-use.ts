/** Keys and values that a prompt may find in the pool and leave there. */

import type { KvPrefetch, KvUse } from '@tessera/engine';
import type { Prompt } from '@tessera/prompt';
import type { RecallContext, UserSource } from '../request/request-types.js';

/**
 * A user's prompt is kept for that user; one from an explicit history leaves the static text
 * alone. The service's own recalls warm up a version or compare it, and are computed
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
