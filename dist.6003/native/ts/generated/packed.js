// Generated from native/abi by tools/generate.mjs. Do not edit.
import { COMPLETENESS, PROPENSITIES, VERDICTS } from "./types.js";
const CLAUSE_KINDS_CODES = {
    'all': 0,
    'any': 1,
    'not': 2,
    'in': 3,
    'contains': 4,
    'range': 5
};
const CHANGE_OPS_CODES = {
    'upsert': 0,
    'pause': 1,
    'resume': 2,
    'remove': 3,
    'set_attributes': 4,
    'set_priority': 5,
    'patch_attributes': 6,
    'set_pace': 7
};
const DECLARED_TYPES_CODES = {
    'text': 0,
    'set': 1,
    'number': 2,
    'untyped': 3
};
const TERM_FUNCTIONS_CODES = {
    'identity': 0,
    'log': 1,
    'log1p': 2,
    'clamp': 3
};
const STORE_DIRECTIONS_CODES = {
    'ascending': 0,
    'descending': 1
};
const STORE_DURABILITIES_CODES = {
    'process': 0,
    'machine': 1
};
const REQUEST_KINDS_CODES = {
    'recall': 0,
    'score': 1,
    'append': 2,
    'relevance': 3,
    'rank': 4
};
const PRIORITIES_CODES = {
    'high': 0,
    'normal': 1,
    'low': 2
};
const SCORE_NORMS_CODES = {
    'full': 0,
    'level': 1,
    'allowed': 2
};
export function writeClause(to, from) {
    to.u32(CLAUSE_KINDS_CODES[from.kind]);
    to.text(from.attribute);
    to.texts(from.values);
    to.f64(from.min);
    to.f64(from.max);
    to.list(from.clauses, writeClause);
}
export function writePatchTexts(to, from) {
    to.text(from.attribute);
    to.texts(from.texts);
}
export function writePatchNumber(to, from) {
    to.text(from.attribute);
    to.f64(from.delta);
}
export function writeAttributePatch(to, from) {
    to.text(from.set);
    to.texts(from.unset);
    to.list(from.add, writePatchTexts);
    to.list(from.take, writePatchTexts);
    to.list(from.delta, writePatchNumber);
}
export function writeItemChange(to, from) {
    to.u32(CHANGE_OPS_CODES[from.op]);
    to.text(from.itemId);
    to.u32s(from.sid);
    to.text(from.title);
    to.text(from.attributes);
    to.f64(from.priority);
    to.flag(from.predicate !== undefined);
    if (from.predicate !== undefined) writeClause(to, from.predicate);
    writeAttributePatch(to, from.patch);
    to.f32s(from.vector);
}
export function writeChangeMessage(to, from) {
    to.list(from.changes, writeItemChange);
}
export function writeAttributeDeclaration(to, from) {
    to.text(from.name);
    to.u32(DECLARED_TYPES_CODES[from.type]);
    to.texts(from.values);
}
export function writeAttributeDeclarations(to, from) {
    to.list(from.attributes, writeAttributeDeclaration);
}
export function writeCodebookLayer(to, from) {
    to.f32s(from.weights);
    to.f32s(from.bias);
}
export function writeCodebookLevel(to, from) {
    to.f32s(from.values);
}
export function writeGivenCodebooks(to, from) {
    to.u32(from.dimension);
    to.u32(from.capacity);
    to.list(from.encoder, writeCodebookLayer);
    to.list(from.levels, writeCodebookLevel);
}
export function writeCountedCap(to, from) {
    to.text(from.path);
    to.text(from.attribute);
    to.u32(from.maxBehaviours);
    to.texts(from.itemIds);
    to.u32s(from.behaviours);
}
export function writeEligibility(to, from) {
    to.flag(from.predicate !== undefined);
    if (from.predicate !== undefined) writeClause(to, from.predicate);
    to.flag(from.allowed !== undefined);
    if (from.allowed !== undefined) to.texts(from.allowed);
    to.texts(from.denied);
    to.texts(from.seen);
    to.list(from.caps, writeCountedCap);
}
export function writeDiversityCap(to, from) {
    to.text(from.attribute);
    to.u32(from.maxItems);
}
export function writeItemPolicy(to, from) {
    to.text(from.orderBy);
    to.list(from.diversity, writeDiversityCap);
}
export function writeTermWeight(to, from) {
    to.text(from.term);
    to.f64(from.weight);
}
export function writeValuationUse(to, from) {
    to.text(from.name);
    to.f64(from.scoreWeight);
    to.f64(from.floor);
    to.list(from.weights, writeTermWeight);
}
export function writeReachRequest(to, from) {
    writeEligibility(to, from.eligibility);
    writeItemPolicy(to, from.itemPolicy);
    writeValuationUse(to, from.valuation);
}
export function writeTerm(to, from) {
    to.text(from.name);
    to.text(from.attribute);
    to.u32(TERM_FUNCTIONS_CODES[from.function]);
    to.f64(from.weight);
    to.f64(from.min);
    to.f64(from.max);
    to.f64(from.byDefault);
}
export function writeValuation(to, from) {
    to.text(from.name);
    to.f64(from.scoreWeight);
    to.list(from.terms, writeTerm);
    to.f64(from.floor);
    to.text(from.bid);
    to.text(from.pace);
}
export function writeValueRequest(to, from) {
    to.list(from.valuations, writeValuation);
}
export function writeStoreRange(to, from) {
    to.blob(from.from);
    to.blob(from.to);
    to.u32(from.limit);
    to.u32(STORE_DIRECTIONS_CODES[from.direction]);
}
export function writeStoreQuery(to, from) {
    to.blobs(from.keys);
    to.list(from.ranges, writeStoreRange);
}
export function writeStorePut(to, from) {
    to.blob(from.key);
    to.blob(from.value);
}
export function writeStoreBatch(to, from) {
    to.blobs(from.erased);
    to.list(from.put, writeStorePut);
    to.u32(STORE_DURABILITIES_CODES[from.durability]);
}
export function writeRequestHead(to, from) {
    to.u32(from.ticket);
    to.u32(REQUEST_KINDS_CODES[from.kind]);
    to.u32(from.binding);
    to.u32(from.adapter);
    to.f64(from.budgetUs);
}
export function writeRequestWork(to, from) {
    to.u32(PRIORITIES_CODES[from.priority]);
    to.i32s(from.promptTokens);
    to.text(from.userId);
    to.u32(from.prefixTokens);
    to.u32(from.keepTokens);
    to.flag(from.wantsExactKv);
}
export function writeRecallRequest(to, from) {
    to.u32s(from.widths);
    to.u32(from.rowBudget);
    to.u32(from.resultCount);
    to.u32(from.itemsPerSid);
    to.u32(SCORE_NORMS_CODES[from.scoreNorm]);
    to.flag(from.allowsPartial);
    to.u32(from.watchedItem);
    to.texts(from.attributes);
    to.flag(from.wantsTree);
    to.u32(from.exploreSlots);
    to.f64(from.exploreTemperature);
    to.u32(from.exploreSeedLow);
    to.u32(from.exploreSeedHigh);
    to.u32(from.rankSlot);
    to.i32s(from.rankPrefix);
    to.paths(from.rankSuffixes);
}
export function writeScoreRequest(to, from) {
    to.paths(from.sids);
    to.u32(SCORE_NORMS_CODES[from.scoreNorm]);
}
export function writeRelevanceRequest(to, from) {
    to.i32s(from.labelTokens);
    to.u32(from.siblingTokens);
    to.u32(SCORE_NORMS_CODES[from.scoreNorm]);
}
export function writeRankRequest(to, from) {
    to.u32s(from.items);
    to.u32(from.rankSlot);
    to.i32s(from.rankPrefix);
    to.paths(from.rankSuffixes);
}
export function readStoreValue(from) {
    return {
        isThere: from.flag(),
        value: from.blob()
    };
}
export function readStoreEntries(from) {
    return {
        entries: from.entries()
    };
}
export function readStoreFound(from) {
    return {
        values: from.list(readStoreValue),
        ranges: from.list(readStoreEntries)
    };
}
export function readCompletionHead(from) {
    return {
        ticket: from.u32(),
        status: from.u32(),
        kind: from.u32()
    };
}
export function readFailure(from) {
    return {
        message: from.text(),
        retryAfterUs: from.u32()
    };
}
export function readKvTierTokens(from) {
    return {
        tier: from.text(),
        tokens: from.u32()
    };
}
export function readKvFound(from) {
    return {
        deviceTokens: from.u32(),
        hostTokens: from.u32(),
        diskTokens: from.u32(),
        tiers: from.list(readKvTierTokens),
        lossy: from.flag(),
        inheritedTokens: from.u32(),
        versionsBack: from.u32(),
        waitUs: from.u32()
    };
}
export function readEngineTimings(from) {
    return {
        queueUs: from.f32(),
        planUs: from.f32(),
        prefillUs: from.f32(),
        decodeUs: from.f32(),
        projectionsUs: from.f32(),
        attentionUs: from.f32(),
        headUs: from.f32(),
        selectUs: from.f32(),
        forkUs: from.f32(),
        exportUs: from.f32(),
        totalUs: from.f32()
    };
}
export function readAnswerFacts(from) {
    return {
        weightsGeneration: from.u53(),
        catalogueSequence: from.u53(),
        prefixReusedTokens: from.u32(),
        kv: readKvFound(from),
        timings: readEngineTimings(from)
    };
}
export function readAnswerItem(from) {
    return {
        ordinal: from.u32(),
        itemId: from.text(),
        title: from.text(),
        attributes: from.text(),
        score: from.f32(),
        path: from.u32(),
        value: from.f32(),
        pace: from.f32(),
        criticalBid: from.f32(),
        explored: from.flag(),
        propensity: from.f32()
    };
}
export function readAnswerPath(from) {
    return {
        sid: from.codes(),
        score: from.f32()
    };
}
export function readWatchedItem(from) {
    return {
        verdict: from.word(VERDICTS),
        rank: from.u32(),
        step: from.u32(),
        score: from.f32(),
        cutScore: from.f32(),
        attribute: from.text()
    };
}
export function readEnginePass(from) {
    return {
        kind: from.word([
            'prefill',
            'decode'
        ]),
        rows: from.u32(),
        planUs: from.f32(),
        forwardUs: from.f32(),
        projectionsUs: from.f32(),
        attentionUs: from.f32(),
        headUs: from.f32(),
        selectUs: from.f32(),
        forkUs: from.f32()
    };
}
export function readRecallAnswer(from) {
    return {
        items: from.list(readAnswerItem),
        paths: from.list(readAnswerPath),
        itemsPerSid: from.u32(),
        leftOutByDiversity: from.u32(),
        completeness: from.word(COMPLETENESS),
        certified: from.flag(),
        gap: from.f32(),
        rows: from.u32(),
        itemTerms: from.f32s(),
        bestLeftOut: from.f32(),
        propensities: from.word(PROPENSITIES),
        watched: readWatchedItem(from),
        widthsUsed: from.codes(),
        treeCells: from.rows(5),
        treeScores: from.f32s(),
        passes: from.list(readEnginePass),
        heads: from.f32s()
    };
}
export function readScoreAnswer(from) {
    return {
        scores: from.f32s()
    };
}
export function readRelevanceAnswer(from) {
    return {
        logits: from.f32s()
    };
}
export function readRankAnswer(from) {
    return {
        heads: from.f32s()
    };
}

//# sourceMappingURL=packed.js.map