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
import { Controller, Get } from "@nestjs/common";
import { serviceVersion } from "../../../../libs/ops/lifecycle/src/index.js";
/** By which name clients ask for the model that scores texts; any name will do. */ const RELEVANCE_ID = 'relevance';
/** The models of texts that this process serves, under the names that clients ask by. */ export class ServedModels {
    parts;
    constructor(parts){
        this.parts = parts;
    }
    get embedding() {
        return this.parts.embedding;
    }
    get scorer() {
        const { relevance } = this.parts;
        return relevance && {
            id: RELEVANCE_ID,
            digest: relevance.profile().model
        };
    }
    get all() {
        const encoders = this.embedding.facts.map(({ name: id, digest })=>({
                id,
                digest
            }));
        return this.scorer === undefined ? encoders : [
            ...encoders,
            this.scorer
        ];
    }
}
export class ModelsHttpController {
    models;
    constructor(models){
        this.models = models;
    }
    /** As OpenAI and vLLM list models. */ list() {
        const data = this.models.all.map(({ id, digest })=>({
                id,
                object: 'model',
                created: 0,
                owned_by: 'tessera',
                digest
            }));
        return {
            object: 'list',
            data
        };
    }
    /** As text-embeddings-inference describes its one model: the first that makes vectors here. */ info() {
        const { embedding, scorer } = this.models;
        const [first] = embedding.facts;
        const served = first === undefined ? scorer : {
            id: first.name,
            digest: first.digest
        };
        return {
            model_id: served?.id ?? '',
            model_sha: served?.digest ?? '',
            model_dtype: first === undefined ? '' : embedding.computeType,
            model_type: first === undefined ? {
                reranker: {}
            } : {
                embedding: {}
            },
            max_client_batch_size: embedding.limits.requestTextsMax,
            auto_truncate: true,
            version: serviceVersion()
        };
    }
}
_ts_decorate([
    Get('v1/models'),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", []),
    _ts_metadata("design:returntype", Object)
], ModelsHttpController.prototype, "list", null);
_ts_decorate([
    Get('info'),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", []),
    _ts_metadata("design:returntype", Object)
], ModelsHttpController.prototype, "info", null);
ModelsHttpController = _ts_decorate([
    Controller(),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof ServedModels === "undefined" ? Object : ServedModels
    ])
], ModelsHttpController);

//# sourceMappingURL=models.controller.js.map