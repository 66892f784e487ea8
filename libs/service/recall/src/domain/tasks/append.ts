import { provenanceOf } from '../answer/answer-facts.js';
import type { AppendAnswer } from '../answer/answer-types.js';
import type { Preparation, ScopedContext } from '../context/preparation.js';
import { workOf } from '../context/prepared.js';
import { checkAppendRequest } from '../request/check-items.js';
import type { UserSource } from '../request/request-types.js';

/**
 * Computes the part of a user's history that the pool does not hold and keeps it, behind all
 * requests that wait for answers. Rejects as `recall` does.
 */
export async function append(
  preparation: Preparation,
  request: UserSource,
  context: ScopedContext,
): Promise<AppendAnswer> {
  const { parts, limits } = preparation;
  const stopwatch = preparation.begin(context);
  checkAppendRequest(request, limits);
  const withHistory = { ...request, requiresHistory: true };
  const prepared = await preparation.prepare(withHistory, context, stopwatch);
  const { requestId, prompt, kv, skippedItems, trimmedItems } = prepared;
  // One more than is kept, where there is one: the last token of a prompt never is.
  const promptTokens = prompt.tokens.subarray(0, kv.keepTokens + 1);
  const appended =
    kv.keepTokens === 0
      ? undefined
      : await parts.engine.append(
          { ...workOf(parts, prepared), promptTokens, priority: 'low' },
          context.signal,
        );
  return {
    requestId,
    historyItems: prompt.historyItems,
    trimmedItems,
    skippedItems,
    keptTokens: Math.min(kv.keepTokens, prompt.tokens.length - 1),
    kv: provenanceOf(promptTokens.length, appended),
  };
}
