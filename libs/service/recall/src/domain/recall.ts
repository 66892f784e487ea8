import { factsOf, requestIdOf } from './answer-facts.js';
import { explored, placed, priced } from './answer-phases.js';
import { askedRecall } from './asked-recall.js';
import type { AskedRecall, Draft, FoundItems, Phase } from './phase.js';
import { popularItems } from './popular-items.js';
import { checkNotErased, type Preparation, type ScopedContext } from './preparation.js';
import { ranked } from './ranked-items.js';
import type { RecallAnswer, RecallRequest } from './recall-types.js';
import { certificateOf } from './recall-types.js';
import { searchedItems } from './searched-items.js';
import { sightOf } from './sight.js';
import { unknownAttributes } from './unknown-attributes.js';

/** Phases from the found items to the answer, in their order. */
const PHASES: readonly Phase[] = [ranked, placed, priced, explored];

/**
 * Items for a user: asked -> prepared -> found -> ranked -> placed -> priced -> explored ->
 * answered. Rejects with TesseraError: REQUEST_INVALID, USER_NOT_FOUND, ITEM_NOT_FOUND,
 * DEADLINE_EXCEEDED, CANCELLED, or what Engine.recall rejects with.
 */
export async function recall(
  preparation: Preparation,
  request: RecallRequest,
  context: ScopedContext,
): Promise<RecallAnswer> {
  const { popularity } = preparation.parts;
  const asked = await askedRecall(preparation, request, context, { popularity });
  const found = (await popularItems(asked)) ?? (await searchedItems(asked));
  let draft: Draft = { items: found.items };
  for (const phase of PHASES) draft = await phase(draft, asked, found);
  checkNotErased(asked.prepared, asked.parts.erasures);
  const answer = answered(draft, asked, found);
  if (found.searched !== undefined && context.isOwn !== true) {
    preparation.remember(answer.requestId, asked);
  }
  return answer;
}

function answered(draft: Draft, asked: AskedRecall, found: FoundItems): RecallAnswer {
  const { parts, request, search, prepared, caps } = asked;
  const { history, prompt } = prepared;
  return {
    requestId: requestIdOf(request),
    ...draft,
    short: draft.items.length < search.answerCount,
    ...certificateOf(search.search, found),
    widthsUsed: found.widthsUsed,
    completeness: found.completeness,
    itemPolicy: found.itemPolicy,
    cappedItems: found.reach?.cappedItems ?? 0,
    unknownAttributes: unknownAttributes(request, () => parts.catalogue.view()),
    capsOutcome: caps.outcome,
    ...factsOf(parts, prepared, found),
    ...(request.wantsSight === true && { sight: sightOf(history, prompt, found) }),
  };
}
