import { plain, service } from "../../../../libs/edge/call/src/index.js";
import { readEligibility } from "../../../../libs/service/recall/src/index.js";
import { classOf } from "../recall-edge.js";
import { parseWireEmbed, toWireEmbed } from "../wire/embedding.mapper.js";
import { parseWireExplain, questionOf, toWireExplanation } from "../wire/explain.mapper.js";
import { JSON_FORM } from "../wire/json-form.js";
import { parseWireRank, toWireRanking } from "../wire/rank.mapper.js";
import { parseWireRecall, recallOf, toWireResponse } from "../wire/recall.mapper.js";
import { parseWireRelevance, toWireRelevance } from "../wire/relevance.mapper.js";
import { parseWireScore, toWireScores } from "../wire/score.mapper.js";
import { priorityOf } from "../wire/user-source.js";
import { recallBatch } from "./recall-batch.js";
/** Recall, score, rank, explain, relevance and embeddings. */ export function requestHandlers({ admission, recall, relevance, embedding }) {
    return [
        ...service('tessera.recall.v1.RecallService', {
            Recall: async (read, call)=>toWireResponse(await recall.recall(()=>parseWireRecall(read()), call)),
            RecallBatch: (read, call)=>recallBatch(recall, read(), parseWireRecall, call),
            Estimate: plain(({ priority })=>{
                const { waitUs, turnUs } = admission.forecast(classOf({
                    priority: priorityOf(priority)
                }));
                return {
                    waitUs,
                    turnUs,
                    inFlight: admission.inFlight
                };
            })
        }),
        ...service('tessera.score.v1.ScoreService', {
            Score: async (read, call)=>toWireScores(await recall.score(()=>parseWireScore(read()), call))
        }),
        ...service('tessera.ranking.v1.RankingService', {
            Rank: async (read, call)=>toWireRanking(await recall.rank(()=>parseWireRank(read()), call))
        }),
        ...service('tessera.explain.v1.ExplainService', {
            Explain: async (read, call)=>toWireExplanation(await recall.explain(()=>parseWireExplain(read()), call))
        }),
        ...service('tessera.relevance.v1.RelevanceService', {
            Score: async (read, call)=>toWireRelevance(await relevance.score(()=>parseWireRelevance(read()), call))
        }),
        ...service('tessera.embedding.v1.EmbeddingService', {
            Embed: async (read, call)=>{
                // The edge reads the message, so that a refusal of it is counted.
                const parse = ()=>parseWireEmbed(read());
                return toWireEmbed(await embedding.embed(parse, call), read());
            }
        })
    ];
}
/** The recall of a JSON body. @throws TesseraError REQUEST_INVALID with the field */ export function readJsonRecall(body) {
    return jsonRecallOf(JSON_FORM.readRequest('tessera.recall.v1.RecallService.Recall', body));
}
function jsonRecallOf(asked) {
    return recallOf(asked, asked.eligibility && readEligibility(asked.eligibility));
}
/** Those whose JSON has another form of eligibility than the message. */ export function jsonRequestHandlers({ recall }) {
    return [
        ...service('tessera.recall.v1.RecallService', {
            Recall: async (read, call)=>toWireResponse(await recall.recall(()=>jsonRecallOf(read()), call)),
            RecallBatch: (read, call)=>recallBatch(recall, read(), jsonRecallOf, call)
        }),
        ...service('tessera.explain.v1.ExplainService', {
            Explain: async (read, call)=>toWireExplanation(await recall.explain(()=>questionOf(read(), jsonRecallOf), call))
        })
    ];
}

//# sourceMappingURL=requests.js.map