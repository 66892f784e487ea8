import { type Catalogue, type EngineScores, NO_ITEM, type Reach } from '@tessera/engine';
import { factsOf, NOTHING_COMPUTED } from '../answer/answer-facts.js';
import type { ItemScore, ScoreAnswer } from '../answer/answer-types.js';
import type { Preparation, ScopedContext } from '../context/preparation.js';
import { workOf } from '../context/prepared.js';
import { AppraisedItems } from '../phases/appraised-items.js';
import { checkScoreRequest } from '../request/check-items.js';
import { reachRequestOf } from '../request/reach-request.js';
import type { ScoreRequest, ScoreTarget } from '../request/request-types.js';

/** The scores that `recall` would give items, were they recalled. Rejects as `recall` does. */
export async function score(
  preparation: Preparation,
  request: ScoreRequest,
  context: ScopedContext,
): Promise<ScoreAnswer> {
  const { parts, limits } = preparation;
  const { catalogue, engine } = parts;
  const stopwatch = preparation.begin(context);
  const ranking = checkScoreRequest(request, limits);
  const sids = sidsOf(catalogue, request.items);
  const reach = await reachOf(catalogue, request);
  const appraised = reach && request.valuation && appraisedItems(catalogue, reach, request);
  const prepared = await preparation.prepare(request, context, stopwatch);
  const known = sids.filter((sid) => sid.length > 0);
  const scored =
    known.length === 0
      ? { ...NOTHING_COMPUTED, scores: [], catalogueSequence: catalogue.state().sequence }
      : await engine.score(
          { ...ranking, ...workOf(parts, prepared), reach, sids: known },
          context.signal,
        );
  return {
    items: scoresOf(request.items, sids, scored, appraised),
    ...factsOf(parts, prepared, scored),
  };
}

/** Items in their flight, as recalls reach them; undefined: all live items, by score. */
async function reachOf(
  catalogue: Catalogue,
  { valuation }: ScoreRequest,
): Promise<Reach | undefined> {
  if (valuation === undefined && !catalogue.hasFlights) return undefined;
  return catalogue.reach(reachRequestOf(valuation === undefined ? {} : { valuation }, catalogue));
}

function appraisedItems(
  catalogue: Catalogue,
  reach: Reach,
  { items }: ScoreRequest,
): AppraisedItems {
  const itemIds = items.flatMap((target) => ('itemId' in target ? [target.itemId] : []));
  return new AppraisedItems(catalogue.appraise(reach, itemIds), itemIds);
}

/** The SID of each target; empty where the catalogue does not know the item. */
function sidsOf(
  catalogue: Catalogue,
  targets: readonly ScoreTarget[],
): readonly (readonly number[])[] {
  const itemIds = targets.flatMap((target) => ('itemId' in target ? [target.itemId] : []));
  const view = catalogue.view();
  const ordinals = view.find(itemIds);
  const known = view.sids(ordinals.filter((ordinal) => ordinal !== NO_ITEM));
  const ofItems = Array.from(ordinals, (ordinal) =>
    ordinal === NO_ITEM ? [] : (known.shift() ?? []),
  );
  return targets.map((target) => ('sid' in target ? target.sid : (ofItems.shift() ?? [])));
}

/**
 * Scores come for the known SIDs alone, in the order of the targets.
 * @param appraised undefined where the request has no valuation
 */
function scoresOf(
  targets: readonly ScoreTarget[],
  sids: readonly (readonly number[])[],
  { scores }: Pick<EngineScores, 'scores'>,
  appraised: AppraisedItems | undefined,
): ItemScore[] {
  const left = [...scores];
  return targets.map((target, index) => {
    const itemId = 'itemId' in target ? target.itemId : '';
    const sid = sids[index] ?? [];
    const score = sid.length === 0 ? undefined : left.shift();
    if (score === undefined) return { itemId, sid, outcome: 'unknown' as const };
    const value = appraised?.valueOf(itemId, score);
    return { itemId, sid, outcome: 'scored' as const, score, ...(value && { value }) };
  });
}
