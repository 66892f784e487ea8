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
import { bytesOf, normalise } from "../../../../libs/service/embedding/src/index.js";
import { TesseraError } from "../../../../libs/ops/errors/src/index.js";
import { HttpCalls } from "../../../../libs/edge/hosting/src/index.js";
import { EmbeddingEdge } from "../embedding-edge.js";
import { renamed } from "../wire/body-fields.js";
import { EMBED, EMBEDDINGS, parseEmbed, parseEmbeddings, promptKeyOf } from "./embedding-body.js";
export class EmbeddingHttpController {
    edge;
    calls;
    constructor(edge, calls){
        this.edge = edge;
        this.calls = calls;
    }
    async embeddings(body, reply) {
        const { encoding, answer } = await this.ask(body, EMBEDDINGS, parseEmbeddings, reply);
        const { model, vectors, tokens, failures } = answer;
        const written = (vector)=>encoding === 'base64' ? bytesOf([
                vector
            ], 'f32').toString('base64') : [
                ...vector
            ];
        return {
            object: 'list',
            data: vectors.flatMap((vector, index)=>vector === undefined ? [] : [
                    {
                        object: 'embedding',
                        index,
                        embedding: written(vector)
                    }
                ]),
            model,
            usage: {
                prompt_tokens: tokens,
                total_tokens: tokens
            },
            ...failures.length > 0 && {
                failures: failures.map(failureOf(EMBEDDINGS.textsAt))
            }
        };
    }
    /** huggingface_hub's clients ask at the root. */ async embed(body, reply) {
        const { isNormalised, answer } = await this.ask(body, EMBED, parseEmbed, reply);
        return answer.vectors.map((vector)=>{
            if (vector === undefined) return null;
            return [
                ...isNormalised ? normalise(vector) : vector
            ];
        });
    }
    /** The edge parses, so that refusals are counted; they name the fields of the caller's body. */ async ask(body, places, parse, reply) {
        let asked;
        const parsed = ()=>{
            asked = parse(body);
            return asked;
        };
        try {
            const answer = await this.calls.serve(reply, (call)=>this.edge.embedEach(parsed, call));
            return Object.assign({}, asked, {
                answer
            });
        } catch (thrown) {
            const error = renamed(TesseraError.from(thrown), 'texts', places.textsAt);
            throw renamed(error, 'promptName', promptKeyOf(body, places));
        }
    }
}
_ts_decorate([
    Post('v1/embeddings'),
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
], EmbeddingHttpController.prototype, "embeddings", null);
_ts_decorate([
    Post([
        'embed',
        ''
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
], EmbeddingHttpController.prototype, "embed", null);
EmbeddingHttpController = _ts_decorate([
    Controller(),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof EmbeddingEdge === "undefined" ? Object : EmbeddingEdge,
        typeof HttpCalls === "undefined" ? Object : HttpCalls
    ])
], EmbeddingHttpController);
/** Of one text that has no vector, where the caller wanted those of the others. */ function failureOf(textsAt) {
    return ({ index, error })=>{
        const { code, message } = renamed(error, 'texts', textsAt);
        return {
            index,
            code,
            message
        };
    };
}

//# sourceMappingURL=embedding.controller.js.map