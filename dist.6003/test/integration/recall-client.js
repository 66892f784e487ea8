import { ServiceClient } from "../../libs/edge/client/src/index.js";
const OPTIONS = {
    enums: 'names',
    // With less the first calls go another way through the service.
    channel: {
        'grpc-node.flow_control_window': 1 << 20
    }
};
/** A client of recalls, scores, rankings and explanations that tells of an error what its trailers say. */ export class RecallClient {
    recaller;
    scorer;
    ranker;
    explainer;
    constructor(address){
        this.recaller = new ServiceClient('tessera.recall.v1.RecallService', address, OPTIONS);
        this.scorer = new ServiceClient('tessera.score.v1.ScoreService', address, OPTIONS);
        this.ranker = new ServiceClient('tessera.ranking.v1.RankingService', address, OPTIONS);
        this.explainer = new ServiceClient('tessera.explain.v1.ExplainService', address, OPTIONS);
    }
    begin(message, options = {}) {
        return called((done)=>this.recaller.begin('Recall', message, options, done));
    }
    score(message, options = {}) {
        return called((done)=>this.scorer.begin('Score', message, options, done)).reply;
    }
    rank(message, options = {}) {
        return called((done)=>this.ranker.begin('Rank', message, options, done)).reply;
    }
    explain(message, options = {}) {
        return called((done)=>this.explainer.begin('Explain', message, options, done)).reply;
    }
    recall(message, options = {}) {
        return this.begin(message, options).reply;
    }
    close() {
        this.recaller.close();
        this.scorer.close();
        this.ranker.close();
        this.explainer.close();
    }
}
function called(call) {
    let begun;
    const reply = new Promise((resolve)=>{
        begun = call((error, answer)=>{
            const trailer = (name)=>error?.metadata.get(name)[0]?.toString();
            resolve({
                status: error?.code ?? 0,
                details: error?.details ?? '',
                code: trailer('tessera-code'),
                field: trailer('tessera-field'),
                answer: answer
            });
        });
    });
    return {
        reply,
        cancel: ()=>begun?.cancel()
    };
}

//# sourceMappingURL=recall-client.js.map