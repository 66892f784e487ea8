function _ts_decorate(decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") {
        r = Reflect.decorate(decorators, target, key, desc);
    } else {
        for(var i = decorators.length - 1; i >= 0; i--){
            if (d = decorators[i]) {
                r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
            }
        }
    }
    return c > 3 && r && Object.defineProperty(target, key, r), r;
}
function _ts_metadata(metadataKey, metadataValue) {
    if (typeof Reflect === "object" && typeof Reflect.metadata === "function") {
        return Reflect.metadata(metadataKey, metadataValue);
    }
}
function _ts_param(paramIndex, decorator) {
    return function(target, key) {
        decorator(target, key, paramIndex);
    };
}
import { Body, Controller, HttpCode, Post, Res } from "@nestjs/common";
import { TesseraError } from "../../../../libs/ops/errors/src/index.js";
import { HttpCalls } from "../../../../libs/edge/hosting/src/index.js";
import { RelevanceEdge } from "../relevance-edge.js";
import { renamed } from "../wire/body-fields.js";
import { isRerankBody, parseRerank, parseTeiRerank, rerankAnswer, teiAnswer } from "../wire/rerank.js";
export class RerankHttpController {
    edge;
    calls;
    constructor(edge, calls){
        this.edge = edge;
        this.calls = calls;
    }
    /** Cohere and Jina. */ async rerank(body, reply) {
        const asked = parsedOnce(()=>parseRerank(body));
        return rerankAnswer(await this.score(asked, reply), asked());
    }
    /** Text Embeddings Inference; with documents in place of texts, as the routes above. */ async teiRerank(body, reply) {
        if (isRerankBody(body)) return this.rerank(body, reply);
        const asked = parsedOnce(()=>parseTeiRerank(body));
        const answer = await this.score(asked, reply).catch((thrown)=>{
            throw renamed(TesseraError.from(thrown), 'documents', 'texts');
        });
        return teiAnswer(answer, asked());
    }
    score(asked, reply) {
        return this.calls.serve(reply, (call)=>this.edge.score(asked, call));
    }
}
_ts_decorate([
    Post([
        'v1/rerank',
        'v2/rerank'
    ]),
    HttpCode(200),
    _ts_param(0, Body()),
    _ts_param(1, Res({
        passthrough: true
    })),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        Object,
        typeof FastifyReply === "undefined" ? Object : FastifyReply
    ]),
    _ts_metadata("design:returntype", Promise)
], RerankHttpController.prototype, "rerank", null);
_ts_decorate([
    Post('rerank'),
    HttpCode(200),
    _ts_param(0, Body()),
    _ts_param(1, Res({
        passthrough: true
    })),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        Object,
        typeof FastifyReply === "undefined" ? Object : FastifyReply
    ]),
    _ts_metadata("design:returntype", Promise)
], RerankHttpController.prototype, "teiRerank", null);
RerankHttpController = _ts_decorate([
    Controller(),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof RelevanceEdge === "undefined" ? Object : RelevanceEdge,
        typeof HttpCalls === "undefined" ? Object : HttpCalls
    ])
], RerankHttpController);
/** The edge parses, so that refusals are counted; the answer needs what was parsed. */ function parsedOnce(parse) {
    let parsed;
    return ()=>{
        parsed ??= parse();
        return parsed;
    };
}

//# sourceMappingURL=rerank.controller.js.map