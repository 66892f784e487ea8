import { NO_POLICY } from "../../../../engine/src/index.js";
import { factsOf, NOTHING_COMPUTED, requestIdOf } from "./answer-facts.js";
import { checkRequest } from "./check-request.js";
import { appliedExploration, undrawn } from "./exploration.js";
import { recalledItems } from "./item-scores.js";
import { popularItems } from "./popular-items.js";
import { checkNotErased, countedCaps } from "./preparation.js";
import { answeredItems, headsOf, placedItems } from "./ranked-items.js";
import { Ranker } from "./ranking.js";
import { asksForReach, reachRequestOf, withCaps } from "./reach-request.js";
import { certificateOf, uncertified } from "./recall-types.js";
import { sightOf } from "./sight.js";
import { appliedValuation, termNames } from "./value.js";
/**
 * Items for a user: check -> history -> prompt -> engine -> items. Rejects with TesseraError:
 * REQUEST_INVALID, USER_NOT_FOUND, ITEM_NOT_FOUND, DEADLINE_EXCEEDED, CANCELLED, or what
 * Engine.recall rejects with.
 */ export async function recall(preparation, request, context) {
    const { parts, limits, remembered } = preparation;
    const stopwatch = preparation.begin(context);
    const search = checkRequest(request, limits);
    const { popularity, catalogue } = parts;
    const uncapped = reachRequestOf(request, catalogue);
    const ranker = request.rank && Ranker.of(request.rank, context, catalogue);
    const prepared = await preparation.prepare(request, context, stopwatch, popularity);
    const caps = countedCaps(request, prepared, parts);
    const asked = withCaps(uncapped, caps.caps);
    const isRestricted = asksForReach(request) || caps.caps.length > 0 || catalogue.hasFlights || // The reach that items of a template with slots are asked about once more.
    ranker !== undefined && ranker.item.suffix === undefined;
    if (popularity !== undefined && prepared.history?.fallback === 'popular') {
        return withPopular(parts, popularity, {
            request,
            asked,
            search,
            context,
            prepared,
            caps
        });
    }
    // Compiled off this thread, before the request waits for the engine.
    const reach = context.pinned ?? (isRestricted ? await catalogue.reach(asked) : undefined);
    const work = {
        ...search,
        ...preparation.workOf(prepared),
        reach
    };
    const answer = await parts.engine.recall({
        ...work,
        wantsTree: request.wantsSight,
        ranking: ranker?.item.suffix && ranker.asEngine()
    }, context.signal);
    parts.onPasses?.(answer.passes);
    const budgetUs = context.budgetUs - stopwatch.totalUs();
    const heads = ranker && await headsOf(parts, ranker, answer, {
        ...work,
        budgetUs
    }, context.signal);
    checkNotErased(prepared, parts.erasures);
    const { explore } = search;
    const applied = appliedOf(request, catalogue, answer.bestLeftOut);
    const { valuation } = request;
    const terms = valuation && termNames(valuation, catalogue.valuations);
    const recalled = recalledItems(answer, terms, explore !== undefined);
    const ranked = ranker && heads && await rankedOf(parts, ranker, {
        answer,
        recalled,
        heads,
        search
    });
    const { items = recalled, ranking } = ranked ?? {};
    const requestId = requestIdOf(request);
    const { prompt, skippedItems, trimmedItems } = prepared;
    const { userId } = request;
    const adapter = context.adapter?.digest ?? '';
    if (context.isOwn !== true) {
        const facts = {
            userId,
            adapter,
            prompt,
            skippedItems,
            trimmedItems,
            caps
        };
        remembered.keep(requestId, {
            ...facts,
            seed: explore?.seed
        });
    }
    return {
        requestId,
        items,
        short: items.length < search.answerCount,
        ...certificateOf(search.search, answer),
        widthsUsed: answer.widthsUsed,
        completeness: answer.completeness,
        itemPolicy: {
            ...request.itemPolicy ?? NO_POLICY,
            itemsPerSid: answer.itemsPerSid,
            resultCount: search.answerCount,
            leftOutByDiversity: answer.leftOutByDiversity
        },
        ...ranking && {
            ranking
        },
        ...applied && {
            valuation: applied
        },
        ...explore && {
            exploration: appliedExploration(explore, answer.propensities)
        },
        cappedItems: reach?.cappedItems ?? 0,
        capsOutcome: caps.outcome,
        ...factsOf(parts, prepared, answer),
        ...request.wantsSight === true && {
            sight: sightOf(prepared.history, prompt, answer)
        }
    };
}
async function rankedOf({ catalogue }, ranker, { answer, recalled, heads, search }) {
    const of = {
        heads,
        sequence: answer.catalogueSequence
    };
    const placed = await placedItems(catalogue, ranker, recalled, of);
    return answeredItems(ranker, placed, search.answerCount);
}
function appliedOf({ valuation }, { valuations }, bestLeftOut) {
    return valuation && appliedValuation(valuation, valuations, bestLeftOut);
}
/** An answer that the engine is not asked for, of one version. */ async function withPopular(parts, popularity, { request, asked, search, context, prepared, caps }) {
    const reach = context.pinned ?? await parts.catalogue.reach(asked);
    checkNotErased(prepared, parts.erasures);
    const { items, leftOut } = popularItems(parts.catalogue, popularity, {
        request,
        search
    }, reach);
    const { answerCount: resultCount, itemsPerSid } = search;
    const { diversity } = request.itemPolicy ?? NO_POLICY;
    const facts = factsOf(parts, prepared, {
        ...NOTHING_COMPUTED,
        catalogueSequence: reach.sequence
    });
    const sight = sightOf(prepared.history, prepared.prompt, {
        tree: undefined
    });
    const valuation = appliedOf(request, parts.catalogue, Number.NaN);
    const { explore } = search;
    return {
        requestId: requestIdOf(request),
        items: explore === undefined ? items : undrawn(items),
        short: items.length < resultCount,
        ...uncertified(search.search),
        widthsUsed: [],
        completeness: 'whole',
        itemPolicy: {
            ...NO_POLICY,
            diversity,
            itemsPerSid,
            resultCount,
            leftOutByDiversity: leftOut
        },
        ...valuation && {
            valuation
        },
        ...explore && {
            exploration: appliedExploration(explore, 'popular')
        },
        cappedItems: reach.cappedItems,
        capsOutcome: caps.outcome,
        ...facts,
        ...request.wantsSight === true && {
            sight
        }
    };
}

//# sourceMappingURL=recall.js.map