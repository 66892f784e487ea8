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
import { Module } from "@nestjs/common";
import { ChangeAudits } from "../../../libs/edge/access/src/index.js";
import { EdgeAdmission } from "../../../libs/edge/admission/src/index.js";
import { HttpCalls } from "../../../libs/edge/hosting/src/index.js";
import { RecordProducer } from "../../../libs/ops/kafka/src/index.js";
import { RecallOperations } from "../../../libs/service/recall/src/index.js";
import { Log, Metrics } from "../../../libs/ops/telemetry/src/index.js";
import { AdapterEdge } from "./adapter-edge.js";
import { EmbeddingEdge } from "./embedding-edge.js";
import { adapterHandlers } from "./handlers/adapters.js";
import { catalogueHandlers, jsonCatalogueHandlers } from "./handlers/catalogue.js";
import { kvPoolHandlers } from "./handlers/kv-pool.js";
import { jsonRequestHandlers, requestHandlers } from "./handlers/requests.js";
import { weightsHandlers } from "./handlers/weights.js";
import { EmbeddingHttpController } from "./http/embedding.controller.js";
import { ModelsHttpController, ServedModels } from "./http/models.controller.js";
import { RerankHttpController } from "./http/rerank.controller.js";
import { AdapterTopicController, FetchSource } from "./kafka/adapter-topic.controller.js";
import { CatalogueTopicController } from "./kafka/catalogue-topic.controller.js";
import { RecallTopicController, RecallTopicSettings } from "./kafka/recall-topic.controller.js";
import { KvEdge } from "./kv-edge.js";
import { RecallEdge } from "./recall-edge.js";
import { RelevanceEdge } from "./relevance-edge.js";
import { WeightsEdge } from "./weights-edge.js";
import { JSON_FORM } from "./wire/json-form.js";
export class RetrievalModule {
    static register(options, calls) {
        const { topics } = options;
        return {
            module: RetrievalModule,
            controllers: [
                RerankHttpController,
                EmbeddingHttpController,
                ModelsHttpController,
                ...topics === undefined ? [] : [
                    RecallTopicController,
                    CatalogueTopicController
                ],
                ...topics?.fetchSource === undefined ? [] : [
                    AdapterTopicController
                ]
            ],
            providers: [
                {
                    provide: EdgeAdmission,
                    useValue: options.admission
                },
                {
                    provide: RecallEdge,
                    useValue: new RecallEdge(options)
                },
                {
                    provide: RelevanceEdge,
                    useValue: new RelevanceEdge(options)
                },
                {
                    provide: EmbeddingEdge,
                    useValue: new EmbeddingEdge(Object.assign({
                        models: options.embedding
                    }, options))
                },
                {
                    provide: HttpCalls,
                    useValue: calls
                },
                {
                    provide: ServedModels,
                    useValue: new ServedModels(options)
                },
                {
                    provide: KvEdge,
                    useValue: new KvEdge(options)
                },
                {
                    provide: AdapterEdge,
                    useValue: options.adapters
                },
                {
                    provide: WeightsEdge,
                    useValue: options.weights
                },
                {
                    provide: RecallOperations,
                    useValue: options.operations
                },
                {
                    provide: Metrics,
                    useValue: options.metrics
                },
                {
                    provide: ChangeAudits,
                    useValue: options.changes
                },
                {
                    provide: Log,
                    useValue: options.log
                },
                ...topics === undefined ? [] : [
                    {
                        provide: RecordProducer,
                        useValue: topics.producer
                    },
                    {
                        provide: RecallTopicSettings,
                        useValue: topics.settings
                    },
                    {
                        provide: FetchSource,
                        useValue: topics.fetchSource
                    }
                ]
            ]
        };
    }
}
RetrievalModule = _ts_decorate([
    Module({})
], RetrievalModule);
/** The methods of this module, and those whose JSON is read otherwise than the message. */ export function retrievalMethods(app) {
    const requests = {
        admission: app.get(EdgeAdmission),
        recall: app.get(RecallEdge),
        relevance: app.get(RelevanceEdge),
        embedding: app.get(EmbeddingEdge)
    };
    const catalogues = {
        operations: app.get(RecallOperations),
        changes: app.get(ChangeAudits)
    };
    return {
        handlers: new Map([
            ...requestHandlers(requests),
            ...catalogueHandlers(catalogues),
            ...kvPoolHandlers(app.get(KvEdge)),
            ...adapterHandlers(app.get(AdapterEdge)),
            ...weightsHandlers(app.get(WeightsEdge))
        ]),
        json: {
            form: JSON_FORM,
            handlers: new Map([
                ...jsonRequestHandlers(requests),
                ...jsonCatalogueHandlers(catalogues)
            ])
        }
    };
}

//# sourceMappingURL=retrieval.module.js.map