import { readRankAnswer, readRecallAnswer, readRelevanceAnswer, readScoreAnswer } from "../../../native/ts/index.js";
function fateOf({ watched }) {
    return watched.verdict === 'open' ? undefined : watched;
}
function treeOf({ treeCells, treeScores }) {
    return treeScores.length === 0 ? undefined : {
        cells: treeCells,
        scores: treeScores
    };
}
export function readAnswer(from, facts) {
    const answer = readRecallAnswer(from);
    const { watched: _, treeCells: __, treeScores: ___, ...found } = answer;
    return {
        ...found,
        modelDigest: facts.modelDigest,
        catalogueSequence: facts.catalogueSequence,
        fate: fateOf(answer),
        tree: treeOf(answer),
        prefixReusedTokens: facts.prefixReusedTokens,
        kv: facts.kv,
        timings: facts.timings
    };
}
export function readScores(from, facts) {
    const { scores } = readScoreAnswer(from);
    const { modelDigest, catalogueSequence, prefixReusedTokens, kv, timings } = facts;
    return {
        scores: [
            ...scores
        ].map((score)=>Number.isNaN(score) ? undefined : score),
        modelDigest,
        catalogueSequence,
        prefixReusedTokens,
        kv,
        timings
    };
}
export function readRanked(from, facts) {
    const { heads } = readRankAnswer(from);
    const { modelDigest, catalogueSequence, prefixReusedTokens, kv, timings } = facts;
    return {
        heads: heads.slice(),
        modelDigest,
        catalogueSequence,
        prefixReusedTokens,
        kv,
        timings
    };
}
export function readAppended(_, { kv, prefixReusedTokens }) {
    return {
        kv,
        prefixReusedTokens
    };
}
export function readLogits(from, facts) {
    const { logits } = readRelevanceAnswer(from);
    const { modelDigest, prefixReusedTokens, kv } = facts;
    const foundTokens = kv.deviceTokens + kv.hostTokens + kv.diskTokens;
    const reusedTokens = prefixReusedTokens + foundTokens;
    return {
        logits: Float32Array.from(logits),
        modelDigest,
        reusedTokens
    };
}

//# sourceMappingURL=read-completions.js.map