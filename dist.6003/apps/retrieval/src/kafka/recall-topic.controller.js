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
import { Controller, Inject, UseFilters } from "@nestjs/common";
import { EventPattern } from "@nestjs/microservices";
import { Call } from "../../../../libs/edge/call/src/index.js";
import { answeredBytes, checkedRequest, RecallRequests, RecordProducer, TopicErrorFilter } from "../../../../libs/ops/kafka/src/index.js";
import { carrierOf } from "../../../../libs/ops/telemetry/src/index.js";
import { RecallEdge } from "../recall-edge.js";
import { parseWireRecall, toWireResponse } from "../wire/recall.mapper.js";
export const RECALL_REQUESTS_PATTERN = 'recall.requests';
/** Records name no caller; who may write to the topic is the broker's to say. */ const TOPIC_CALLER = {
    name: 'topic'
};
/** Settings of the topic controller. DI token. */ export class RecallTopicSettings {
    responsesTopic;
    limits;
    nowMs;
    constructor(responsesTopic, limits, /** Milliseconds since 1970. */ nowMs){
        this.responsesTopic = responsesTopic;
        this.limits = limits;
        this.nowMs = nowMs;
    }
}
export class RecallTopicController {
    edge;
    settings;
    requests;
    constructor(edge, producer, settings){
        this.edge = edge;
        this.settings = settings;
        const { responsesTopic, limits } = settings;
        const { defaultDeadlineMs } = limits;
        const answer = (recall)=>this.recall(recall);
        this.requests = new RecallRequests({
            producer,
            responsesTopic,
            defaultDeadlineMs,
            answer
        });
    }
    /** Resolves when every record of the batch has its response, its refusal or its grave. */ serve(batch) {
        return this.requests.serve(batch);
    }
    async recall(recall) {
        const { record, untilMs, requestId } = recall;
        const field = (name)=>record.headers[name]?.toString();
        const call = new Call({
            edge: 'kafka',
            caller: TOPIC_CALLER,
            // A request that was taken is answered; no caller waits that could go away.
            signal: new AbortController().signal,
            transportMs: untilMs - this.settings.nowMs(),
            limits: this.settings.limits,
            trace: carrierOf(field),
            field
        });
        const answer = await this.edge.recall(()=>{
            const request = checkedRequest(recall);
            const own = request.requestId === '' ? requestId : request.requestId;
            return parseWireRecall({
                ...request,
                requestId: own
            });
        }, call);
        return answeredBytes({
            response: toWireResponse(answer)
        });
    }
}
_ts_decorate([
    EventPattern(RECALL_REQUESTS_PATTERN),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof RecordBatch === "undefined" ? Object : RecordBatch
    ]),
    _ts_metadata("design:returntype", typeof Promise === "undefined" ? Object : Promise)
], RecallTopicController.prototype, "serve", null);
RecallTopicController = _ts_decorate([
    Controller(),
    UseFilters(TopicErrorFilter),
    _ts_param(1, Inject(RecordProducer)),
    _ts_param(2, Inject(RecallTopicSettings)),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof RecallEdge === "undefined" ? Object : RecallEdge,
        typeof RecordProducer === "undefined" ? Object : RecordProducer,
        typeof RecallTopicSettings === "undefined" ? Object : RecallTopicSettings
    ])
], RecallTopicController);

//# sourceMappingURL=recall-topic.controller.js.map