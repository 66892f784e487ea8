import type { Catalogue, Reach } from '@tessera/engine';
import { factsOf, requestIdOf } from './answer-facts.js';
import { checkRequest, namingField } from './check-request.js';
import { itemPolicyText, NO_POLICY } from './item-policy.js';
import { recalledItems } from './item-scores.js';
import { orRelease } from './kv-provenance.js';
import { popularAnswer } from './popular-items.js';
import type { Preparation } from './preparation.js';
import { checkNotErased } from './prepared.js';
import type { RecallAnswer, RecallContext, RecallRequest } from './recall-types.js';
import { sightOf } from './sight.js';

/**
 * Items for a user: check -> history -> prompt -> engine -> items. Rejects with TesseraError:
 * REQUEST_INVALID, USER_NOT_FOUND, ITEM_NOT_FOUND, DEADLINE_EXCEEDED, CANCELLED, or what
 * Engine.recall rejects with.
 */
export async function recall(
  preparation: Preparation,
  request: RecallRequest,
  context: RecallContext,
): Promise<RecallAnswer> {
  const { parts, limits, remembered } = preparation;
  const stopwatch = preparation.begin(context);
  const search = checkRequest(request, limits);
  const { popularity } = parts;
  const prepared = await preparation.prepare(request, context, stopwatch, popularity);
  if (popularity !== undefined && prepared.history?.fallback === 'popular') {
    const reach = context.pinned ?? (await pinnedReachOf(parts.catalogue, request));
    checkNotErased(prepared, parts.erasures);
    return popularAnswer(parts, popularity, { request, search }, prepared, reach);
  }
  const reach = context.pinned ?? (await orRelease(prepared.kv, reachOf(parts.catalogue, request)));
  const answer = await parts.engine.recall(
    { ...search, ...preparation.workOf(prepared), reach, wantsTree: request.wantsSight },
    context.signal,
  );
  parts.onPasses?.(answer.passes);
  checkNotErased(prepared, parts.erasures);
  const items = recalledItems(answer);
  const requestId = requestIdOf(request);
  const { prompt, skippedItems, trimmedItems } = prepared;
  const { userId } = request;
  const adapter = context.adapter?.digest ?? '';
  if (context.isOwn !== true) {
    remembered.keep(requestId, { userId, adapter, prompt, skippedItems, trimmedItems });
  }
  return {
    requestId,
    items,
    short: items.length < search.resultCount,
    widthsUsed: answer.widthsUsed,
    completeness: answer.completeness,
    itemPolicy: {
      ...(request.itemPolicy ?? NO_POLICY),
      itemsPerSid: answer.itemsPerSid,
      resultCount: search.resultCount,
      leftOutByDiversity: answer.leftOutByDiversity,
    },
    ...factsOf(parts, prepared, answer),
    ...(request.wantsSight === true && { sight: sightOf(prepared.history, prompt, answer) }),
  };
}

/** Compiled off this thread, before the request waits for the engine. */
async function reachOf(catalogue: Catalogue, request: RecallRequest): Promise<Reach | undefined> {
  const { eligibility, itemPolicy } = request;
  const isRestricted = eligibility !== undefined || itemPolicy !== undefined;
  if (!isRestricted && !catalogue.hasFlights) return undefined;
  return pinnedReachOf(catalogue, request);
}

function pinnedReachOf(catalogue: Catalogue, request: RecallRequest): Promise<Reach> {
  const { eligibility } = request;
  return namingField(catalogue.reach(eligibility ?? '{}', itemPolicyText(request)));
}
