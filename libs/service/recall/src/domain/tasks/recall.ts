import { factsOf } from '../answer/answer-facts.js';
import { certificateOf, type RecallAnswer } from '../answer/answer-types.js';
import { sightOf } from '../answer/sight.js';
import type { Preparation, ScopedContext } from '../context/preparation.js';
import { checkNotErased } from '../context/prepared.js';
import { placed, priced } from '../phases/answer-phases.js';
import { askedRecall } from '../phases/asked-recall.js';
import type { AskedRecall, Draft, FoundItems, Phase } from '../phases/phase.js';
import { popularItems } from '../phases/popular-items.js';
import { ranked } from '../phases/ranked-items.js';
import { searchedItems } from '../phases/searched-items.js';
import type { RecallRequest } from '../request/request-types.js';
import { unknownAttributes } from '../request/unknown-attributes.js';

/** Phases from the found items to the answer, in their order. */
const PHASES: readonly Phase[] = [ranked, placed, priced];

/**
 * Items for a user: asked -> prepared -> found -> ranked -> placed -> priced -> answered. Rejects
 * with TesseraError: REQUEST_INVALID, USER_NOT_FOUND, ITEM_NOT_FOUND, DEADLINE_EXCEEDED,
 * CANCELLED, or what Engine.recall rejects with.
 */
export async function recall(
  preparation: Preparation,
  request: RecallRequest,
  context: ScopedContext,
): Promise<RecallAnswer> {
  const { popularity } = preparation.parts;
  const asked = await askedRecall(preparation, request, context, { popularity });
  const found = (await popularItems(asked)) ?? (await searchedItems(asked));
  let draft: Draft = { items: found.items, exploration: found.exploration };
  for (const phase of PHASES) draft = await phase(draft, asked, found);
  checkNotErased(asked.prepared, asked.parts.erasures);
  const answer = answered(draft, asked, found);
  if (found.searched !== undefined && context.isOwn !== true) {
    preparation.remember(asked);
  }
  return answer;
}

function answered(draft: Draft, asked: AskedRecall, found: FoundItems): RecallAnswer {
  const { parts, request, search, prepared, caps } = asked;
  const { history, prompt } = prepared;
  return {
    ...draft,
    short: draft.items.length < search.answerCount,
    ...certificateOf(search.search, found),
    widthsUsed: found.widthsUsed,
    completeness: found.completeness,
    itemPolicy: found.itemPolicy,
    cappedItems: found.reach?.cappedItems ?? 0,
    unknownAttributes: [
      ...unknownAttributes(request, () => parts.catalogue.view()),
      ...caps.unseenActions,
    ],
    capsOutcome: caps.outcome,
    ...factsOf(parts, prepared, found),
    ...(request.wantsSight === true && { sight: sightOf(history, prompt, found) }),
  };
}
